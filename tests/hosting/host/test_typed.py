"""Typed agents in processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.engines import agent
from support.hosts import stage
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent


@pytest.mark.req("002-10", "002-13")
async def test_input_and_output_cross_the_border_of_a_process(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = agent("lead", sub_agents=["finder"]) | agent(
        "finder",
        input={"required": ["path"], "properties": {"path": {"type": "string"}}},
        output={"required": ["n"], "properties": {"n": {"type": "integer"}}},
        isolation={"mode": "process"},
    )
    calls = [
        Call("subagent--finder", {"path": "a", "more": [None]}),
        calls_agent("finder", "b", "and more"),
        Call("subagent--finder", {}),
    ]
    provider.script("m-lead", Says(calls=calls), Says("done"))
    provider.script("m-finder", Says('{"n": 3}'), Says("no"), Says('{"n": 4}'))
    async with stage(tmp_path, agents) as on:
        assert (await on.start("lead").result()).content == "done"
    told = {each.body["messages"][0]["content"] for each in provider.asked("m-finder")}
    assert told == {'{"more":[null],"path":"a"}', '{"path":"b"}\n\nContext:\nand more'}
    messages = provider.asked("m-lead")[-1].body["messages"]
    results = [each["content"] for each in messages if each["role"] == "tool"]
    assert sorted(results[:2]) == ['{"n":3}', '{"n":4}']
    assert results[2] == "subagent--finder error: input.path is missing"
