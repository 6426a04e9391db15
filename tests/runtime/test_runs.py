"""Runs over real HTTP: what is sent, what comes back, how agents call agents."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.agent_run import AgentRun
from axe_lsp.runtime.errors import (
    AgentError,
    ConfigError,
    RunError,
)
from axe_lsp.runtime.events import AgentEnd, ToolBegin, ToolEnd, TurnEnd
from axe_lsp.runtime.prepare import Prepared
from support.answers import DIALECTS
from support.bodies import messages_of, text_of, tools_of
from support.engines import agent, bench, running
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

pytestmark = pytest.mark.req("001-T1")


def results_in(body: dict[str, Any]) -> list[str]:
    """Return the tool results of an OpenAI request."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


async def test_runs_that_are_over_are_no_garbage_that_has_to_be_looked_for(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("", calls=[calls_agent("child", "one")]), Says("end"))
    provider.script("m-child", Says("done"))
    agents = {**agent("parent", sub_agents=["child"]), **agent("child")}
    async with bench(provider, tmp_path, agents) as work:
        gc.collect()
        # The traceback of a test that failed before may hold runs.
        of_former_tests = _agent_runs()
        gc.disable()
        try:
            await work.run("parent", "go")
            await asyncio.sleep(0)
            left = _agent_runs()
        finally:
            gc.enable()
    assert [each for each in left if each not in of_former_tests] == []


def _agent_runs() -> list[AgentRun]:
    return [each for each in gc.get_objects() if isinstance(each, AgentRun)]


@pytest.mark.req("001-8.4", "001-9.2", "001-5.6a", "001-C2", "001-T2")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_agent_without_sub_agents_asks_once(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-solo", Says("Hello", usage=(3, 4), model="served", stop_reason="why"))
    async with bench(provider, tmp_path, agent("solo", dialect, system_prompt="SP")) as work:
        result = await work.run("solo", "ask")
    (request,) = provider.requests
    assert "tools" not in request.body
    assert not request.body.get("stream")
    assert "SP" in str(request.body)
    served = "m-solo" if dialect == "bedrock" else "served"  # Which does not say.
    assert (result.content, result.model, result.stop_reason) == ("Hello", served, "why")
    assert (result.input_tokens, result.output_tokens) == (3, 4)
    assert (result.turns, result.tool_calls, result.status) == (1, 0, "completed")


@pytest.mark.req(
    "001-P1",
    "001-P2",
    "001-P3",
    "001-DD2",
    "001-N1",
    "001-C7",
    "001-8.1",
    "001-9.1",
    "001-T2",
    "000-2",
    "000-8",
    "002-2",
    "001-5.6b",
    "000-3",
    "002-15",
    "002-22",
    "003-29",
)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_delegated_task_comes_back_as_text(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script(
        "m-parent",
        Says("On it.", [calls_agent("helper", "do it")], usage=(1, 2)),
        Says("Final", usage=(3, 4)),
    )
    provider.script("m-helper", Says("helper result", usage=(100, 100)))
    agents = agent("parent", dialect, sub_agents=["helper"]) | agent("helper", dialect)
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("parent")
    first, child, last = provider.requests
    assert [name for name, *_ in tools_of(first.body)] == ["call_agent"]
    assert tools_of(child.body) == []
    assert text_of(messages_of(child.body)[-1]) == "Task: do it"
    assert "helper result" in str(messages_of(last.body)[-1])
    assert result.content == "Final"
    assert (result.turns, result.tool_calls) == (2, 1)
    # The parent's own cost, without the child's (001-DD5).
    assert (result.input_tokens, result.output_tokens) == (4, 6)


@pytest.mark.req(
    "001-DD4",
    "000-15",
    "000-16",
    "003-10",
    "003-11",
    "001-7.3.8",
    "001-7.3.12",
    "000-5",
    "002-4",
    "002-17",
    "003-12",
    "003-28",
)
async def test_a_child_gets_its_own_configuration_and_nothing_else(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "h").mkdir()
    (tmp_path / "p" / "one.txt").write_text("parent file")
    (tmp_path / "h" / "two.txt").write_text("helper file")
    provider.script(
        "m-parent", Says("secret thought", [calls_agent("helper", "t", "c")]), Says("F")
    )
    provider.script("m-helper", Says("r"))
    agents = agent(
        "parent",
        system_prompt="PARENT",
        sub_agents=["helper"],
        files=["*.txt"],
        workdir="p",
        params={"temperature": 0.9, "max_tokens": 11},
    ) | agent(
        "helper",
        system_prompt="HELPER",
        files=["*.txt"],
        workdir="h",
        params={"temperature": 0.1, "max_tokens": 22},
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("parent", "the user's words")
    child = provider.asked("m-helper")[0].body
    assert child["messages"] == [
        {
            "role": "system",
            "content": "HELPER\n\n---\n\n## Context Files\n\n### two.txt\n```txt\nhelper file\n```",
        },
        {"role": "user", "content": "Task: t\n\nContext:\nc"},
    ]
    assert (child["temperature"], child["max_tokens"]) == (0.1, 22)


@pytest.mark.req("001-DD4", "002-14")
async def test_a_child_without_workdir_works_in_the_workspace(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "here.txt").write_text("in the workspace")
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]), Says("F"))
    provider.script("m-helper", Says("r"))
    agents = agent("parent", sub_agents=["helper"]) | agent("helper", files=["*.txt"])
    async with bench(provider, tmp_path, agents) as work:
        await work.run("parent", workdir=str(tmp_path / "p"))
    assert "in the workspace" in str(provider.asked("m-helper")[0].body)


