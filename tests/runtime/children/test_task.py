"""The `Task` tool: what it offers, what it refuses, and what a child gets of its caller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.schema.tools import tools_meant
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import AgentBegin, ToolEnd
from axe_lsp.runtime.prepare import prepare_request
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.approval import allowed
from support.answers import DIALECTS
from support.bodies import messages_of, text_of
from support.engines import agent, bench, resolver
from support.scripted_provider import (
    Answer,
    Call,
    Received,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)


def task(prompt: str = "Look.", subagent_type: str = "explore", **arguments: str) -> Call:
    return Call("Task", {"prompt": prompt, "subagent_type": subagent_type, **arguments})


def tools_of(request: Received) -> list[str]:
    """Return the names of the tools in an OpenAI request."""
    return [tool["function"]["name"] for tool in request.body.get("tools", [])]


def system_of(request: Received) -> str:
    """Return the system prompt of an OpenAI request; a request without one has none."""
    first = request.body["messages"][0]
    return first["content"] if first["role"] == "system" else ""


def results(request: Received) -> list[str]:
    """Return the tool results of an OpenAI request."""
    return [each["content"] for each in request.body["messages"] if each["role"] == "tool"]


async def refusal_of(
    provider: ScriptedProvider, folder: Path, call: Call, **keys: Any
) -> tuple[str, bool]:
    """Return what a call comes to that starts nothing."""
    provider.script("m-a", Says(calls=[call]), Says("done"))
    async with bench(provider, folder, agent("a", **{"task": {}, **keys})) as work:
        await work.run("a")
        assert len(work.of(AgentBegin)) == 1
        (end,) = work.of(ToolEnd)
    return end.content, end.is_error


# -- what is offered


@pytest.mark.req("004-6", "004-7", "004-8", "004-9", "003-2", "003-3")
async def test_the_tool_has_a_description_a_prompt_and_the_types(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says("done"))
    inline = {"test": {"description": "Runs tests", "prompt": "Run them."}}
    keys = {"task": {"types": ["explore", "test", "helper", "gone"], "type": inline}}
    agents = agent("a", **keys) | agent("helper", description="Helps")
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
    (tool,) = provider.requests[0].body["tools"]
    parameters = tool["function"].pop("parameters")
    assert tool["function"] == {
        "name": "Task",
        "description": "Spawn a subagent for focused subtask",
    }
    assert parameters["required"] == ["description", "prompt", "subagent_type"]
    kind = parameters["properties"].pop("subagent_type")
    assert parameters["properties"] == {
        "description": {"type": "string", "description": "Short task name (3-5 words)"},
        "prompt": {"type": "string", "description": "Detailed instructions"},
    }
    assert kind["enum"] == ["explore", "test", "helper", "gone"]
    assert kind["description"].endswith(
        "One of:\n- explore: Read-only for searching and analyzing\n- test: Runs tests\n"
        "- helper: Helps\n- gone"
    )


@pytest.mark.req("004-6")
@pytest.mark.parametrize(
    ("keys", "offered"),
    [
        ({}, None),
        ({"task": {}}, ["explore", "plan", "code"]),
        ({"task": {"recursive": False}}, ["explore", "plan", "code"]),
        ({"task": {"type": {"test": {}}}}, ["explore", "plan", "code", "test"]),
        ({"task": {"types": ["code", "x", "code"]}}, ["code", "x"]),
        ({"task": {"types": ["code", "test"], "type": {"test": {}}}}, ["code", "test"]),
        ({"task": {"types": ["code"], "type": {"test": {}}}}, ["code", "test"]),
        ({"task": {"types": [], "type": {"test": {}}}}, ["test"]),
        ({"task": {"types": []}}, None),
    ],
)
def test_the_tool_is_offered_where_the_file_has_the_table(
    tmp_path: Path, keys: dict[str, Any], offered: list[str] | None
) -> None:
    resolve = resolver(agent("a", **keys))
    tools = prepare_request(RunRequest("a"), resolve, tmp_path, {"HOME": "/h"}).request.tools
    choices = [tool.parameters["subagent_type"].choices for tool in tools]
    assert choices == ([tuple(offered)] if offered is not None else [])


def test_the_order_of_tools_is_always_the_same(tmp_path: Path) -> None:
    keys = {"task": {}, "sub_agents": ["x"], "tools": ["grep", "read_file"]}
    for text in (agent("a", **keys), agent("a", **dict(reversed(keys.items())))):
        prepared = prepare_request(RunRequest("a"), resolver(text), tmp_path, {"HOME": "/h"})
        names = [tool.name for tool in prepared.request.tools]
        assert names == ["grep", "read_file", "call_agent", "Task"]


# -- what is refused


@pytest.mark.req("003-3", "004-9")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prompt": "p"}, 'Task error: "subagent_type" argument is required'),
        ({"subagent_type": "explore"}, 'Task error: "prompt" argument is required'),
        (
            {"subagent_type": "explore", "prompt": " "},
            'Task error: "prompt" argument is required',
        ),
        ({"subagent_type": "x", "prompt": "p"}, "Error: Unknown agent type 'x'"),
        ({"agent_type": "x", "prompt": "p"}, "Error: Unknown agent type 'x'"),
        (
            {"subagent_type": "plan", "agent_type": "code", "prompt": "p"},
            "Task error: subagent_type 'plan' and agent_type 'code' contradict each other; "
            "give subagent_type alone",
        ),
    ],
)
async def test_what_is_wrong_with_a_call_is_told(
    provider: ScriptedProvider, tmp_path: Path, arguments: dict[str, str], message: str
) -> None:
    assert await refusal_of(provider, tmp_path, Call("Task", arguments)) == (message, True)


async def test_the_same_type_under_both_names_is_no_contradiction(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[task(agent_type="explore")]), Says("r"), Says("done"))
    async with bench(provider, tmp_path, agent("a", task={})) as work:
        await work.run("a")
    assert results(provider.requests[-1]) == ["r"]


@pytest.mark.req("003-3")
async def test_a_type_or_an_agent_that_is_not_listed_is_unknown(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    for name in ("code", "a"):
        refusal = await refusal_of(
            provider, tmp_path, task(subagent_type=name), task={"types": ["plan"]}
        )
        assert refusal == (f"Error: Unknown agent type '{name}'", True)


async def test_without_the_table_the_tool_is_unknown(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[task()]), Says("done"))
    async with bench(provider, tmp_path, agent("a", tools=["read_file"])) as work:
        await work.run("a")
        assert work.of(ToolEnd)[0].content == 'Unknown tool: "Task"'


# -- what a type gets


@pytest.mark.req("004-10", "004-11", "004-12", "004-13", "004-14", "004-16", "003-18", "003-17")
@pytest.mark.parametrize("name", ["subagent_type", "agent_type"])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_type_gets_its_own_prompt_and_tools_and_the_callers_model(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, name: str
) -> None:
    call = Call("Task", {"description": "find auth", "prompt": " Find auth.\n", name: "explore"})
    provider.script(
        "m-a",
        Answer(Says(calls=[call]), match="MANAGE"),
        Answer(Says("In src/auth."), match="You are a explore subagent."),
        Answer(Says("Summed up."), match="MANAGE"),
    )
    params = {"temperature": 0.25, "max_tokens": 77, "response_format": {"type": "json_object"}}
    keys = {"system_prompt": "MANAGE", "task": {}, "params": params, "files": ["*.txt"]}
    (tmp_path / "own.txt").write_text("CALLERS FILE")
    async with bench(provider, tmp_path, agent("a", dialect, **keys)) as work:
        result = await work.run("a", "the callers task")
        begin = work.of(AgentBegin)[1]
    first, child, last = provider.requests
    assert child.model == first.model == "m-a"
    body = child.raw.decode()
    for foreign in ("MANAGE", "CALLERS FILE", "the callers task", "find auth", "json_object"):
        assert foreign not in body
    assert "0.25" in body
    assert "77" in body
    assert "You are a explore subagent.\\nSearch and analyze. Never modify." in body
    assert text_of(messages_of(child.body)[-1]) == " Find auth.\n"
    assert body.count('"role"') == (2 if dialect in ("openai", "ollama") else 1)
    assert "In src/auth." in str(messages_of(last.body)[-1])
    assert result.content == "Summed up."
    assert (begin.run.agent, begin.task, begin.description) == (
        "explore",
        " Find auth.\n",
        "find auth",
    )
    assert (begin.model, begin.parent_agent, begin.run.depth) == (f"{dialect}/m-a", "a", 1)


@pytest.mark.req("004-3", "004-4", "004-5", "004-11", "004-17")
async def test_each_type_has_its_tools_and_prompt(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    types = ["explore", "plan", "code", "test"]
    provider.script("m-a", Says(calls=[task(subagent_type=each) for each in types]))
    provider.script("m-a", Answer(Says("r"), match="subagent.", repeat=True), Says("done"))
    inline = {"test": {"tools": ["bash", "Read"], "prompt": "Run the tests."}}
    keys = {"task": {"types": types, "type": inline}, "sub_agents_config": {"parallel": False}}
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        await work.run("a")
        sandboxes = [event.sandbox is None for event in work.of(AgentBegin)[1:]]
    told = {system_of(each): tools_of(each) for each in provider.requests[1:-1]}
    assert told == {
        "You are a explore subagent.\nSearch and analyze. Never modify. Return concise summary.": [
            "run_command",
            "read_file",
        ],
        "You are a plan subagent.\nAnalyze and output numbered plan. Don't change files.": [
            "run_command",
            "read_file",
        ],
        "You are a code subagent.\nImplement changes efficiently.": list(tools_meant(["*"])),
        "You are a test subagent.\nRun the tests.": ["run_command", "read_file"],
    }
    assert sandboxes == [False, False, True, True]


@pytest.mark.req("004-17", "002-15")
@pytest.mark.parametrize(
    ("listed", "offered"),
    [
        (["*"], list(tools_meant(["*"]))),
        (["*_file", "List"], ["read_file", "write_file", "edit_file", "list_directory"]),
        (["bash", "Bash", "run_command"], ["run_command"]),
        ([], []),
    ],
)
async def test_a_type_lists_tools_as_agents_do_whatever_its_caller_may_use(
    provider: ScriptedProvider, tmp_path: Path, listed: list[str], offered: list[str]
) -> None:
    provider.script("m-a", Says(calls=[task(subagent_type="t")]), Says("r"), Says("done"))
    keys = {"task": {"type": {"t": {"tools": listed}}}, "tool_policy": {"deny": ["*"]}}
    async with bench(provider, tmp_path, agent("a", tools=["grep"], **keys)) as work:
        await work.run("a")
    assert [tools_of(each) for each in provider.requests] == [["Task"], offered, ["Task"]]


@pytest.mark.req("003-3")
async def test_a_type_of_the_file_comes_before_a_built_in_one_and_that_before_an_agent(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[task(subagent_type="plan"), task(subagent_type="code")]))
    provider.script("m-a", Answer(Says("r"), match="subagent.", repeat=True), Says("done"))
    keys = {"task": {"type": {"plan": {"prompt": "OWN PLAN"}}}}
    agents = agent("a", **keys) | agent("plan") | agent("code", system_prompt="OWN FILE")
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
    systems = sorted(system_of(each) for each in provider.requests[1:-1])
    assert systems == [
        "You are a code subagent.\nImplement changes efficiently.",
        "You are a plan subagent.\nOWN PLAN",
    ]


async def test_a_type_works_where_its_caller_works_and_with_the_model_that_the_run_was_given(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "here.txt").write_text("THE FILE")
    provider.script(
        "m-other",
        Says(calls=[task()]),
        Says(calls=[Call("read_file", {"path": "here.txt"})]),
        Says("read it"),
        Says("done"),
    )
    keys = {"task": {}, "workdir": "sub"}
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        await work.run("a", model="openai/m-other")
    assert "THE FILE" in results(provider.requests[2])[0]


async def test_a_type_is_asked_again_as_its_caller_would_be(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    keys = {"task": {}, "retry": {"max_retries": 1, "initial_delay_ms": 1}}
    provider.script("m-a", Says(calls=[task()]), Refuses(529), Says("r"), Says("done"))
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        await work.run("a")
    assert results(provider.requests[-1]) == ["r"]


async def test_what_a_type_uses_is_charged_to_its_callers_budget(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    keys = {"task": {}, "budget": {"max_tokens": 100}}
    provider.script("m-a", Says("partial", calls=[task()]), Says("r", usage=(90, 10)))
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        with pytest.raises(RunError) as caught:
            await work.run("a")
    assert caught.value.exit_code == 4


# -- what an agent file gets


@pytest.mark.req("003-18", "003-19", "003-20", "003-3", "004-7")
async def test_an_agent_file_is_run_as_it_is_with_the_prompt_as_its_task(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "auth.py").write_text("password = 'x'\n")
    prompt = "Review the changes I made to auth.py."
    call = task(prompt, "reviewer", description="review auth")
    provider.script("m-a", Says("I changed line 1.", calls=[call]), Says("done"))
    provider.script(
        "m-reviewer",
        Says(calls=[Call("read_file", {"path": "auth.py"})]),
        Says("A password in the code."),
    )
    agents = agent("a", task={"types": ["reviewer"]}) | agent(
        "reviewer", system_prompt="You review.", tools=["read_file"]
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
    _, first, second, last = provider.requests
    assert first.model == "m-reviewer"
    assert first.body["messages"] == [
        {"role": "system", "content": "You review."},
        {"role": "user", "content": prompt},
    ]
    assert "password = 'x'" in results(second)[0]
    assert results(last) == ["A password in the code."]


async def test_an_agent_that_is_listed_and_not_there_is_a_failed_call(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[task(subagent_type="gone")]), Says("done"))
    async with bench(provider, tmp_path, agent("a", task={"types": ["gone"]})) as work:
        await work.run("a")
    assert results(provider.requests[-1]) == [
        'Error: sub-agent "gone" failed - failed to load agent "gone": agent config not found: '
        "gone. You may retry or proceed without this result."
    ]


# -- what comes back, how deep, at the same time


async def test_a_child_that_says_nothing_or_fails_is_told_as_that(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script(
        "m-a",
        Says(calls=[task("one"), task("two")]),
        Answer(Says(""), match="one"),
        Answer(Refuses(400, "no"), match="two"),
        Says("done"),
    )
    keys = {"task": {}, "sub_agents_config": {"parallel": False}}
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        assert (await work.run("a")).content == "done"
    nothing, failure = results(provider.requests[-1])
    assert nothing == "(subagent returned no text)"
    assert failure.startswith('Error: sub-agent "explore" failed - bad_request: no')


@pytest.mark.req("004-18", "004-17")
async def test_what_task_starts_does_not_delegate(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    again = [task("again"), calls_agent("c", "again")]
    provider.script(
        "m-a",
        Says(calls=[task(subagent_type="code"), task(subagent_type="b")]),
        Answer(Says(calls=again), match="code subagent"),
        Answer(Says("r"), match="code subagent"),
        Says("done"),
    )
    provider.script("m-b", Says(calls=again), Says("r"))
    agents = agent("a", task={"types": ["code", "b"]}) | agent(
        "b", task={}, sub_agents=["c"], tools=["grep"]
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
        assert len(work.of(AgentBegin)) == 3
    by_type = next(each for each in provider.asked("m-a") if "code sub" in system_of(each))
    by_file = provider.asked("m-b")
    assert tools_of(by_type) == list(tools_meant(["*"]))
    assert tools_of(by_file[0]) == ["grep"]
    assert results(by_file[1]) == [
        "Task error: maximum sub-agent depth (1) reached",
        "call_agent error: maximum sub-agent depth (1) reached",
    ]


@pytest.mark.req("004-18")
async def test_recursive_types_delegate_as_their_caller_down_to_the_depth_limit(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    keys = {
        "task": {"recursive": True, "types": ["code"]},
        "sub_agents_config": {"max_depth": 2},
        "tools": ["grep"],
    }
    provider.script(
        "m-a",
        *[Says(calls=[task("deeper", "code")])] * 3,
        *[Says("r")] * 3,
    )
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        await work.run("a")
        depths = [event.run.depth for event in work.of(AgentBegin)]
    assert depths == [0, 1, 2]
    offered = [tools_of(each)[-1] for each in provider.requests[:3]]
    assert offered == ["Task", "Task", "web_search"]
    assert results(provider.requests[3]) == ["Task error: maximum sub-agent depth (2) reached"]


@pytest.mark.req("004-18")
async def test_recursive_lets_an_agent_file_delegate_as_it_says_itself(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[task(subagent_type="b")]), Says("done"))
    provider.script("m-b", Says(calls=[calls_agent("c", "t")]), Says("r"))
    provider.script("m-c", Says("deep"))
    agents = agent("a", task={"types": ["b"], "recursive": True})
    agents |= agent("b", sub_agents=["c"]) | agent("c")
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
        assert [event.run.depth for event in work.of(AgentBegin)] == [0, 1, 2]
    assert tools_of(provider.asked("m-b")[0]) == ["call_agent"]


async def test_what_may_only_read_does_not_come_to_write_by_starting_another(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    write = Call("write_file", {"path": "x", "content": "x"})
    provider.script(
        "m-a",
        Says(calls=[task(subagent_type="explore")]),
        Says(calls=[task(subagent_type="code")]),
        Says(calls=[write]),
        *[Says("r")] * 3,
    )
    keys = {"task": {"recursive": True}}
    async with bench(provider, tmp_path, agent("a", **keys), approve=allowed) as work:
        await work.run("a")
        assert work.of(ToolEnd)[0].content == "this agent may look at files but not write them"
    assert not (tmp_path / "x").exists()


@pytest.mark.req("004-24", "003-24")
async def test_several_tasks_run_at_the_same_time_each_with_its_own_context(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    calls = [task(f"job {number}", "plan") for number in range(3)]
    provider.script("m-a", Says(calls=calls))
    for number in range(3):
        provider.script("m-a", Answer(Says(f"plan {number}"), match=f"job {number}"))
    provider.script("m-a", Says("done"))
    async with bench(provider, tmp_path, agent("a", task={})) as work:
        await work.run("a")
    assert results(provider.requests[-1]) == ["plan 0", "plan 1", "plan 2"]
