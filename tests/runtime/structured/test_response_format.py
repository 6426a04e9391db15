"""The form of answers: what a file says, and what providers are asked for."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.schema.providers import WIRES
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.messages import Message, Request, ResponseFormat
from axe_lsp.runtime.structured.output import response_format
from support.bodies import FORMATS, encode
from support.engines import agent, bench
from support.scripted_provider import Says, ScriptedProvider

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
IN_FILE = {"type": "json_schema", "schema": {"name": "count", **SCHEMA}}
JSON = ResponseFormat("json_object")
COUNT = ResponseFormat("json_schema", SCHEMA, "count")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, None),
        ({}, None),
        ("", None),
        ("json_object", JSON),
        ({"type": "json_object", "schema": SCHEMA}, JSON),
        ("text", ResponseFormat("text")),
        (IN_FILE, COUNT),
        ({"type": "json_schema", "schema": SCHEMA}, ResponseFormat("json_schema", SCHEMA)),
        (
            {"type": "json_schema", "schema": {"name": "", **SCHEMA}},
            ResponseFormat("json_schema", SCHEMA, "response"),
        ),
    ],
)
def test_what_a_file_says(setting: Any, expected: ResponseFormat | None) -> None:
    assert response_format(setting, WIRES["openai-chat"]) == expected


@pytest.mark.parametrize("value", [float("inf"), date(2026, 11, 21)])
def test_a_schema_that_is_no_json_is_a_clear_error(value: object) -> None:
    setting = {"type": "json_schema", "schema": {"maximum": value}}
    with pytest.raises(ConfigError, match="can't be written as JSON"):
        response_format(setting, WIRES["openai-chat"])


@pytest.mark.parametrize(
    ("dialect", "wanted", "sent"),
    [
        ("openai", JSON, {"response_format": {"type": "json_object"}}),
        ("openai", ResponseFormat("text"), {"response_format": {"type": "text"}}),
        (
            "openai",
            COUNT,
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "count", "strict": True, "schema": SCHEMA},
                }
            },
        ),
        ("ollama", JSON, {"format": "json"}),
        ("ollama", ResponseFormat("text"), {}),
        ("ollama", COUNT, {"format": SCHEMA}),
        ("anthropic", JSON, {}),
        ("anthropic", ResponseFormat("text"), {}),
        (
            "anthropic",
            COUNT,
            {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        ),
    ],
)
def test_what_each_provider_is_asked_for(
    dialect: str, wanted: ResponseFormat, sent: dict[str, Any]
) -> None:
    ask = (Message("user", "ask"),)
    plain = encode(FORMATS[dialect], Request("m", ask), stream=False)
    body = encode(FORMATS[dialect], Request("m", ask, response_format=wanted), stream=False)
    assert body == {**plain, **sent}


@pytest.mark.parametrize("setting", ["json_object", IN_FILE])
async def test_a_run_asks_for_what_its_file_says(
    provider: ScriptedProvider, tmp_path: Path, setting: Any
) -> None:
    provider.script("m-solo", Says('{"n": 1}'))
    agents = agent("solo", params={"response_format": setting})
    async with bench(provider, tmp_path, agents) as runtime:
        assert (await runtime.run("solo")).content == '{"n": 1}'
        assert runtime.warnings == []
    kind = setting if isinstance(setting, str) else setting["type"]
    assert provider.requests[0].body["response_format"]["type"] == kind


async def test_what_a_provider_can_not_be_asked_for_is_said(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("hi"))
    agents = agent("solo", "anthropic", params={"response_format": "json_object"})
    async with bench(provider, tmp_path, agents) as runtime:
        await runtime.run("solo")
    assert runtime.warnings == [
        "params.response_format is ignored: the model's API knows no json_object; "
        "give a json_schema, or ask for JSON in the system prompt"
    ]
