"""Agents that are called with an object: through a tool of their own, as plain text, as roots."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import AgentBegin, ToolEnd
from axe_lsp.runtime.runs import RunRequest
from support.answers import DIALECTS
from support.bodies import tools_of
from support.engines import agent, bench
from support.scripted_provider import Answer, Call, Says, ScriptedProvider, calls_agent

INPUT = {
    "required": ["path"],
    "properties": {
        "path": {"type": "string", "description": "What to read."},
        "depth": {"type": "integer", "minimum": 0},
    },
    "additionalProperties": False,
}
READER = agent("reader", description="Reads a folder.", input=INPUT)
TEAM = agent("lead", sub_agents=["reader"]) | READER


def reads(**arguments: Any) -> Call:
    return Call("subagent--reader", arguments)


def user_message(provider: ScriptedProvider, model: str) -> str:
    """Return what an OpenAI model was told."""
    (request,) = provider.asked(model)
    text: str = request.body["messages"][-1]["content"]
    return text


def results(provider: ScriptedProvider, model: str) -> list[str]:
    messages = provider.asked(model)[-1].body["messages"]
    return [each["content"] for each in messages if each["role"] == "tool"]


@pytest.mark.req("002-31", "002-1", "002-7")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_typed_child_has_a_tool_with_its_own_schema(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    agents = agent("lead", dialect, sub_agents=["plain", "reader"], tools=["read_file"])
    provider.script("m-lead", Says("done"))
    async with bench(provider, tmp_path, agents | READER | agent("plain")) as work:
        await work.run("lead")
    tools = tools_of(provider.requests[0].body)
    assert [name for name, *_ in tools] == ["read_file", "call_agent", "subagent--reader"]
    _, description, schema = tools[-1]
    assert schema == {"type": "object", **INPUT}
    assert description == (
        'Delegate to the sub-agent "reader": Reads a folder. The sub-agent runs independently '
        "with its own context and returns only its final result."
    )


@pytest.mark.req("002-10", "002-1", "002-7")
async def test_the_child_is_told_its_input_as_canonical_json(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", Says(calls=[reads(path="sré c", depth=2)]), Says("done"))
    provider.script("m-reader", Says("its result"))
    async with bench(provider, tmp_path, TEAM) as work:
        await work.run("lead")
    message = '{"depth":2,"path":"sré c"}'
    assert user_message(provider, "m-reader") == message
    assert results(provider, "m-lead") == ["its result"]
    child = next(each for each in work.of(AgentBegin) if each.run.depth == 1)
    assert (child.run.agent, child.task, child.parent_agent) == ("reader", message, "lead")
    (end,) = work.of(ToolEnd)
    assert (end.name, end.child_run_id) == ("subagent--reader", child.run.run_id)


@pytest.mark.req("002-10")
async def test_an_input_that_does_not_fit_is_refused_before_the_child_starts(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script(
        "m-lead",
        Says(calls=[reads(depth=1), reads(path="a", depth="one"), reads(path="b")]),
        Says("done"),
    )
    provider.script("m-reader", Says("read"))
    async with bench(provider, tmp_path, TEAM) as work:
        await work.run("lead")
    assert results(provider, "m-lead") == [
        "subagent--reader error: input.path is missing",
        "subagent--reader error: input.depth must be of type integer, not string",
        "read",
    ]
    assert len(provider.asked("m-reader")) == 1
    assert [each.is_error for each in work.of(ToolEnd)].count(True) == 2
    assert len(work.of(AgentBegin)) == 2


async def test_a_failing_typed_child_is_an_error_result_like_any_other(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = agent("lead", sub_agents=["reader"]) | agent("reader", "nobody", input=INPUT)
    provider.script("m-lead", Says(calls=[reads(path="a")]), Says("done"))
    async with bench(provider, tmp_path, agents) as work:
        await work.run("lead")
    (text,) = results(provider, "m-lead")
    assert text.startswith('Error: sub-agent "reader" failed - ')


async def test_at_the_depth_limit_there_is_no_typed_tool(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = agent("root", sub_agents=["lead"], sub_agents_config={"max_depth": 1})
    provider.script("m-root", Says(calls=[calls_agent("lead", "go")]), Says("done"))
    provider.script("m-lead", Says("alone"))
    async with bench(provider, tmp_path, agents | TEAM) as work:
        await work.run("root")
    assert "tools" not in provider.asked("m-lead")[0].body


async def test_children_that_cannot_be_loaded_have_no_tool_and_fail_when_called(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    broken = {"broken": 'name = "broken"\nmodel = "openai/m"\n[input]\ntype = "array"\n'}
    agents = agent("lead", sub_agents=["missing", "broken", "reader", "reader"])
    provider.script("m-lead", Says(calls=[calls_agent("broken", "x")]), Says("done"))
    async with bench(provider, tmp_path, agents | broken | READER) as work:
        await work.run("lead")
    names = [each["function"]["name"] for each in provider.requests[0].body["tools"]]
    assert names == ["call_agent", "subagent--reader"]
    (text,) = results(provider, "m-lead")
    assert 'failed to load agent "broken": input.type must be "object"' in text


@pytest.mark.parametrize("name", ["code.reader", "lecteur-é", "r" * 60])
async def test_names_that_no_provider_takes_are_said_and_left_to_call_agent(
    provider: ScriptedProvider, tmp_path: Path, name: str
) -> None:
    agents = agent("lead", sub_agents=[name]) | agent(name, input=INPUT)
    provider.script("m-lead", Says("done"))
    async with bench(provider, tmp_path, agents) as work:
        await work.run("lead")
    assert [each["function"]["name"] for each in provider.requests[0].body["tools"]] == [
        "call_agent"
    ]
    (warning,) = work.warnings
    assert warning.startswith(f'sub-agent "{name}" gets no tool "subagent--{name}": ')


@pytest.mark.req("002-10")
@pytest.mark.parametrize(
    ("task", "context", "message"),
    [
        ('{"depth": 1, "path": "a"}', "", '{"depth":1,"path":"a"}'),
        ("src/main.py", "", '{"path":"src/main.py"}'),
        ("src", "it is old", '{"path":"src"}\n\nContext:\nit is old'),
        ('{"depth": "1"}', "", '{"path":"{\\"depth\\": \\"1\\"}"}'),
    ],
)
async def test_call_agent_takes_the_task_for_the_input_if_it_can(
    provider: ScriptedProvider, tmp_path: Path, task: str, context: str, message: str
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("reader", task, context)]), Says("done"))
    provider.script("m-reader", Says("read"))
    async with bench(provider, tmp_path, TEAM) as work:
        await work.run("lead")
    assert user_message(provider, "m-reader") == message


async def test_a_task_that_can_be_no_input_stays_a_text(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    number = agent("reader", input={"required": ["n"], "properties": {"n": {"type": "integer"}}})
    provider.script("m-lead", Says(calls=[calls_agent("reader", "three")]), Says("done"))
    provider.script("m-reader", Says("read"))
    async with bench(provider, tmp_path, TEAM | number) as work:
        await work.run("lead")
    assert user_message(provider, "m-reader") == "Task: three"


@pytest.mark.req("002-9", "002-10")
async def test_a_root_run_takes_an_input(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-reader", Says("read"))
    async with bench(provider, tmp_path, READER) as work:
        await work.run("reader", input={"path": "b", "depth": 0})
    assert user_message(provider, "m-reader") == '{"depth":0,"path":"b"}'
    assert work.of(AgentBegin)[0].task == '{"depth":0,"path":"b"}'


@pytest.mark.req("002-9", "002-10")
async def test_a_root_run_with_a_wrong_input_is_not_made(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, READER | agent("plain")) as work:
        with pytest.raises(ConfigError) as error:
            await work.run("reader", input={"path": 5})
        assert str(error.value) == (
            'invalid input for agent "reader": input.path must be of type string, not integer'
        )
        assert error.value.exit_code == 2
        with pytest.raises(ConfigError, match="takes no input object"):
            await work.run("plain", input={})
    assert provider.requests == []


async def test_the_text_of_a_root_run_is_read_like_a_task(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-reader", Answer(Says("read"), repeat=True))
    async with bench(provider, tmp_path, READER) as work:
        await work.run("reader", "src\n")
        await work.run("reader", '{"path":"x"}')
        await work.run("reader")
    told = [request.body["messages"][-1]["content"] for request in provider.requests]
    assert told == [
        '{"path":"src\\n"}',
        '{"path":"x"}',
        "Execute the task described in your instructions.",
    ]


async def test_the_preview_shows_typed_tools_and_the_input(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, TEAM) as work:
        tools = work.engine.preview(RunRequest("lead")).request.tools
        shown = work.engine.preview(RunRequest("reader", input={"path": "a"}))
    assert [tool.name for tool in tools] == ["call_agent", "subagent--reader"]
    assert shown.prompt.user_message == '{"path":"a"}'


async def test_many_typed_children_run_at_once_and_answer_in_order(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    paths = [f"p{number}" for number in range(20)]
    provider.script("m-lead", Says(calls=[reads(path=path) for path in paths]), Says("done"))
    for path in paths:
        provider.script(
            "m-reader", Answer(Says(f"read {path}"), match=json.dumps(path)[1:-1] + "\\")
        )
    async with bench(provider, tmp_path, TEAM) as work:
        await asyncio.wait_for(work.run("lead"), 30)
    assert results(provider, "m-lead") == [f"read {path}" for path in paths]
