"""Runs in a real host: followed, cancelled, and ended whatever happens to the host."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from axe_lsp.hosting.messages import Warned, Workplace
from axe_lsp.hosting.orders import Run
from axe_lsp.hosting.supervisor import Patience, Runs
from axe_lsp.runtime.errors import ExitCode, RunCancelledError, RunError
from axe_lsp.runtime.runs import RunRequest
from support.hosts import UNHURRIED, Stage, agent, gone, stage
from support.scripted_provider import (
    Answer,
    Hold,
    Received,
    Says,
    ScriptedProvider,
    calls_agent,
)

TEAM = {"lead": agent("lead", "left", "right"), "left": agent("left"), "right": agent("right")}
BOTH = Says("I ask both.", calls=[calls_agent("left", "l"), calls_agent("right", "r")])


async def both_at_work(at: Stage, provider: ScriptedProvider) -> Run:
    """A run whose two children wait for answers that never come."""
    holds = {name: Hold() for name in ("left", "right")}
    provider.script("m-lead", BOTH)
    for name, hold in holds.items():
        provider.script(f"m-{name}", Answer(Says("never"), hold=hold))
    run = at.start("lead", "go")
    for hold in holds.values():
        await hold.arrived()
    for name in holds:
        await at.event("axe/turn", agent=name, kind="begin")
    return run


def assert_gapless(at: Stage, run: Run) -> None:
    numbers = [params["seq"] for _, params in at.of(run.id)]
    assert numbers == list(range(1, len(numbers) + 1))


def ends(at: Stage, run: Run) -> list[tuple[str, str]]:
    return [
        (params["agent"], params["status"])
        for method, params in at.of(run.id)
        if method == "axe/agent" and params["kind"] == "end"
    ]


async def test_a_run_is_told_in_order_and_then_answered(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", BOTH, Says("Both are done."))
    provider.script("m-left", Says("left is done"))
    provider.script("m-right", Says("right is done"))
    async with stage(tmp_path, TEAM) as at:
        run = at.start("lead", "go")

        result = await run.result()

        assert (result.run_id, result.content, result.turns) == (run.id, "Both are done.", 2)
        assert_gapless(at, run)
        begin, *_, last = at.of(run.id)
        assert begin[1]["task"] == "go"
        assert last[1]["status"] == "completed"
        assert sorted(ends(at, run)[:2]) == [("left", "completed"), ("right", "completed")]


@pytest.mark.req("002-21")
async def test_a_killed_host_ends_its_runs_and_the_next_run_gets_a_new_one(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = await both_at_work(at, provider)
        os.kill(at.hosts()[0], signal.SIGKILL)

        with pytest.raises(RunError, match=r"signal 9 \(Killed\).*Run the agent again") as failure:
            await run.result()

        assert sorted(ends(at, run)[:2]) == [("left", "killed"), ("right", "killed")]
        assert ends(at, run)[2:] == [("lead", "killed")]
        assert_gapless(at, run)
        assert "signal 9" in at.of(run.id)[-1][1]["error"]
        partial = failure.value.partial
        assert failure.value.kind == "agent"
        assert partial is not None
        assert (partial.status, partial.content, partial.turns) == ("killed", "I ask both.", 1)
        assert (partial.input_tokens, partial.output_tokens) == (10, 5)

        provider.script("m-left", Says("again"))
        assert (await at.start("left").result()).content == "again"
        assert len(at.hosts()) == 2


async def test_a_killed_host_leaves_nothing_that_was_remembered_for_its_runs(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    memory = "[memory]\nenabled = true\nscope = 'run'\n"
    agents = {"lead": agent("lead", "left"), "left": agent("left") + memory}
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("left", "l")]), Answer(Says("x"), hold=hold))
    provider.script("m-left", Says("remembered"))
    async with stage(tmp_path, agents) as at:
        run = at.start("lead")
        await hold.arrived()
        (kept,) = (tmp_path / "cache" / "axe" / "memory").iterdir()
        assert "remembered" in kept.read_text()
        os.kill(at.hosts()[0], signal.SIGKILL)
        with pytest.raises(RunError, match="signal 9"):
            await run.result()
        assert not kept.exists()


async def test_a_host_that_hangs_is_noticed_and_replaced(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    patience = replace(UNHURRIED, heartbeat=0.1, silence=3, die=0.2)
    async with stage(tmp_path, TEAM, patience=patience) as at:
        run = await both_at_work(at, provider)
        os.kill(at.hosts()[0], signal.SIGSTOP)

        with pytest.raises(RunError, match="did not answer for 3 s and was ended by signal 9"):
            await run.result()

        assert len(ends(at, run)) == 3
        provider.script("m-left", Says("again"))
        assert (await at.start("left").result()).content == "again"


@pytest.mark.req("001-11.2", "001-5.5f")
async def test_cancelling_a_root_ends_its_tree_within_a_second(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = await both_at_work(at, provider)
        asked = time.monotonic()

        assert at.runs.cancel(run.id)
        with pytest.raises(RunCancelledError) as failure:
            await run.result()

        assert time.monotonic() - asked < 1
        assert [status for _, status in ends(at, run)] == ["cancelled"] * 3
        assert_gapless(at, run)
        assert failure.value.partial is not None
        assert not at.runs.cancel(run.id)


@pytest.mark.req("001-13.1", "001-13.3")
async def test_a_cancelled_child_is_an_error_text_for_its_parent(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        hold = Hold()
        provider.script("m-lead", Says(calls=[calls_agent("left", "l")]), Says("I go on."))
        provider.script("m-left", Answer(Says("never"), hold=hold))
        run = at.start("lead")
        await hold.arrived()
        child = await at.event("axe/agent", agent="left", kind="begin")

        assert at.runs.cancel(child["runId"])

        assert (await run.result()).content == "I go on."
        assert ends(at, run) == [("left", "cancelled"), ("lead", "completed")]
        said = str(provider.asked("m-lead")[1].body["messages"])
        assert 'sub-agent "left" failed - cancelled' in said.replace('\\"', '"')


async def test_a_run_is_cancelled_before_it_begins(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = at.start("left")
        at.runs.cancel(run.id)

        with pytest.raises(RunCancelledError):
            await run.result()

        assert provider.requests == []


async def test_a_hanging_host_does_not_hold_up_a_cancellation(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM, patience=replace(Patience(), heartbeat=60)) as at:
        run = await both_at_work(at, provider)
        os.kill(at.hosts()[0], signal.SIGSTOP)
        asked = time.monotonic()

        at.runs.cancel(run.id)
        with pytest.raises(RunError, match="did not react to the cancellation"):
            await run.result()

        assert time.monotonic() - asked < 1.5  # 0.9 by itself; the machine may be busy.
        assert_gapless(at, run)


DEAF = """
from axe_lsp.hosting import host
host.Host._cancel = lambda self, run_id: None
host.main()
"""


async def test_a_run_that_ignores_its_cancellation_is_given_up(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    patience = replace(UNHURRIED, cancel=1)
    async with stage(tmp_path, TEAM, DEAF, patience) as at:
        hold = Hold()
        provider.script("m-left", Answer(Says("too late"), hold=hold), Says("another"))
        run = at.start("left")
        await at.event("axe/turn", kind="begin")
        await hold.arrived()
        at.runs.cancel(run.id)

        with pytest.raises(RunCancelledError):
            await run.result()

        assert ends(at, run) == [("left", "cancelled")]
        heard = len(at.heard)
        hold.release()
        other = at.start("left")
        assert (await other.result()).content == "another"
        assert len(at.of(run.id)) == heard  # What the run still did is of no interest.
        assert len(at.hosts()) == 1


async def test_two_roots_at_once_count_for_themselves(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        holds = [Hold(), Hold()]
        provider.script("m-left", Answer(Says("one"), hold=holds[0]))
        provider.script("m-right", Answer(Says("two"), hold=holds[1]))
        one, two = at.start("left"), at.start("right")
        for hold in holds:
            await hold.arrived()
            hold.release()

        results = await asyncio.gather(one.result(), two.result())

        assert [result.content for result in results] == ["one", "two"]
        assert_gapless(at, one)
        assert_gapless(at, two)
        assert len(at.hosts()) == 1


async def test_runs_beyond_the_limit_wait_and_begin_in_their_order(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    holds = [Hold() for _ in range(5)]
    for number, hold in enumerate(holds):
        provider.script("m-left", Answer(Says("done"), match=f"run {number}", hold=hold))
    async with stage(tmp_path, TEAM, limit=lambda: 2) as at:
        runs = [at.start("left", f"run {number}") for number in range(5)]
        assert [run.waits for run in runs] == [False, False, True, True, True]
        await holds[0].arrived()
        await holds[1].arrived()
        assert at.runs.cancel(runs[3].id)
        with pytest.raises(RunCancelledError):
            await runs[3].result()
        assert [run.waits for run in runs] == [False, False, True, False, True]

        holds[1].release()
        await runs[1].result()
        await holds[2].arrived()
        assert runs[4].waits
        for hold in holds:
            hold.release()

        assert [(await runs[number].result()).content for number in (0, 2, 4)] == ["done"] * 3
        assert provider.max_in_flight == 2
        assert [body_of(request) for request in provider.requests[2:]] == ["run 2", "run 4"]


def body_of(request: Received) -> str:
    return str(request.body["messages"][-1]["content"])


async def test_a_limit_that_is_raised_lets_those_who_wait_begin(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("first"), hold=hold), Says("second"))
    limit = 1
    async with stage(tmp_path, TEAM, limit=lambda: limit) as at:
        first = at.start("left")
        await hold.arrived()
        second = at.start("left")
        limit = 0
        assert second.waits

        at.runs.admit()

        assert (await second.result()).content == "second"
        hold.release()
        assert (await first.result()).content == "first"


async def test_who_waits_gets_a_new_host_if_the_old_one_dies(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold), Says("well"))
    async with stage(tmp_path, TEAM, limit=lambda: 1) as at:
        first, second = at.start("left"), at.start("left")
        await hold.arrived()

        os.kill(at.hosts()[0], signal.SIGKILL)

        with pytest.raises(RunError, match="signal 9"):
            await first.result()
        assert (await second.result()).content == "well"


async def test_who_waits_when_the_server_ends_is_told(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold))
    async with stage(tmp_path, TEAM, limit=lambda: 1) as at:
        runs = [at.start("left") for _ in range(3)]
        await hold.arrived()

        await at.runs.close()

        for run in runs:
            with pytest.raises(RunCancelledError):
                await run.result()
        assert len(provider.requests) == 1


async def test_many_quick_events_keep_their_order(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    text = " ".join(map(str, range(1_000)))
    provider.script("m-left", Says(text))
    async with stage(tmp_path, TEAM) as at:
        run = at.start("left", stream=True)

        result = await run.result()

        deltas = [params["delta"] for method, params in at.of(run.id) if method == "axe/text"]
        assert len(deltas) == 1_000
        assert "".join(deltas) == text == result.content
        assert_gapless(at, run)


async def test_ten_megabytes_of_an_answer_arrive(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("ü" * 5_000_000))
    async with stage(tmp_path, TEAM) as at:
        result = await at.start("left").result()

        assert result.content == "ü" * 5_000_000


async def test_an_agent_that_is_missing_is_a_config_error(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = at.start("nobody")

        with pytest.raises(RunError, match="agent config not found: nobody") as failure:
            await run.result()

        assert (failure.value.kind, failure.value.exit_code) == ("config", ExitCode.CONFIG)
        assert failure.value.run_id == run.id


BUGGY = """
from axe_lsp.hosting import host, making
engine_for = making.Workshop.engine_for
def engine_or_bug(self, start):
    return engine_for(self, start) if start.request.agent != "right" else 1 / 0
