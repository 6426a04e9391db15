"""What real hosts put into the history, and what is there after they have died."""

import asyncio
import json
import os
import signal
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.hosting.history.database import history_file
from axe_lsp.hosting.history.queries import Wanted, tree_events
from axe_lsp.hosting.protocol import Warned
from axe_lsp.hosting.supervisor.archive import Archive
from axe_lsp.hosting.supervisor.orders import News, Run
from axe_lsp.runtime.errors import RunError
from support.hosts import MAIN, Stage, agent, stage
from support.past import Tale, history
from support.scripted_provider import PATIENCE, Answer, Hold, Says, ScriptedProvider, calls_agent
from support.secrets import OPENAI_KEY

TEAM = {"lead": agent("lead", "left", "right"), "left": agent("left"), "right": agent("right")}
BOTH = Says("I ask both.", calls=[calls_agent("left", "l"), calls_agent("right", "r")])

STUCK = """
from axe_lsp.hosting.history.writer import HistoryWriter; import threading
HistoryWriter._store = lambda self, entries: threading.Event().wait()
"""
"""The thread of the history stands still, as on a disk that hangs."""


def script(provider: ScriptedProvider) -> None:
    provider.script("m-lead", BOTH, Says("Both are done."))
    provider.script("m-left", Says("left is done"))
    provider.script("m-right", Says("right is done"))


async def remembered(at: Stage, run: Run) -> Sequence[tuple[str, Mapping[str, Any]]]:
    return [(event.method, event.params) for event in await at.runs.archive.events(run.id)]


async def statuses(at: Stage) -> list[str]:
    return [run["status"] for run in await at.runs.archive.runs(Wanted())]


class Warnings:
    """What users are told that does not end their runs."""

    def __init__(self, at: Stage) -> None:
        self.texts: list[str] = []
        self.came = asyncio.Event()
        at.runs.subscribe(self._hear)

    def _hear(self, news: News) -> None:
        if isinstance(news, Warned):
            self.texts.append(news.text)
            self.came.set()


def put_in_the_way() -> None:
    Path(os.environ["XDG_STATE_HOME"]).write_text("a file instead of a folder")


def put_out_of_the_way() -> None:
    Path(os.environ["XDG_STATE_HOME"]).unlink()


