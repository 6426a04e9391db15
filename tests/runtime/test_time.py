"""Deadlines and cancellation: of a run, of a child, of a whole tree.

Nothing here waits for time to pass without need: providers hold their answers, and timeouts are
short because nothing else can happen before them.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import RunCancelledError, RunTimeoutError
from axe_lsp.runtime.events import AgentBegin, AgentEnd, TextDelta, ToolBegin, ToolEnd
from axe_lsp.runtime.prepare import prepare_request
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.approval import ApprovalRequest
from support.answers import DIALECTS
from support.engines import agent, bench, resolver, running
from support.passing_time import passing_time
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider, calls_agent
from support.waiting import promptly


def result_of(body: dict[str, list[dict[str, str]]]) -> str:
    """Return the last message of a request."""
    return body["messages"][-1]["content"]


@pytest.mark.slow
@pytest.mark.req("001-5.6f")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_run_ends_when_its_time_is_over(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    hold = Hold()
    provider.script("m-solo", Answer(Says("late"), hold=hold))
    async with bench(provider, tmp_path, agent("solo", dialect)) as work:
        with pytest.raises(RunTimeoutError) as caught:
            await work.run("solo", timeout=3)
        await hold.hung_up()
    assert str(caught.value) == "timeout after 3s"
    assert (caught.value.exit_code, caught.value.kind) == (3, "api")
    assert work.of(AgentEnd)[0].status == "timeout"


@pytest.mark.slow
async def test_a_run_ends_also_when_the_time_is_over_in_the_middle_of_the_answer(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold(chunk=3)
    provider.script("m-solo", Answer(Says("one two three four"), hold=hold))
    async with bench(provider, tmp_path, agent("solo"), streams=lambda _: True) as work:
        with pytest.raises(RunTimeoutError):
            await work.run("solo", timeout=3)
        await hold.hung_up()
    assert "".join(event.delta for event in work.of(TextDelta)) == "one two "


async def test_no_time_at_all_is_over_at_once(provider: ScriptedProvider, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(RunTimeoutError, match="timeout after 0s"):
            await work.run("solo", timeout=0)
    assert provider.requests == []


@pytest.mark.slow
@pytest.mark.req("001-12.1", "001-12.3", "001-5.7f", "000-22", "001-T2", "002-2")
async def test_a_childs_time_is_limited_by_the_agent_that_calls_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-parent", Says(calls=[calls_agent("slow", "t")]), Says("coped"))
    provider.script("m-slow", Answer(Says("late"), hold=hold))
    agents = agent("parent", sub_agents=["slow"], sub_agents_config={"timeout": 3}) | agent("slow")
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("parent")
        await hold.hung_up()
    assert result.content == "coped"
    assert result_of(provider.asked("m-parent")[1].body) == (
        'Error: sub-agent "slow" failed - timeout after 3s. '
        "You may retry or proceed without this result."
    )
    child = next(end for end in work.of(AgentEnd) if end.run.depth == 1)
    assert (child.status, child.error) == ("timeout", "timeout after 3s")


@pytest.mark.slow
@pytest.mark.req("001-11.2", "001-11.4", "001-12.1")
async def test_a_childs_timeout_is_its_own(provider: ScriptedProvider, tmp_path: Path) -> None:
    """Each call has its own time; a nested agent's limit counts for its own children."""
    hold = Hold()
    provider.script("m-p", Says(calls=[calls_agent("mid", "1"), calls_agent("ok", "2")]), Says("F"))
    provider.script("m-mid", Says(calls=[calls_agent("slow", "t")]), Says("mid coped"))
    provider.script("m-slow", Answer(Says("late"), hold=hold))
    provider.script("m-ok", Says("fine"))
    agents = (
        agent("p", sub_agents=["mid", "ok"])
        | agent("mid", sub_agents=["slow"], sub_agents_config={"timeout": 3})
        | agent("slow")
        | agent("ok")
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    assert "timeout after 3s" in result_of(provider.asked("m-mid")[1].body)
    results = [message["content"] for message in provider.requests[-1].body["messages"][-2:]]
    assert results == ["mid coped", "fine"]


@pytest.mark.slow
@pytest.mark.req("001-12.1")
async def test_a_childs_time_ends_with_its_parents(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """The parent's three seconds count, not the ten of the child that delegates again."""
    hold = Hold()
    provider.script("m-p", Says(calls=[calls_agent("mid", "1")]), Says("coped"))
    provider.script("m-mid", Says(calls=[calls_agent("slow", "t")]))
    provider.script("m-slow", Answer(Says("late"), hold=hold))
    agents = (
        agent("p", sub_agents=["mid"], sub_agents_config={"timeout": 3})
        | agent("mid", sub_agents=["slow"], sub_agents_config={"timeout": 10})
        | agent("slow")
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
        await hold.hung_up()
    assert '"mid" failed - timeout after 3s' in result_of(provider.asked("m-p")[1].body)
    ends = {end.run.agent: end.status for end in work.of(AgentEnd)}
    assert ends == {"slow": "timeout", "mid": "timeout", "p": "completed"}


@pytest.mark.slow
@pytest.mark.req("001-12.2", "001-5.2j", "001-5.6f")
async def test_a_child_without_a_limit_shares_the_time_of_its_parent(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-p", Says(calls=[calls_agent("c", "t")]))
    provider.script("m-c", Answer(Says("late"), hold=hold))
    async with bench(provider, tmp_path, agent("p", sub_agents=["c"]) | agent("c")) as work:
        with pytest.raises(RunTimeoutError, match="timeout after 3s"):
            await work.run("p", timeout=3)
        await hold.hung_up()
    ends = {end.run.agent: end.status for end in work.of(AgentEnd)}
    assert ends == {"c": "timeout", "p": "timeout"}


@pytest.mark.req("001-5.5f", "001-11.2")
async def test_the_end_of_a_run_is_the_end_of_its_tree(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    holds = [Hold(), Hold()]
    provider.script("m-p", Says(calls=[calls_agent("c", "1"), calls_agent("c", "2")]))
    provider.script("m-c", *(Answer(Says("late"), hold=hold) for hold in holds))
    agents = agent("p", sub_agents=["c"]) | agent("c")
    async with bench(provider, tmp_path, agents) as work, running(work.run("p")) as run:
        for hold in holds:
            await hold.arrived()
        with promptly():
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            for hold in holds:
                await hold.hung_up()
    assert [end.status for end in work.of(AgentEnd)] == ["cancelled"] * 3
    assert len(work.of(ToolEnd)) == len(work.of(ToolBegin)) == 2
    assert len(provider.requests) == 3


async def test_a_run_can_be_stopped_by_its_id(provider: ScriptedProvider, tmp_path: Path) -> None:
    hold = Hold()
    provider.script("m-p", Says("thinking", [calls_agent("c", "1")]))
    provider.script("m-c", Answer(Says("late"), hold=hold))
    async with bench(provider, tmp_path, agent("p", sub_agents=["c"]) | agent("c")) as work:
        async with running(work.run("p")) as run:
            await hold.arrived()
            root = work.of(AgentBegin)[0].run.run_id
            assert work.engine.cancel(root)
            with pytest.raises(RunCancelledError) as caught:
                await run
            await hold.hung_up()
        assert not work.engine.cancel(root), "it is not going on any more"
    assert caught.value.run_id == root
    assert caught.value.partial is not None
    assert caught.value.partial.content == "thinking"
    assert {end.run.agent: end.status for end in work.of(AgentEnd)} == {
        "c": "cancelled",
        "p": "cancelled",
    }


async def test_a_child_can_be_stopped_alone(provider: ScriptedProvider, tmp_path: Path) -> None:
    stuck, fine = Hold(), Hold()
    provider.script("m-p", Says(calls=[calls_agent("a", "1"), calls_agent("b", "2")]), Says("F"))
    provider.script("m-a", Answer(Says("late"), hold=stuck))
    provider.script("m-b", Answer(Says("fine"), hold=fine))
    agents = agent("p", sub_agents=["a", "b"]) | agent("a") | agent("b")
    async with bench(provider, tmp_path, agents) as work, running(work.run("p")) as run:
        await stuck.arrived()
        await fine.arrived()
        begin = await work.heard(AgentBegin, lambda begin: begin.run.agent == "a")
        assert work.engine.cancel(begin.run.run_id)
        await stuck.hung_up()
        fine.release()
        assert (await run).content == "F"
    results = [message["content"] for message in provider.requests[-1].body["messages"][-2:]]
    assert results == [
        'Error: sub-agent "a" failed - cancelled. You may retry or proceed without this result.',
        "fine",
    ]


@pytest.mark.slow
async def test_nobody_s_time_goes_by_while_a_person_thinks(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async def think_longer_than_there_is_time(_: ApprovalRequest) -> str:
        await asyncio.sleep(2.5)
        return ""

    hold = Hold()
    write = Says(calls=[Call("write_file", {"path": "a.txt", "content": "written"})])
    provider.script(
        "m-parent", Says(calls=[calls_agent("child", "t")]), Answer(Says("x"), hold=hold)
    )
    provider.script("m-child", write, Says("done"))
    agents = agent("parent", sub_agents=["child"], sub_agents_config={"timeout": 2}) | agent(
        "child", tools=["write_file"], budget={"max_wall_time": 2}
    )
    async with bench(provider, tmp_path, agents, approve=think_longer_than_there_is_time) as work:
        with pytest.raises(RunTimeoutError, match="timeout after 2s"):  # The rest counts as before.
            await work.run("parent", timeout=2)
        await hold.hung_up()
    assert (tmp_path / "a.txt").read_text() == "written"
    assert [end.status for end in work.of(AgentEnd)] == ["completed", "timeout"]


async def test_stopping_what_is_not_there_says_so(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, {}) as work:
        assert not work.engine.cancel("nobody")


@pytest.mark.req("001-5.1")
@pytest.mark.parametrize(
    ("in_file", "asked", "effective"), [(0, None, None), (7, None, 7), (7, 9.5, 9.5), (0, 3, 3)]
)
def test_a_roots_time_is_asked_for_or_the_files_or_not_stated(
    tmp_path: Path, in_file: int, asked: float | None, effective: float | None
) -> None:
    request = RunRequest("solo", timeout=asked)
    resolve = resolver(agent("solo", timeout=in_file))
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert prepare_request(request, resolve, tmp_path, environment).timeout == effective


def no_progress(seconds: int) -> str:
    return f"no progress for {seconds}s: neither the provider nor a tool has sent anything"


async def test_a_run_without_a_timeout_ends_when_nothing_is_heard_of_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold(chunk=3)
    provider.script("m-solo", Answer(Says("one two three"), hold=hold))
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agent("solo"), streams=lambda _: True) as work,
            running(work.run("solo")) as run,
        ):
            await work.heard(TextDelta)
            await passing.goes_by(119)
            assert not run.done()
            await passing.goes_by(3)
            with pytest.raises(RunTimeoutError, match=no_progress(120)) as caught:
                await run
            await hold.hung_up()
    assert (caught.value.exit_code, work.of(AgentEnd)[0].status) == (3, "timeout")


async def test_a_request_that_is_not_streamed_may_take_ten_minutes(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-solo", Answer(Says("late"), hold=hold))
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agent("solo")) as work,
            running(work.run("solo")) as run,
        ):
            await hold.arrived()
            await passing.goes_by(599)
            assert not run.done()
            await passing.goes_by(3)
            with pytest.raises(RunTimeoutError, match=no_progress(600)):
                await run


async def test_a_run_that_makes_progress_may_take_any_time(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    holds = [Hold(), Hold(), Hold()]
    reads = Says(calls=[Call("list_directory", {"path": "."})])
    for hold, says in zip(holds, (reads, reads, Says("done")), strict=True):
        provider.script("m-solo", Answer(says, hold=hold))
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agent("solo", tools=["list_directory"])) as work,
            running(work.run("solo")) as run,
        ):
            for hold in holds:
                await hold.arrived()
                await passing.goes_by(500)
                hold.release()
            assert (await run).content == "done"


async def test_a_stated_time_is_the_time_in_all(provider: ScriptedProvider, tmp_path: Path) -> None:
    hold = Hold(chunk=3)
    provider.script("m-solo", Answer(Says("one two three"), hold=hold))
    agents = agent("solo", timeout=1000)
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agents, streams=lambda _: True) as work,
            running(work.run("solo")) as run,
        ):
            await work.heard(TextDelta)
            await passing.goes_by(990)
            assert not run.done()
            await passing.goes_by(11)
            with pytest.raises(RunTimeoutError, match="timeout after 1000s"):
                await run