making.Workshop.engine_for = engine_or_bug
host.main()
"""


async def test_a_bug_in_one_run_is_no_matter_of_the_others(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM, BUGGY) as at:
        hold = Hold()
        provider.script("m-left", Answer(Says("well"), hold=hold))
        good = at.start("left")
        await hold.arrived()

        with pytest.raises(RunError, match="internal error: ZeroDivisionError"):
            await at.start("right").result()
        hold.release()

        assert (await good.result()).content == "well"


async def test_a_subscriber_that_fails_does_not_break_the_others(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.script("m-left", Says("well"))
    runs = Runs(patience=UNHURRIED)
    heard: list[object] = []

    def fail(_: object) -> None:
        raise ValueError("a bug of a subscriber")

    async with stage(tmp_path, TEAM) as at:
        runs = at.runs
        run = at.start("left")
        runs.subscribe(fail, run.id)
        runs.subscribe(heard.append, run.id)

        assert (await run.result()).content == "well"

        assert heard == [event for event in at.heard if event.params["rootRunId"] == run.id]
        assert "a bug of a subscriber" in caplog.text


async def test_a_subscription_is_for_one_run_and_can_be_ended(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("well"), Says("well"))
    one: list[object] = []
    none: list[object] = []
    async with stage(tmp_path, TEAM) as at:
        run, other = at.start("left"), at.start("left")
        at.runs.subscribe(one.append, run.id)
        unsubscribe = at.runs.subscribe(none.append, run.id)
        unsubscribe()
        await asyncio.gather(run.result(), other.result())

        assert one == [event for event in at.heard if event.params["rootRunId"] == run.id]
        assert none == []


async def test_what_a_person_should_know_reaches_the_subscribers(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("well"))
    memory = '[memory]\nenabled = true\nmax_entries = 1\npath = "memory.md"\n'
    async with stage(tmp_path, {"left": agent("left") + memory}) as at:
        (Path(at.workplace.workspace) / "memory.md").write_text("## one\n## two\n")
        news: list[object] = []
        run = at.start("left")
        at.runs.subscribe(news.append, run.id)
        await run.result()

        warnings = [each.text for each in news if isinstance(each, Warned)]
        assert len(warnings) == 1
        assert "left" in warnings[0]


async def test_the_open_buffer_runs_and_not_the_file(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-buffer", Says("from the buffer"))
    async with stage(tmp_path, TEAM) as at:
        file = Path(at.workplace.workspace) / "axe" / "agents" / "left.toml"
        buffers = {str(file): 'name = "left"\nmodel = "ollama/m-buffer"\n'}
        workplace = replace(at.workplace, open_buffers=buffers)

        run = at.runs.start(RunRequest("left"), workplace)

        assert (await run.result()).content == "from the buffer"


async def test_agents_of_the_editors_folders_are_found_in_their_order(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-first", Says("from the first folder"))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "far.toml").write_text(f'name = "far"\nmodel = "ollama/m-{name}"\n')
    async with stage(tmp_path, TEAM) as at:
        folders = (str(tmp_path / "first"), str(tmp_path / "second"))
        workplace = replace(at.workplace, folders=folders)

        run = at.runs.start(RunRequest("far"), workplace)

        assert (await run.result()).content == "from the first folder"


async def test_a_preview_shows_everything_and_sends_nothing(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, {"left": agent("left", files=["*.md"])}) as at:
        (Path(at.workplace.workspace) / "notes.md").write_text("twelve bytes")

        preview = await at.runs.preview(RunRequest("left", "go"), at.workplace)

        assert preview["model"] == "ollama/m-left"
        assert preview["files"] == [{"path": "notes.md", "bytes": 12}]
        assert preview["userMessage"] == "go"
        assert preview["text"].startswith("=== Dry Run ===")
        assert provider.requests == []
        assert at.heard == []


async def test_a_preview_of_a_broken_agent_says_why(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, {"left": "name = 1\n"}) as at:
        with pytest.raises(RunError) as failure:
            await at.runs.preview(RunRequest("left"), at.workplace)

        assert failure.value.kind == "config"


async def test_closing_ends_all_runs_and_the_host(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = await both_at_work(at, provider)

        await at.runs.close()

        with pytest.raises(RunCancelledError):
            await run.result()
        assert [status for _, status in ends(at, run)] == ["cancelled"] * 3
        await gone(at.hosts()[0])
        with pytest.raises(RunError, match="shutting down"):
            at.start("lead")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["/no/such/python"], "could not be started .*no/such/python"),
        (["python", "-c", "import os; os.write(2, b'no memory\\n'); os._exit(3)"], "3: no memory"),
    ],
)
async def test_a_host_that_does_not_come_up_fails_the_run_with_the_reason(
    command: Sequence[str], says: str
) -> None:
    runs = Runs(command, UNHURRIED)

    with pytest.raises(RunError, match=says):
        await runs.start(RunRequest("any"), Workplace("/")).result()
    await runs.close()


async def test_what_a_host_writes_to_its_errors_is_logged_without_secrets(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    program = "import os, sys; sys.exit('the key is ' + os.environ['ANTHROPIC_API_KEY'])"
    async with stage(tmp_path, TEAM, program) as at:
        with pytest.raises(RunError, match=r"status 1: the key is \[redacted\]"):
            await at.start("left").result()

    assert "the key is [redacted]" in caplog.text
    assert provider.environment["ANTHROPIC_API_KEY"] not in caplog.text


async def test_a_line_that_makes_no_sense_is_logged_and_survived(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.script("m-left", Says("well"))
    garbage = 'import os; os.write(1, b\'\\xff garbage\\n{"type":"event","params":{}}\\n\')\n'
    async with stage(
        tmp_path, TEAM, garbage + "from axe_lsp.hosting import host; host.main()"
    ) as at:
        assert (await at.start("left").result()).content == "well"

    assert "garbage" in caplog.text


NOISY = """
import os
from axe_lsp.hosting import host
hear = host.Host.hear
def noisy(self, line):
    print("a stray print")
    os.write(1, b"a stray write\\n")
    os.system("echo a stray echo; cat")
    hear(self, line)
host.Host.hear = noisy
host.main()
"""


async def test_what_is_printed_in_a_host_does_not_get_between_its_messages(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    provider.script("m-left", Says("well"))
    async with stage(tmp_path, TEAM, NOISY) as at:
        assert (await at.start("left").result()).content == "well"

    for stray in ("a stray print", "a stray write", "a stray echo"):
        assert f"run host: {stray}" in caplog.text
    assert "makes no sense" not in caplog.text


async def test_a_host_imports_nothing_from_the_workspace(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.script("m-left", Says("well"))
    for module in ("json", "queue", "uuid", "aiohttp"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('run from the workspace')")
    async with stage(tmp_path, TEAM) as at:
        monkeypatch.chdir(tmp_path)
        runs = Runs(patience=UNHURRIED)
        result = await runs.start(RunRequest("left"), at.workplace).result()
        await runs.close()

        assert result.content == "well"