@pytest.mark.req("002-16")
async def test_every_event_is_remembered_as_it_was_told(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    script(provider)
    async with stage(tmp_path, TEAM) as at:
        run = at.start("lead", "go", keep_days=3)
        await run.result()

        assert await remembered(at, run) == at.of(run.id)
        (told,) = await at.runs.archive.runs(Wanted())

    assert (told["runId"], told["task"], told["status"]) == (run.id, "go", "completed")
    assert told["workspace"] == at.workplace.workspace
    begin, *_, end = at.of(run.id)
    children = {params["runId"]: params["parentRunId"] for _, params in at.of(run.id)[4:6]}
    assert set(children.values()) == {run.id}
    assert (told["began"], told["ended"]) == (begin[1]["time"], end[1]["time"])


@pytest.mark.req("002-16", "002-21")
async def test_a_run_whose_host_is_killed_keeps_all_that_anybody_has_seen(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", BOTH)
    provider.script("m-left", Answer(Says("never"), hold=hold))
    provider.script("m-right", Says("right is done"))
    async with stage(tmp_path, TEAM) as at:
        run = at.start("lead", "go", keep_days=3)
        await hold.arrived()
        await at.event("axe/agent", agent="right", kind="end")
        os.kill(at.hosts()[0], signal.SIGKILL)
        with pytest.raises(RunError):
            await run.result()

        assert await remembered(at, run) == at.of(run.id)
        assert await statuses(at) == ["killed"]
        (left,) = await at.runs.archive.runs(Wanted(agent="left"))
        (right,) = await at.runs.archive.runs(Wanted(agent="right"))
        assert (left["status"], right["status"]) == ("killed", "completed")


async def test_a_host_that_can_not_write_any_more_loses_nothing_that_was_seen(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold))
    async with stage(tmp_path, TEAM, STUCK + MAIN) as at:
        run = at.start("lead", "go", keep_days=3)
        await hold.arrived()
        await at.event("axe/turn", kind="begin")
        os.kill(at.hosts()[0], signal.SIGKILL)
        with pytest.raises(RunError):
            await run.result()

        assert await remembered(at, run) == at.of(run.id)
        assert await statuses(at) == ["killed"]


async def test_a_host_that_dies_with_runs_that_are_over_but_not_written_loses_nothing(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axe_lsp.hosting.supervisor.archive._PATIENCE", PATIENCE)
    script(provider)
    async with stage(tmp_path, TEAM, STUCK + MAIN) as at:
        run = at.start("lead", "go", keep_days=3)
        await run.result()
        os.kill(at.hosts()[0], signal.SIGKILL)

        assert await remembered(at, run) == at.of(run.id)
        assert await statuses(at) == ["completed"]


async def test_who_reads_waits_for_no_event_that_is_written_before_it_is_told(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axe_lsp.hosting.supervisor.archive._PATIENCE", 10 * PATIENCE)
    program = (
        "from axe_lsp.hosting.history import writer\n"
        "def keep(self, event, origin):\n"
        "    self._store([writer._Entry(event, origin)])\n"
        "    self._stored(event.params['rootRunId'], event.params['seq'])\n"
        "writer.HistoryWriter.keep_event = keep\n" + MAIN
    )
    script(provider)
    async with stage(tmp_path, TEAM, program) as at:
        run = at.start("lead", "go", keep_days=3)
        await run.result()

        assert await asyncio.wait_for(remembered(at, run), PATIENCE) == at.of(run.id)


async def test_pieces_of_a_text_are_kept_until_the_text_is_there(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold(chunk=2)
    provider.script("m-lead", Answer(Says("It is done."), hold=hold))
    async with stage(tmp_path, {"lead": agent("lead")}) as at:
        run = at.start("lead", keep_days=3, stream=True)
        await at.event("axe/text")
        meanwhile = await remembered(at, run)
        hold.release()
        await run.result()
        afterwards = await remembered(at, run)

    assert "axe/text" in [method for method, _ in meanwhile]
    assert afterwards == [event for event in at.of(run.id) if event[0] != "axe/text"]


async def test_pieces_of_a_thought_become_one_when_the_turn_is_over(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says("It is done.", thinking="Is it done?"))
    lead = agent("lead").replace("ollama/", "anthropic/")
    async with stage(tmp_path, {"lead": lead}) as at:
        run = at.start("lead", keep_days=3, stream=True)
        await run.result()
        afterwards = await remembered(at, run)
        told = at.of(run.id)

    pieces = [params["delta"] for method, params in told if method == "axe/thought"]
    assert pieces == ["Is ", "it ", "done?"]
    (thought,) = [params for method, params in afterwards if method == "axe/thought"]
    assert thought["delta"] == "Is it done?"
    assert [params["text"] for method, params in afterwards if "text" in params] == ["It is done."]


def test_thoughts_of_a_request_that_is_sent_again_are_forgotten(tmp_path: Path) -> None:
    retry = {"kind": "retry", "turn": 1, "attempt": 1, "maxAttempts": 2, "category": "server"}
    tale = Tale("aa").begin("lead").thought("Hm").thought(", no")
    tale.tell("axe/turn", **retry, message="boom", waitMs=1).thought("I ").thought("see").turn("A")
    with history(tmp_path / "history.db", tale) as connection:
        found = [event.params for event in tree_events(connection, "aa")]

    thoughts = [params for params in found if "delta" in params]
    assert [(params["seq"], params["delta"]) for params in thoughts] == [(5, "I see")]


async def test_a_child_in_a_process_of_its_own_is_remembered_like_any_other(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    script(provider)
    apart = {"left": agent("left") + '[isolation]\nmode = "process"\n'}
    async with stage(tmp_path, TEAM | apart) as at:
        run = at.start("lead", "go", keep_days=3)
        await run.result()

        assert await remembered(at, run) == at.of(run.id)
        (left,) = await at.runs.archive.runs(Wanted(agent="left"))

    assert (left["status"], left["parentRunId"]) == ("completed", run.id)


async def test_what_is_not_to_be_remembered_leaves_nothing(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    script(provider)
    async with stage(tmp_path, TEAM) as at:
        await at.start("lead", keep_days=0).result()

    assert not history_file(os.environ).exists()


async def test_no_key_gets_into_the_history(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "a-plain-word-that-is-a-key")
    provider.script("m-left", Says("Your keys: a-plain-word-that-is-a-key and " + OPENAI_KEY))
    async with stage(tmp_path, TEAM) as at:
        run = at.start("left", f"What is {OPENAI_KEY} good for?", keep_days=3)
        await run.result()
        told = json.dumps(await remembered(at, run))

    assert "Your keys: [redacted] and [redacted]" in told
    assert "What is [redacted] good for?" in told
    files = history_file(os.environ).parent.glob("history.db*")
    everything = b"".join(file.read_bytes() for file in files)
    assert b"Your keys" in everything
    assert OPENAI_KEY.encode() not in everything
    assert b"a-plain-word" not in everything


async def test_a_full_disk_costs_the_memory_and_one_warning_but_no_run(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    program = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n" + MAIN
    hold = Hold()
    provider.script("m-left", Answer(Says("left is done"), hold=hold))
    script(provider)
    async with stage(tmp_path, TEAM, program) as at:
        warnings = Warnings(at)
        run = at.start("left", "go", keep_days=3)
        await asyncio.wait_for(warnings.came.wait(), PATIENCE)
        hold.release()
        assert (await run.result()).content == "left is done"
        assert (await at.start("lead", "go", keep_days=3).result()).content == "Both are done."
        assert await at.runs.archive.runs(Wanted()) == []

    (warning,) = warnings.texts
    assert "this run is not stored" in warning
    assert "disk is full" in warning


async def test_a_disk_that_gets_full_in_the_middle_of_a_run_keeps_how_it_ended(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    limit = 150_000
    program = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
    hold = Hold()
    provider.script("m-lead", BOTH, Answer(Says("Both are done."), hold=hold))
    provider.script("m-left", Says("x" * 2 * limit))
    provider.script("m-right", Says("right is done"))
    async with stage(tmp_path, TEAM, program + MAIN) as at:
        run = at.start("lead", "go", keep_days=3)
        warnings = Warnings(at)
        await asyncio.wait_for(warnings.came.wait(), PATIENCE)
        hold.release()
        assert (await run.result()).content == "Both are done."

        assert await statuses(at) == ["completed"]
        told = await remembered(at, run)

    assert len(warnings.texts) == 1
    assert told == [event for event in at.of(run.id) if event in told]
    assert told[0] == at.of(run.id)[0]
    assert told[-1] == at.of(run.id)[-1]
    assert len(told) < len(at.of(run.id))


async def test_a_bug_costs_some_events_and_nothing_after_them(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    program = (
        "from axe_lsp.hosting.history import writer\n"
        "class Buggy(writer.Bookkeeping):\n"
        "    def add(self, batch, event, origin):\n"
        "        if event.params.get('task') == 'bug': raise ZeroDivisionError\n"
        "        super().add(batch, event, origin)\n"
        "writer.Bookkeeping = Buggy\n"
    )
    provider.script("m-right", Says("one"), Says("two"))
    async with stage(tmp_path, TEAM, program + MAIN) as at:
        await at.start("right", "bug", keep_days=3).result()
        await statuses(at)  # Which waits until all that was told is done with.
        run = at.start("right", "go", keep_days=3)
        await run.result()

        assert await remembered(at, run) == at.of(run.id)


async def test_a_place_that_can_be_written_again_gets_all_that_happened(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    put_in_the_way()
    hold = Hold()
    provider.script("m-left", Answer(Says("done"), hold=hold))
    async with stage(tmp_path, TEAM) as at:
        warnings = Warnings(at)
        run = at.start("left", "go", keep_days=3)
        await hold.arrived()
        await asyncio.wait_for(warnings.came.wait(), PATIENCE)
        put_out_of_the_way()
        hold.release()
        await run.result()

        (told,) = await at.runs.archive.runs(Wanted())
        assert await remembered(at, run) == at.of(run.id)

    assert (told["runId"], told["task"], told["status"]) == (run.id, "go", "completed")


async def test_what_could_not_be_written_is_tried_again_though_nothing_more_happens(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    program = "from axe_lsp.hosting.history import writer; writer._AGAIN = 0.02\n" + MAIN
    put_in_the_way()
    provider.script("m-left", Says("done"))
    async with stage(tmp_path, TEAM, program) as at:
        run = at.start("left", "go", keep_days=3)
        await run.result()
        put_out_of_the_way()

        seen = len(at.of(run.id))
        deadline = time.monotonic() + PATIENCE
        while await statuses(at) != ["completed"] or len(await remembered(at, run)) < seen:
            assert time.monotonic() < deadline, "they were not written"
        assert await remembered(at, run) == at.of(run.id)


async def test_a_history_that_is_locked_for_a_while_is_written_afterwards(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    script(provider)
    script(provider)
    async with stage(tmp_path, TEAM) as at:
        await at.start("lead", "first", keep_days=3).result()
        await at.runs.archive.runs(Wanted())
        with closing(sqlite3.connect(history_file(os.environ))) as other:
            other.execute("BEGIN IMMEDIATE")
            run = at.start("lead", "second", keep_days=3)
            assert (await run.result()).content == "Both are done."
            other.execute("ROLLBACK")

        assert await remembered(at, run) == at.of(run.id)


async def test_a_server_knows_of_the_runs_of_all_others(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    script(provider)
    async with stage(tmp_path, TEAM) as at:
        await at.start("lead", "go", keep_days=3).result()

    other = Archive(lambda _run, _text: None)

    assert [run["task"] for run in await other.runs(Wanted())] == ["go"]
