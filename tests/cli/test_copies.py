"""Agents in copies at the command line: undo, and what a killed run leaves."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing

import pytest

from support.answers import Call, Says, calls_agent
from support.command_line import Home
from support.repositories import Repository
from support.scripted_provider import Answer, Hold, ScriptedProvider

LEAD = 'name = "lead"\nmodel = "anthropic/m-lead"\nsub_agents = ["helper"]\n'
HELPER = (
    'name = "helper"\nmodel = "anthropic/m"\ntools = ["write_file", "run_command"]\n'
    '[isolation]\nmode = "copy"\n'
)


@pytest.fixture
def repository(home: Home) -> Repository:
    home.add({"lead": LEAD, "helper": HELPER})
    return Repository(home.work, {"a.txt": "a\n", "b.txt": "b\n"})


def writes(path: str, content: str) -> Says:
    return Says(calls=[Call("write_file", {"path": path, "content": content})])


def test_applied_changes_are_undone(
    home: Home, provider: ScriptedProvider, repository: Repository
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    changes = Call("run_command", {"command": "rm b.txt; echo changed > a.txt; echo n > new.txt"})
    provider.script("m", Says(calls=[changes]), Says("helped"))
    code, out, err = home.call("run", "lead", "-p", "go", "--yes", "-v")
    assert (code, out) == (0, "done")
    changed = "Its changes were applied: M a.txt, D b.txt, A new.txt"
    assert f"[copy] helper: It worked in a copy. {changed}\n" in err
    assert (home.work / "a.txt").read_text() == "changed\n"
    assert not (home.work / "b.txt").exists()

    with closing(sqlite3.connect(home.history)) as history:
        (run_id,) = history.execute("SELECT run_id FROM runs WHERE depth = 0").fetchone()
    assert changed in home.call("history", "show", run_id)[1]
    code, out, _ = home.call("undo", run_id, "--yes")
    assert (code, out.splitlines()[-1]) == (0, "Put back: 3 files.")
    assert (home.work / "a.txt").read_text() == "a\n"
    assert (home.work / "b.txt").read_text() == "b\n"
    assert not (home.work / "new.txt").exists()


def test_resumed_run_finds_the_files_of_its_copy(
    home: Home, provider: ScriptedProvider, repository: Repository
) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    provider.script(
        "m",
        writes("a.txt", "before\n"),
        Answer(Says("never"), hold=hold),
        writes("b.txt", "after\n"),
        Says("helped"),
    )
    before = repository.state
    process = home.start("run", "lead", "-p", "go", "--yes")
    hold.wait_until_arrived()
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert (home.work / "a.txt").read_text() == "a\n"

    code, out, err = home.call("resume", "--yes")
    assert (code, out) == (0, "done"), err

    assert (home.work / "a.txt").read_text() == "before\n"
    assert (home.work / "b.txt").read_text() == "after\n"
    assert repository.refs == []
    assert repository.state == before
