"""Prompt caching: what Anthropic is told to cache, and what providers say came from a cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.schema.providers import PROVIDERS, Provider
from axe_lsp.runtime.events import AgentEnd, TurnEnd
from axe_lsp.runtime.messages import Message, Request, Tool, ToolCall, ToolResult
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wires import anthropic
from support.answers import Call, Dialect
from support.bodies import FORMATS, encode
from support.engines import agent, bench
from support.scripted_provider import Answer, Refuses, Says, ScriptedProvider

MARK = {"cache_control": {"type": "ephemeral"}}
CALL = Message("assistant", tool_calls=(ToolCall("1", "t"),))
RESULTS = Message("tool", tool_results=(ToolResult("1", "a"), ToolResult("2", "b")))
TOOLS = (Tool("t", "first"), Tool("u", "last"))
OWN = Restrictions(current=True)


def marked(value: Any, path: str = "") -> list[str]:
    """Return the places of all marks."""
    if isinstance(value, list):
        return [place for i, item in enumerate(value) for place in marked(item, f"{path}[{i}]")]
    if not isinstance(value, dict):
        return []
    inner = [place for key, item in value.items() for place in marked(item, f"{path}.{key}")]
    return inner + [path] * ("cache_control" in value)


@pytest.mark.req("003-21")
def test_tools_system_prompt_and_the_last_two_turns_are_cached() -> None:
    messages = (Message("user", "ask"), CALL, RESULTS, CALL, RESULTS)
    body = encode(anthropic, Request("m", messages, "s", tools=TOOLS), restrictions=OWN)
    assert marked(body) == [
        ".system[0]",
        ".tools[1]",
        ".messages[2].content[1]",
        ".messages[4].content[1]",
    ]
    assert body["system"] == [{"type": "text", "text": "s", **MARK}]


@pytest.mark.req("003-21")
def test_the_first_request_caches_what_the_second_will_begin_with() -> None:
    body = encode(anthropic, Request("m", (Message("user", "ask"),), tools=TOOLS), restrictions=OWN)
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "ask", **MARK}]}
    ]
    assert marked(body) == [".tools[1]", ".messages[0].content[0]"]


def test_who_has_no_tools_has_no_second_turn() -> None:
    body = encode(anthropic, Request("m", (Message("user", "ask"),), "s"), restrictions=OWN)
    assert marked(body) == [".system[0]"]


@pytest.mark.req("003-21")
async def test_a_stand_in_is_told_in_a_long_run_only(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """The first two requests are to the letter those of axe M7."""
    look = Says(calls=[Call("list_directory", {"path": "."})])
    provider.script("m-solo", look, look, look, Says("done"))
    agents = agent("solo", "anthropic", system_prompt="s", tools=["list_directory"])
    async with bench(provider, tmp_path, agents) as runtime:
        await runtime.run("solo")
    marks = [marked(each.body) for each in provider.requests]
    assert [len(each) for each in marks] == [0, 0, 4, 4]
    assert marks[3][2:] == [".messages[4].content[0]", ".messages[6].content[0]"]


async def test_anthropic_itself_is_told_from_the_first_request_on(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(PROVIDERS["anthropic"], base_url=provider.url)
    monkeypatch.setitem(cast("dict[str, Provider]", PROVIDERS), "anthropic", own)
    provider.script("m-solo", Says("done"))
    agents = agent("solo", "anthropic", system_prompt="s", tools=["list_directory"])
    async with bench(provider, tmp_path, agents) as runtime:
        await runtime.run("solo")
    assert len(marked(provider.requests[0].body)) == 3


async def test_a_stand_in_that_refuses_marks_gets_none(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    look = Says(calls=[Call("list_directory", {"path": "."})])
    refusal = Answer(Refuses(400, "Extra inputs: cache_control"), match="cache_control")
    provider.script("m-solo", look, look, refusal, look, Says("done"))
    agents = agent("solo", "anthropic", tools=["list_directory"])
    async with bench(provider, tmp_path, agents) as runtime:
        assert (await runtime.run("solo")).content == "done"
        assert runtime.warnings == []
    assert [bool(marked(each.body)) for each in provider.requests] == [
        False,
        False,
        True,
        False,
        False,
    ]


ANTHROPIC = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 20,
}
OPENAI = {
    "prompt_tokens": 130,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20},
}


@pytest.mark.parametrize(("dialect", "usage"), [("anthropic", ANTHROPIC), ("openai", OPENAI)])
def test_cached_tokens_are_a_part_of_the_prompt(dialect: Dialect, usage: dict[str, Any]) -> None:
    body = {"content": [], "choices": [{"message": {"content": ""}}], "usage": usage}
    response = FORMATS[dialect].decode(body)
    assert response.input_tokens == 130
    assert response.output_tokens == 5
    assert response.cache_read_tokens == 100
    assert response.cache_write_tokens == 20


def test_cached_tokens_are_counted_in_streams() -> None:
    stream = anthropic.stream_decoder()
    start = {"type": "message_start", "message": {"usage": {**ANTHROPIC, "output_tokens": 1}}}
    delta = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}
    for event in (start, delta, {"type": "message_stop"}):
        stream.feed(f"data: {json.dumps(event)}".encode())
        stream.feed(b"")
    response = stream.finish()
    assert (response.input_tokens, response.output_tokens) == (130, 5)
    assert (response.cache_read_tokens, response.cache_write_tokens) == (100, 20)


async def test_cached_tokens_are_in_the_events_and_in_the_result(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    look = Says(calls=[Call("list_directory", {"path": "."})], extra={"usage": OPENAI})
    provider.script("m-solo", look, Says("done", extra={"usage": OPENAI}))
    async with bench(provider, tmp_path, agent("solo", tools=["list_directory"])) as runtime:
        result = await runtime.run("solo")
        turns, (end,) = runtime.of(TurnEnd), runtime.of(AgentEnd)
    assert [(each.cache_read_tokens, each.cache_write_tokens) for each in turns] == [(100, 20)] * 2
    for whole in (result, end):
        assert (whole.cache_read_tokens, whole.cache_write_tokens) == (200, 40)
        assert whole.input_tokens == 260
