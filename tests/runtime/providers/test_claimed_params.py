"""Each parameter that `WIRES` or a provider claims is in the body that is sent, and no other one is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.agentfile.schema.providers import PROVIDERS, WIRES
from support.bodies import WIRE_OF
from support.engines import bench
from support.scripted_provider import Received, Says, ScriptedProvider

VALUES: Mapping[str, tuple[Any, str]] = {
    "temperature": (0.37, "0.37"),
    "max_tokens": (4321, "4321"),
    "effort": ("high", "high"),
    "thinking_budget": (2345, "2345"),
    "top_p": (0.83, "0.83"),
    "top_k": (17, "17"),
    "seed": (1234567, "1234567"),
    "stop": (["HALT"], "HALT"),
    "num_ctx": (32123, "32123"),
    "response_format": (
        {"type": "json_schema", "schema": {"type": "object", "title": "Weather"}},
        "Weather",
    ),
    "extra": ({"service_tier": "flex-tier"}, "flex-tier"),
}
"""The value of each parameter in an agent file, and what a body has of it."""

MODELS = {
    ("anthropic", "thinking_budget"): "claude-haiku-4-5",
    ("anthropic", "effort"): "claude-opus-5",
    ("google", "thinking_budget"): "gemini-2.5-flash",
}
"""Models that take the parameter as it is; any other parameter goes to any model."""

CASES = [(provider, name) for provider in (*WIRE_OF, "openrouter") for name in VALUES]


def claimed(provider: str) -> frozenset[str]:
    """Return the parameters that a provider's wire and the provider itself have."""
    row = PROVIDERS.get(provider)
    return WIRES[WIRE_OF.get(provider, "openai-chat")].params | (row.params if row else frozenset())


async def asked(
    provider: ScriptedProvider, folder: Path, name: str, params: Mapping[str, Any], model: str
) -> tuple[Received, list[str]]:
    """Return the request of an agent with these parameters, and the warnings of its run."""
    provider.script(model, Says('{"a": 1}'))
    keys = {"name": "solo", "model": f"{name}/{model}", "params": dict(params)}
    environment = {"OPENROUTER_API_KEY": "key", "AXE_OPENROUTER_BASE_URL": provider.url}
    async with bench(provider, folder, {"solo": tomli_w.dumps(keys)}, environment) as work:
        await work.run("solo")
    return provider.requests[-1], work.warnings


def leaves(value: Any) -> Iterator[str]:
    """Yield all texts and numbers of a body, in lower case. Bedrock has a schema as a JSON text."""
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield str(value).lower()


def test_each_parameter_of_agent_files_has_a_value_here() -> None:
    assert VALUES.keys() == set(Params.__struct_fields__)
    assert all(traits.params <= VALUES.keys() for traits in WIRES.values())


@pytest.mark.parametrize(("name", "parameter"), CASES)
async def test_parameter_is_in_the_body_if_and_only_if_it_is_claimed(
    provider: ScriptedProvider, tmp_path: Path, name: str, parameter: str
) -> None:
    value, expected = VALUES[parameter]
    model = MODELS.get((name, parameter), "m-solo")
    request, warnings = await asked(provider, tmp_path, name, {parameter: value}, model)
    is_sent = expected.lower() in leaves(request.body)
    assert is_sent is (parameter in claimed(name))
    assert [f"params.{parameter} is not sent" in each for each in warnings] == [True] * (
        not is_sent
    )
