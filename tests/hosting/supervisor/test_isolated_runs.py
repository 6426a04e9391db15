"""Agents in processes of their own: like all others, until one of them crashes."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.hosting.supervisor.orders import Run
from axe_lsp.runtime.errors import RunCancelledError
from axe_lsp.runtime.safety.questions import Answer as Reply
from axe_lsp.runtime.safety.questions import Question
from support.hosts import Stage, agent, stage
from support.processes import Sleepers, hosts_bearing, wait_for_none
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

APART = '[isolation]\nmode = "process"\n'


def team(**tables: str) -> Mapping[str, str]:
    """Return a lead, an agent of its own process, and one below that."""
    return {
        "lead": agent("lead", "apart", "beside") + tables.get("lead", ""),
        "apart": agent("apart", "below", tools=["run_command"]) + APART + tables.get("apart", ""),
        "beside": agent("beside"),
        "below": agent("below"),
    }


def processes_of_agents(at: Stage) -> list[int]:
    """Return the processes that hosts have started for agents."""
    mark = os.environ["PYTHON_MARK"]
    return [pid for pid in hosts_bearing(mark) if pid not in at.hosts()]


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTHON_MARK", str(tmp_path))
    return str(tmp_path)


def assert_ended(at: Stage, run: Run) -> list[tuple[str, str]]:
    """Assert that no number is missing and all that began has ended; return how the runs have ended, in order."""
    story = at.of(run.id)
    assert [params["seq"] for _, params in story] == list(range(1, len(story) + 1))
    agents = [params for method, params in story if method == "axe/agent"]
    begun = [each["runId"] for each in agents if each["kind"] == "begin"]
    ends = [each for each in agents if each["kind"] == "end"]
    assert sorted(begun) == sorted(each["runId"] for each in ends)
    return [(each["agent"], each["status"]) for each in ends]


def told(provider: ScriptedProvider, model: str) -> str:
    """Return what the model was told last."""
    return str(provider.asked(model)[-1].body["messages"][-1]["content"])


@pytest.mark.req("002-21")
async def test_what_is_heard_of_an_agent_is_the_same_in_a_process_of_its_own(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    stories = []
    for mode in ("inline", "process"):
        provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("done"))
        provider.script("m-apart", Says(calls=[calls_agent("below", "b")]), Says("apart is done"))
        provider.script("m-below", Says("below is done"))
        agents = {name: text.replace("process", mode) for name, text in team().items()}
        async with stage(tmp_path / mode, agents) as at:
            run = at.start("lead", stream=True)
            begin = await at.event("axe/agent", agent="below", kind="begin")
            assert (begin["depth"], begin["parentAgent"]) == (2, "apart")

            assert (await run.result()).content == "done"

            assert told(provider, "m-lead") == "apart is done"
            assert_ended(at, run)
            stories.append([plain(method, params) for method, params in at.of(run.id)])
    assert stories[0] == stories[1]


def plain(method: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return an event without what differs from run to run."""
    names = ("time", "durationMs", "runId", "rootRunId", "parentRunId", "childRunId", "callId")
    of_file = ("definition", "source")
    kept = {name: value for name, value in params.items() if name not in (*names, *of_file)}
    if method == "axe/turn" and kept["kind"] == "end":
        kept["toolCalls"] = [{**call, "id": ""} for call in kept["toolCalls"]]
    return method, kept


