"""The table of models."""

from __future__ import annotations

from datetime import date

import pytest

from axe_lsp.agentfile.schema.models import (
    _ENDINGS,
    ENDING_SOURCES,
    MODELS,
    READ_ON,
    SOURCES,
    Ending,
    ending_of,
    known_model,
)
from axe_lsp.agentfile.schema.providers import PROVIDERS, parse_model_name


def test_every_row_names_a_model_that_can_be_run_and_says_where_its_figures_are_from() -> None:
    for model in MODELS:
        assert parse_model_name(str(model)).provider in PROVIDERS
        assert SOURCES[model.provider].startswith("https://")
        assert 0 < model.max_output < model.context
        assert 0 < model.cached_price < model.input_price < model.output_price
        assert model.input_price <= model.written_price
        assert model.dearer_above < model.context


def test_no_model_is_listed_twice_or_after_its_end() -> None:
    assert len({str(model) for model in MODELS}) == len(MODELS)
    assert all(model.ends > READ_ON for model in MODELS if model.ends)


@pytest.mark.parametrize(
    ("name", "day", "successor"),
    [
        ("openai/gpt-5-mini", "2026-12-11", "openai/gpt-6.1-terra"),
        ("openai/gpt-5-mini-2025-08-07", "2026-12-11", "openai/gpt-6.1-terra"),
        ("openai/gpt-4o-2024-05-13", "2026-10-23", "openai/gpt-5.6-sol"),
        ("openai/gpt-4o-2024-11-20", "2027-01-14", "openai/gpt-6-luna"),
        ("openai/gpt-5.4-nano", "2027-04-01", ""),
        ("anthropic/claude-sonnet-4-20250514", "2026-06-15", "anthropic/claude-sonnet-4-6"),
        ("google/gemini-2.5-pro", "2026-12-01", "google/gemini-3.8-flash"),
    ],
)
def test_the_end_of_a_model_is_known_also_by_a_name_with_a_date(
    name: str, day: str, successor: str
) -> None:
    assert ending_of(name) == Ending(day, successor)


def test_a_model_of_another_provider_has_no_end() -> None:
    assert ending_of("azure/gpt-5") is None
    assert ending_of("openai/gpt-5-2025-8-7") is None


def test_no_model_that_ends_stands_in_place_of_another_one() -> None:
    rows = [row.split() for rows in _ENDINGS.values() for row in rows.strip().splitlines()]
    names = [
        f"{provider}/{row.split()[1]}"
        for provider, rows in _ENDINGS.items()
        for row in rows.strip().splitlines()
    ]
    assert all(date.fromisoformat(day) for day, *_ in rows)
    assert [name for name in names if ending_of(name)] == []
    assert ENDING_SOURCES.keys() == _ENDINGS.keys()


def test_model_is_found_by_its_name_in_agent_files() -> None:
    model = known_model(str(MODELS[0]))
    assert model is MODELS[0]
    assert known_model(MODELS[0].name) is None