async def test_a_child_of_which_nothing_is_heard_ends_alone(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Says(calls=[calls_agent("c", "t")]), Says("coped"))
    provider.script("m-c", Answer(Says("one two three"), hold=Hold(chunk=3)))
    agents = agent("p", sub_agents=["c"]) | agent("c")
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agents, streams=lambda _: True) as work,
            running(work.run("p")) as run,
        ):
            await work.heard(TextDelta)
            await passing.goes_by(122)
            assert (await run).content == "coped"
    assert f'"c" failed - {no_progress(120)}' in result_of(provider.asked("m-p")[1].body)


async def test_a_command_has_a_limit_of_its_own(provider: ScriptedProvider, tmp_path: Path) -> None:
    async def agree(_: ApprovalRequest) -> str:
        return ""

    begun, end = tmp_path / "begun", tmp_path / "end"
    os.mkfifo(begun)
    os.mkfifo(end)
    command = "echo > begun; cat end"
    provider.script("m-solo", Says(calls=[Call("run_command", {"command": command})]), Says("ok"))
    agents = agent("solo", tools=["run_command"])
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agents, approve=agree) as work,
            running(work.run("solo")) as run,
        ):
            await asyncio.to_thread(begun.read_text)
            await passing.goes_by(500)
            assert not run.done()
            await asyncio.to_thread(end.write_text, "")
            assert (await run).content == "ok"


@pytest.mark.slow
@pytest.mark.parametrize(("callers", "own", "effective"), [(1, 9, 1), (9, 1, 1), (0, 1, 1)])
async def test_the_shorter_time_counts_of_a_caller_s_and_a_child_s_own(
    provider: ScriptedProvider, tmp_path: Path, callers: int, own: int, effective: int
) -> None:
    hold = Hold()
    provider.script("m-p", Says(calls=[calls_agent("c", "t")]), Says("coped"))
    provider.script("m-c", Answer(Says("late"), hold=hold))
    agents = agent("p", sub_agents=["c"], sub_agents_config={"timeout": callers})
    async with bench(provider, tmp_path, agents | agent("c", timeout=own)) as work:
        await work.run("p")
    assert f"timeout after {effective}s" in result_of(provider.asked("m-p")[1].body)