@pytest.mark.req(
    "001-11.1",
    "001-11.3",
    "001-5.5b",
    "001-T2",
    "000-21",
    "000-25",
    "002-20",
    "002-27",
    "002-29",
    "003-24",
    "004-24",
)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_several_calls_run_at_the_same_time_and_keep_their_order(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    first, second = Hold(), Hold()
    provider.script(
        "m-parent", Says(calls=[calls_agent("a", "1"), calls_agent("b", "2")]), Says("F")
    )
    provider.script("m-a", Answer(Says("from a"), hold=first))
    provider.script("m-b", Answer(Says("from b"), hold=second))
    agents = (
        agent("parent", dialect, sub_agents=["a", "b"]) | agent("a", dialect) | agent("b", dialect)
    )
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        await first.arrived()
        await second.arrived()
        second.release()  # The second one is ready first.
        first.release()
        await run
    last = str(provider.requests[-1].body)
    assert last.index("from a") < last.index("from b")


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
async def test_calls_to_which_the_provider_gives_the_same_id_are_told_apart(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    same = [calls_agent("a", "1", call_id="same"), calls_agent("b", "2", call_id="same")]
    provider.script("m-parent", Says(calls=same, thinking="Both."), Says("F"))
    provider.script("m-a", Says("from a"))
    provider.script("m-b", Says("from b"))
    agents = (
        agent("parent", dialect, sub_agents=["a", "b"]) | agent("a", dialect) | agent("b", dialect)
    )
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("parent")).content == "F"
    ids = ["same", "same-2"]
    assert [call["id"] for call in work.of(TurnEnd)[0].tool_calls] == ids
    assert [event.call_id for event in work.of(ToolBegin)] == ids
    told = {event.call_id: event.content for event in work.of(ToolEnd)}
    assert ["from a" in told["same"], "from b" in told["same-2"]] == [True, True]
    last = json.dumps(provider.requests[-1].body["messages"])
    assert [last.count(f'"{each}"') for each in ids] == [4, 0]  # Its own id, of calls and results.
    assert last.index("from a") < last.index("from b")


@pytest.mark.req("001-11.5", "001-5.5c", "001-8.2", "001-T2")
async def test_without_parallel_the_second_call_starts_after_the_first(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script(
        "m-parent", Says(calls=[calls_agent("a", "1"), calls_agent("b", "2")]), Says("F")
    )
    provider.script("m-a", Says("from a"))
    provider.script("m-b", Says("from b"))
    agents = (
        agent("parent", sub_agents=["a", "b"], sub_agents_config={"parallel": False})
        | agent("a")
        | agent("b")
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("parent")
    assert [request.model for request in provider.requests] == [
        "m-parent",
        "m-a",
        "m-b",
        "m-parent",
    ]
    assert provider.max_in_flight == 1


@pytest.mark.req(
    "001-C9",
    "001-7.3.14",
    "001-8.2",
    "001-11.1",
    "001-N3",
    "001-N4",
    "001-5.2b",
    "002-6",
    "002-7",
    "002-23",
)
async def test_a_child_delegates_as_its_own_file_says(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """The root is sequential; the child says nothing about it, so its calls are parallel."""
    holds = [Hold(), Hold()]
    provider.script("m-parent", Says(calls=[calls_agent("mid", "go")]), Says("F"))
    provider.script(
        "m-mid", Says(calls=[calls_agent("leaf", "1"), calls_agent("leaf", "2")]), Says("mid done")
    )
    provider.script(
        "m-leaf",
        Answer(Says("r1"), match="Task: 1", hold=holds[0]),
        Answer(Says("r2"), match="Task: 2", hold=holds[1]),
    )
    agents = (
        agent("parent", sub_agents=["mid"], sub_agents_config={"parallel": False})
        | agent("mid", sub_agents=["leaf"])
        | agent("leaf")
    )
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        for hold in holds:
            await hold.arrived()
        for hold in holds:
            hold.release()
        await run
    assert results_in(provider.asked("m-mid")[1].body) == ["r1", "r2"]


async def test_max_concurrent_limits_the_children_at_work(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    calls = [calls_agent("leaf", str(number)) for number in range(6)]
    holds = [Hold(), Hold()]
    provider.script("m-parent", Says(calls=calls), Says("F"))
    provider.script("m-leaf", *(Answer(Says("r"), hold=hold) for hold in holds))
    provider.script("m-leaf", Answer(Says("r"), repeat=True))
    config = {"max_concurrent": 2}
    agents = agent("parent", sub_agents=["leaf"], sub_agents_config=config) | agent("leaf")
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        for hold in holds:
            await hold.arrived()
        for hold in holds:
            hold.release()
        await run
    assert provider.max_in_flight == 2


@pytest.mark.req("001-11.4", "001-5.5d", "001-13.1", "000-27", "000-28", "001-T2", "001-13.4")
async def test_one_failure_cancels_no_sibling(provider: ScriptedProvider, tmp_path: Path) -> None:
    slow = Hold()
    provider.script(
        "m-parent", Says(calls=[calls_agent("slow", "1"), calls_agent("bad", "2")]), Says("F")
    )
    provider.script("m-slow", Answer(Says("slow result"), hold=slow))
    provider.script("m-bad", Refuses(500, "boom"))
    agents = agent("parent", sub_agents=["slow", "bad"]) | agent("slow") | agent("bad")
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        await slow.arrived()
        await work.heard(AgentEnd, lambda end: end.run.agent == "bad")
        slow.release()
        result = await run
    assert result.content == "F"
    assert results_in(provider.requests[-1].body) == [
        "slow result",
        'Error: sub-agent "bad" failed - server: boom. '
        "You may retry or proceed without this result.",
    ]


@pytest.mark.req("001-13.2", "001-7.3.10", "001-5.7b", "001-5.7c", "001-7.3.7")
@pytest.mark.parametrize(
    ("child", "inner"),
    [
        ("", 'failed to load agent "c": agent config missing required field: name'),
        ('name = "c"\nmodel = "noslash"', 'invalid model for agent "c": invalid model format'),
        ('name = "c"\nmodel = "x/y"', 'failed to create provider for agent "c": unsupported'),
        ('name = "c"\nmodel = "anthropic/y"', 'API key for provider "anthropic" is not configured'),
        ('name = "c"\nmodel = "openai/y"\nskill = "none.md"', 'failed to load skill for agent "c"'),
        ('name = "c"\nmodel = "openai/y"\nfiles = ["[x"]', 'failed to resolve files for agent "c"'),
        ("name = ", 'failed to load agent "c": failed to parse agent config "c": line 1'),
    ],
)
async def test_whatever_is_wrong_with_a_child_is_a_text_for_its_parent(
    provider: ScriptedProvider, tmp_path: Path, child: str, inner: str
) -> None:
    provider.script("m-parent", Says(calls=[calls_agent("c", "t")]), Says("coped"))
    agents = agent("parent", sub_agents=["c"]) | {"c": child}
    keys = {"ANTHROPIC_API_KEY": ""}
    async with bench(provider, tmp_path, agents, keys) as work:
        result = await work.run("parent")
    (text,) = results_in(provider.requests[-1].body)
    assert text.startswith(f'Error: sub-agent "c" failed - {inner}')
    assert text.endswith(". You may retry or proceed without this result.")
    assert result.content == "coped"


@pytest.mark.req("001-8.2", "001-5.1g", "001-C8", "001-DD1")
async def test_an_unknown_tool_is_an_error_for_the_model(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says(calls=[Call("read_file", {"path": "/x"}, "1")]), Says("F"))
    agents = agent("parent", sub_agents=["helper"]) | agent("helper")
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("parent")
    assert results_in(provider.requests[-1].body) == ['Unknown tool: "read_file"']
    assert result.tool_calls == 1


@pytest.mark.req(
    "001-10.1",
    "001-10.3",
    "001-9.3",
    "001-5.2e",
    "000-20",
    "000-23",
    "001-10.4",
    "001-5.2f",
    "002-30",
)
@pytest.mark.parametrize(("max_depth", "runs"), [(0, 4), (1, 2), (2, 3), (5, 6)])
async def test_the_roots_depth_limit_governs_the_tree(
    provider: ScriptedProvider, tmp_path: Path, max_depth: int, runs: int
) -> None:
    """An agent that calls itself; children's own limits count for nothing."""
    provider.script("m-a", Answer(Says("leaf"), match='"Task: last"', repeat=True))
    for _ in range(runs - 1):
        provider.script("m-a", Answer(Says(calls=[calls_agent("a", "go")]), match='"tools"'))
    provider.script("m-a", Answer(Says("done"), repeat=True))
    config = {"max_depth": max_depth} if max_depth else {}
    agents = agent("a", sub_agents=["a"], sub_agents_config=config)
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
    asked = provider.requests[:runs]
    assert ["tools" in request.body for request in asked] == [True] * (runs - 1) + [False]
    assert len(provider.requests) == runs + runs - 1


@pytest.mark.req("001-5.6d", "002-28")
async def test_calls_may_be_other_ones_in_every_turn(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script(
        "m-p",
        Says(calls=[calls_agent("a", "1", call_id="x")]),
        Says("so", [calls_agent("b", "2", call_id="y"), Call("zz", {}, "z")]),
        Says("F"),
    )
    provider.script("m-a", Says("from a"))
    provider.script("m-b", Says("from b"))
    agents = agent("p", sub_agents=["a", "b"]) | agent("a") | agent("b")
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("p")
    assert results_in(provider.requests[-1].body) == ["from a", "from b", 'Unknown tool: "zz"']
    assert (result.turns, result.tool_calls) == (3, 3)


@pytest.mark.req("001-8.3", "001-5.6c", "001-T2")
async def test_a_conversation_without_end_ends_after_50_turns(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Answer(Says(calls=[calls_agent("h", "again")]), repeat=True))
    provider.script("m-h", Answer(Says("r"), repeat=True))
    agents = agent("p", sub_agents=["h"]) | agent("h")
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(AgentError) as caught:
            await work.run("p")
    assert str(caught.value) == "agent exceeded maximum conversation turns (50)"
    assert caught.value.exit_code == 1
    assert len(provider.asked("m-p")) == 50
    assert caught.value.partial is not None
    assert caught.value.partial.turns == 50


@pytest.mark.req("001-5.7g", "001-13.2")
async def test_a_child_without_end_is_a_text_for_its_parent(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Says(calls=[calls_agent("mid", "go")]), Says("coped"))
    provider.script("m-mid", Answer(Says(calls=[calls_agent("h", "again")]), repeat=True))
    provider.script("m-h", Answer(Says("r"), repeat=True))
    agents = agent("p", sub_agents=["mid"]) | agent("mid", sub_agents=["h"]) | agent("h")
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    (text,) = results_in(provider.asked("m-p")[1].body)
    assert "agent exceeded maximum conversation turns (50)" in text


async def test_an_unknown_agent_is_a_configuration_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, {}) as work:
        with pytest.raises(ConfigError) as caught:
            await work.run("nobody")
    assert (str(caught.value), caught.value.exit_code) == ("agent config not found: nobody", 2)
    assert work.events == [], "a name that means nobody is no run"


async def test_a_bug_is_an_error_of_the_run_not_of_the_engine(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-ok", Says("fine"))

    def broken(prepared: Prepared) -> bool:
        return {"ok": False}[prepared.definition.name]

    agents = agent("ok") | agent("ko")
    async with bench(provider, tmp_path, agents, streams=broken) as work:
        with pytest.raises(RunError, match="internal error: KeyError"):
            await work.run("ko")
        assert (await work.run("ok")).content == "fine"
    assert work.of(AgentEnd)[0].status == "failed"
