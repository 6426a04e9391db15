"""Token counts and costs by the names of different services."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import BudgetError
from axe_lsp.runtime.providers.stated_usage import TokenCounts, stated_cost, token_counts
from support.bodies import FORMATS
from support.engines import agent, bench
from support.scripted_provider import Call, Says, ScriptedProvider


@pytest.mark.parametrize(
    "cached",
    [
        {"prompt_tokens_details": {"cached_tokens": 60}},  # OpenAI
        {"prompt_token_details": {"cached_tokens": 60}},  # Mistral, before
        {"num_cached_tokens": 60},  # Mistral
        {"prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40},  # DeepSeek
        {"cached_tokens": 60},  # Moonshot
        {"cache_read_input_tokens": 60, "prompt_tokens_details": None},  # LiteLLM
        {"cached_tokens": 0, "num_cached_tokens": 60.0},
    ],
)
def test_cached_tokens_are_read_under_the_name_of_each_service(cached: dict[str, Any]) -> None:
    assert token_counts(100, 5, cached) == TokenCounts(100, 5, 60, 0)


@pytest.mark.parametrize(
    "written",
    [
        {"prompt_tokens_details": {"cache_write_tokens": 30}},
        {"cache_creation_input_tokens": 30},
        {"prompt_tokens_details": {"cache_creation_tokens": 30}},
    ],
)
def test_tokens_written_to_the_cache_are_read_under_each_name(written: dict[str, Any]) -> None:
    assert token_counts(100, 5, written) == TokenCounts(100, 5, 0, 30)


@pytest.mark.parametrize(
    ("usage", "output"),
    [
        ({"total_tokens": 230}, 130),  # xAI, Google's OpenAI endpoint
        ({"total_tokens": 105}, 5),
        ({"total_tokens": 3}, 5),  # which no service means
        ({}, 5),
    ],
)
def test_output_is_what_the_total_has_beyond_the_prompt(usage: dict[str, Any], output: int) -> None:
    assert token_counts(100, 5, usage).output == output


def test_cached_tokens_that_the_prompt_leaves_out_are_a_part_of_the_input() -> None:
    usage = {"cache_read_input_tokens": 1000, "total_tokens": 1015}
    assert token_counts(10, 5, usage) == TokenCounts(1010, 5, 1000, 0)


@pytest.mark.parametrize(
    "odd",
    [
        {"cached_tokens": "many"},
        {"num_cached_tokens": -1},
        {"total_tokens": True},
        {"total_tokens": 10**400},
    ],
)
def test_fields_of_other_types_count_nothing(odd: dict[str, Any]) -> None:
    assert token_counts(100, 5, odd) == TokenCounts(100, 5, 0, 0)


STATED = [
    pytest.param({"cost": 0.25}, 0.25, id="OpenRouter"),
    pytest.param({"cost_in_usd_ticks": 731_000}, 0.0000731, id="xAI"),
    pytest.param({"cost": {"usd": 0.25, "hypercredits": 5}}, 0.25, id="Hyper"),
    pytest.param({"cost": {"request_cost": 0.2, "total_cost": 0.25}}, 0.25, id="Perplexity"),
    pytest.param({"estimated_cost": 0.25}, 0.25, id="DeepInfra"),
    pytest.param(
        {"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.24}},
        0.25,
        id="OpenRouter with a key of the service behind it",
    ),
    pytest.param(
        {"cost": 0.25, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.2}},
        0.25,
        id="OpenRouter's costs in detail",
    ),
    pytest.param({"cost": 0}, 0.0, id="free"),
    pytest.param({"cost": "0.25"}, None, id="a text"),
    pytest.param({"cost": -1}, None, id="less than nothing"),
    pytest.param({"cost": 10**400}, None, id="more than a float holds"),
    pytest.param({"cost": {"credits": 3}}, None, id="another currency"),
    pytest.param({}, None, id="none"),
]


@pytest.mark.parametrize(("usage", "cost"), STATED)
def test_cost_is_read_as_each_service_states_it(usage: dict[str, Any], cost: float | None) -> None:
    assert stated_cost(usage) == cost


@pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic"])
def test_stated_cost_is_that_of_the_answer(dialect: str) -> None:
    body = {
        "choices": [{"message": {"content": "hm"}}],
        "output": [],
        "content": [],
        "usage": {"cost_in_usd_ticks": 25_000_000},
    }
    assert FORMATS[dialect].decode(body).cost == 0.0025


async def test_stated_cost_counts_for_the_budget_of_a_model_without_known_prices(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost_in_usd_ticks": 20_000_000_000}
    look = Says(calls=[Call("list_directory", {"path": "."})], extra={"usage": usage})
    provider.script("m-solo", look, Says("done"))
    solo = agent("solo", tools=["list_directory"], budget={"max_cost": 1.5})
    async with bench(provider, tmp_path, solo) as work:
        with pytest.raises(BudgetError, match="budget exceeded"):
            await work.run("solo")
    assert work.warnings == []
    assert len(provider.requests) == 1