async def test_an_agent_whose_process_dies_goes_on_in_another_one_before_its_caller_hears_of_it(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    writes = Call("run_command", {"command": "echo once >> effects.txt"})
    provider.script("m-lead", Says("I ask.", calls=[calls_agent("apart", "a")]), Says("done"))
    provider.script(
        "m-apart", Says(calls=[writes]), Says(calls=[calls_agent("below", "b")]), Says("I am done")
    )
    provider.script("m-below", Answer(Says("never"), hold=hold), Says("one"))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead", allow=("*",))
        await hold.arrived()
        await at.event("axe/turn", agent="below", kind="begin")
        (child,) = processes_of_agents(at)

        os.kill(child, signal.SIGKILL)

        result = await run.result()
        assert result.content == "done"
        assert told(provider, "m-lead") == "I am done"
        assert assert_ended(at, run) == [
            ("below", "completed"),
            ("apart", "completed"),
            ("lead", "completed"),
        ]
        assert (Path(at.workplace.workspace) / "effects.txt").read_text() == "once\n"
        assert [each.model for each in provider.requests] == [
            "m-lead",
            "m-apart",
            "m-apart",
            "m-below",
            "m-below",
            "m-apart",
            "m-lead",
        ]
        resumed = [params for _, params in at.of(run.id) if params.get("kind") == "resume"]
        assert [(each["agent"], each["turn"]) for each in resumed] == [("apart", 3), ("below", 1)]
        ends = [params for _, params in at.of(run.id) if "status" in params]
        assert [(each["turns"], each["inputTokens"]) for each in ends] == [
            (1, 10),
            (3, 30),
            (2, 20),
        ]
        assert ends[-1]["tree"]["inputTokens"] == 60


@pytest.mark.req("002-3", "002-21")
async def test_side_run_whose_process_dies_goes_on_in_another_one_while_its_caller_works(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    starts = Call("call_agent", {"agent": "apart", "task": "a"})
    provider.script("m-lead", Says(calls=[starts]), Says("I wait."), Says("done"))
    provider.script("m-apart", Answer(Says("never"), hold=hold), Says("I am done"))
    lead = '[sub_agents_config]\nbackground = "always"\n'
    async with stage(tmp_path, team(lead=lead)) as at:
        run = at.start("lead")
        await hold.arrived()
        await at.event("axe/agent", agent="lead", kind="idle")
        (child,) = processes_of_agents(at)

        os.kill(child, signal.SIGKILL)

        assert (await run.result()).content == "done"
        assert told(provider, "m-lead") == '[Side run "apart-1" has ended]\nI am done'
        assert assert_ended(at, run) == [("apart", "completed"), ("lead", "completed")]
        models = [each.model for each in provider.requests]
        assert models.count("m-lead") == 3
        assert models.count("m-apart") == 2


async def test_a_call_that_was_interrupted_with_the_process_of_an_agent_is_told_and_not_repeated(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    sleepers = Sleepers()
    command = f"echo once >> effects.txt; {sleepers.command}"
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("done"))
    provider.script("m-apart", Says(calls=[Call("run_command", {"command": command})]), Says("so"))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead", allow=("*",))
        await asyncio.to_thread(sleepers.wait_for, 1)
        (child,) = processes_of_agents(at)

        os.kill(child, signal.SIGKILL)

        assert (await run.result()).content == "done"
        assert "Whether it took effect is not known" in told(provider, "m-apart")
        assert (Path(at.workplace.workspace) / "effects.txt").read_text() == "once\n"
        assert_ended(at, run)


@pytest.mark.req("002-21")
async def test_an_agent_that_crashes_is_an_error_text_for_its_caller_and_nothing_else(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    below, beside = [Hold(), Hold()], Hold()
    both = [calls_agent("apart", "a"), calls_agent("beside", "b")]
    provider.script("m-lead", Says(calls=both), Says("I go on."))
    provider.script("m-apart", Says("wait", calls=[calls_agent("below", "b")]))
    provider.script("m-below", *[Answer(Says("well"), hold=hold) for hold in below])
    provider.script("m-beside", Answer(Says("well"), hold=beside))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead")
        await beside.arrived()
        for kind, hold in zip(("begin", "resume"), below, strict=True):
            await hold.arrived()
            await at.event("axe/agent", agent="below", kind=kind)
            (child,) = processes_of_agents(at)
            os.kill(child, signal.SIGKILL)
        await at.event("axe/agent", agent="apart", kind="end")
        beside.release()

        assert (await run.result()).content == "I go on."
        assert assert_ended(at, run) == [
            ("below", "killed"),
            ("apart", "killed"),
            ("beside", "completed"),
            ("lead", "completed"),
        ]
        ends = [params for _, params in at.of(run.id) if params.get("status") == "killed"]
        assert [each["reason"] for each in ends] == ["host"] * 2
        results = provider.asked("m-lead")[-1].body["messages"][-2:]
        assert [each["content"] for each in results] == [
            'Error: sub-agent "apart" failed - its process was ended by signal 9 (Killed). '
            "You may retry or proceed without this result.\n\nwait",
            "well",
        ]


async def test_an_agent_that_hangs_is_noticed(tmp_path: Path, provider: ScriptedProvider) -> None:
    holds = [Hold(), Hold()]
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("I go on."))
    provider.script("m-apart", *[Answer(Says("never"), hold=hold) for hold in holds])
    async with stage(tmp_path, team(), IMPATIENT) as at:
        run = at.start("lead")
        for hold in holds:
            await hold.arrived()
            (child,) = processes_of_agents(at)
            os.kill(child, signal.SIGSTOP)

        assert (await run.result()).content == "I go on."
        assert "did not answer for 6 s" in told(provider, "m-lead")
        assert assert_ended(at, run) == [("apart", "killed"), ("lead", "completed")]


IMPATIENT = """
from functools import partial
from axe_lsp.hosting.host import host
from axe_lsp.hosting.supervisor import isolated_runs
isolated_runs.Patience = partial(isolated_runs.Patience, heartbeat=0.1, silence=6, die=0.2)
host.main()
"""


async def test_cancelling_a_tree_ends_the_processes_of_its_agents(
    tmp_path: Path, provider: ScriptedProvider, mark: str
) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]))
    provider.script("m-apart", Says(calls=[calls_agent("below", "b")]))
    provider.script("m-below", Answer(Says("never"), hold=hold))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead")
        await hold.arrived()
        await at.event("axe/turn", agent="below", kind="begin")
        assert len(processes_of_agents(at)) == 1

        at.runs.cancel(run.id)

        with pytest.raises(RunCancelledError):
            await run.result()
        assert assert_ended(at, run) == [
            ("below", "cancelled"),
            ("apart", "cancelled"),
            ("lead", "cancelled"),
        ]
        assert processes_of_agents(at) == []
    await asyncio.to_thread(wait_for_none, mark)


async def test_runs_are_killed_and_not_cancelled_if_the_server_ends(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]))
    provider.script("m-apart", Says(calls=[calls_agent("below", "b")]))
    provider.script("m-below", Answer(Says("never"), hold=hold))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead", keep_days=1)
        await hold.arrived()
        await at.event("axe/turn", agent="below", kind="begin")

        await at.runs.close()

        killed = [(name, "killed") for name in ("below", "apart", "lead")]
        assert assert_ended(at, run) == killed
        ended = [params for _, params in at.of(run.id) if "status" in params]
        assert {each["reason"] for each in ended} == {"server"}
        assert f"`axe-lsp resume {run.id[:8]}` continues it" in ended[-1]["error"]


@pytest.mark.parametrize("who", ["apart", "below"])
async def test_a_run_in_another_process_can_be_stopped_alone(
    tmp_path: Path, provider: ScriptedProvider, who: str
) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("I go on."))
    provider.script("m-apart", Says(calls=[calls_agent("below", "b")]), Says("So do I."))
    provider.script("m-below", Answer(Says("never"), hold=hold))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead")
        await hold.arrived()
        begin = await at.event("axe/agent", agent=who, kind="begin")

        assert at.runs.cancel(begin["runId"])

        assert (await run.result()).content == "I go on."
        statuses = dict(assert_ended(at, run))
        assert statuses["below"] == "cancelled"
        assert statuses["apart"] == ("cancelled" if who == "apart" else "completed")


async def test_the_time_of_the_caller_is_that_of_the_process(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("I go on."))
    provider.script("m-apart", Answer(Says("never"), hold=Hold()))
    lead = "[sub_agents_config]\ntimeout = 8\n"
    async with stage(tmp_path, team(lead=lead)) as at:
        run = at.start("lead")

        assert (await run.result()).content == "I go on."
        assert 'sub-agent "apart" failed - timeout after 8s' in told(provider, "m-lead")
        assert assert_ended(at, run) == [("apart", "timeout"), ("lead", "completed")]


async def test_what_an_agent_uses_in_its_process_is_charged_to_its_callers(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says("I ask.", calls=[calls_agent("apart", "a")], usage=(10, 10)))
    provider.script("m-apart", Says(calls=[calls_agent("below", "b")], usage=(30, 0)))
    provider.script("m-below", Says("below is done", usage=(30, 30)))
    async with stage(tmp_path, team(lead="[budget]\nmax_tokens = 100\n")) as at:
        run = at.start("lead")
        with pytest.raises(Exception, match="budget exceeded: used 110 of 100 tokens"):
            await run.result()

        assert dict(assert_ended(at, run))["apart"] == "completed"
        assert len(provider.asked("m-apart")) == 1


async def test_an_agent_in_its_process_asks_for_approval_like_any_other(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    echo = [Call("run_command", {"command": f"echo {word}"}) for word in ("one", "one", "two")]
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("done"))
    provider.script("m-apart", *[Says(calls=[each]) for each in echo], Says("apart is done"))
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        return Reply("allowForRun")

    async with stage(tmp_path, team()) as at:
        run = at.start("lead", ask=ask)
        await run.result()

        assert [(each.run.agent, each.tool) for each in questions] == [("apart", "run_command")] * 2
        ends = [params for method, params in at.of(run.id) if params.get("name") == "run_command"]
        assert [each["content"] for each in ends if each["kind"] == "end"] == [
            "one\n",
            "one\n",
            "two\n",
        ]


async def test_no_time_goes_by_while_a_question_from_another_process_is_open(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    echo = Call("run_command", {"command": "echo word"})
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("done"))
    provider.script("m-apart", Says(calls=[echo]), Says("apart is done"))

    async def think_longer_than_there_is_time(_: Question) -> Reply:
        await asyncio.sleep(9)
        return Reply("allow")

    lead = "timeout = 8\n[sub_agents_config]\ntimeout = 8\n"
    async with stage(tmp_path, team(lead=lead)) as at:
        run = at.start("lead", ask=think_longer_than_there_is_time)
        assert (await run.result()).content == "done"
        assert assert_ended(at, run) == [("apart", "completed"), ("lead", "completed")]


async def test_a_process_below_a_process_ends_with_it(
    tmp_path: Path, provider: ScriptedProvider, mark: str
) -> None:
    holds = [Hold(), Hold()]
    provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("I go on."))
    provider.script("m-apart", Says(calls=[calls_agent("below", "b")]))
    provider.script("m-below", *[Answer(Says("never"), hold=hold) for hold in holds])
    agents = {**team(), "below": agent("below") + APART}
    async with stage(tmp_path, agents) as at:
        run = at.start("lead")
        for kind, hold in zip(("begin", "resume"), holds, strict=True):
            await hold.arrived()
            await at.event("axe/agent", agent="below", kind=kind)
            hosts = processes_of_agents(at)
            (upper,) = (pid for pid in hosts if parent(pid) == at.hosts()[0])
            os.kill(upper, signal.SIGKILL)
            await hold.hung_up()

        assert (await run.result()).content == "I go on."
        ends = [("below", "killed"), ("apart", "killed"), ("lead", "completed")]
        assert assert_ended(at, run) == ends
    await asyncio.to_thread(wait_for_none, mark)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_no_process_remains_when_any_on_the_way_to_a_command_is_killed(
    tmp_path: Path, provider: ScriptedProvider, mark: str
) -> None:
    async with stage(tmp_path, team()) as at:
        for find in (processes_of_agents, Stage.hosts):
            sleepers = Sleepers()
            command = Call("run_command", {"command": f"setsid {sleepers.command}"})
            provider.script("m-lead", Says(calls=[calls_agent("apart", "a")]), Says("I go on."))
            provider.script("m-apart", Says(calls=[command]))
            run = at.start("lead", allow=("run_command",))
            await asyncio.to_thread(sleepers.wait_for, 1)

            os.kill(find(at)[0], signal.SIGKILL)

            await asyncio.to_thread(wait_for_none, sleepers.seconds)
            await asyncio.gather(run.result(), return_exceptions=True)
            assert_ended(at, run)
    await asyncio.to_thread(wait_for_none, mark)


async def test_agents_in_processes_of_their_own_take_turns_at_a_provider(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config" / "axe"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("[providers.ollama]\nmax_concurrent = 1\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parent))
    calls = [calls_agent("apart", f"t{number}") for number in range(4)]
    provider.script("m-lead", Says(calls=calls), Says("done"))
    provider.limit("m-apart", 1, Refuses(429), seconds=0.5)
    provider.script("m-apart", Answer(Says("well"), repeat=True))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead")
        assert (await run.result()).content == "done"
        assert {status for _, status in assert_ended(at, run)} == {"completed"}
        assert len(provider.asked("m-apart")) == 4


async def test_many_agents_in_processes_of_their_own_complete_at_a_provider_that_takes_few(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    calls = [calls_agent("apart", f"t{number}") for number in range(8)]
    provider.script("m-lead", Says(calls=calls), Says("done"))
    provider.limit("m-apart", 2, Refuses(429), seconds=0.5)
    provider.script("m-apart", Answer(Says("well"), repeat=True))
    async with stage(tmp_path, team()) as at:
        run = at.start("lead")
        assert (await run.result()).content == "done"
        assert {status for _, status in assert_ended(at, run)} == {"completed"}
