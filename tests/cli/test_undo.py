"""`axe-lsp undo`: shows what would change, asks, and puts files back."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from support.answers import Call, Says, calls_agent
from support.command_line import Home
from support.scripted_provider import ScriptedProvider

LEAD = 'name = "lead"\nmodel = "anthropic/m"\ntools = ["write_file", "run_command"]\nsub_agents = ["helper"]\n'
HELPER = 'name = "helper"\nmodel = "anthropic/h"\ntools = ["edit_file"]\n'


@pytest.fixture
def changed(home: Home, provider: ScriptedProvider) -> str:
    """Return a run that has changed `a.txt` twice, by two agents, and made `new.txt`; its id."""
    home.add({"lead": LEAD, "helper": HELPER})
    (home.work / "a.txt").write_text("one\ntwo\n")
    writes = Call("write_file", {"path": "a.txt", "content": "one\n2\n"})
    makes = Call("write_file", {"path": "new.txt", "content": "new\n"})
    provider.script(
        "m",
        Says(calls=[writes, makes]),
        Says(calls=[calls_agent("helper", "go on")]),
        Says(calls=[Call("run_command", {"command": "true"})]),
        Says("done"),
    )
    edit = {"path": "a.txt", "old_string": "one", "new_string": "1"}
    provider.script("h", Says(calls=[Call("edit_file", edit)]), Says("edited"))
    assert home.call("run", "lead", "-p", "go", "--yes")[:2] == (0, "done")
    assert (home.work / "a.txt").read_text() == "1\n2\n"
    return root_of(home)


def root_of(home: Home) -> str:
    """Return the id of the only run."""
    with closing(sqlite3.connect(home.history)) as history:
        (run_id,) = history.execute("SELECT run_id FROM runs WHERE depth = 0").fetchone()
    return str(run_id)


def test_a_dry_run_shows_the_difference_and_changes_nothing(home: Home, changed: str) -> None:
    code, out, _ = home.call("undo", changed[:8], "--dry-run")
    assert code == 0
    assert "-1\n-2\n+one\n+two" in out
    assert "--- new.txt\n+++ /dev/null" in out
    assert "The effects of commands are not known" in out
    assert (home.work / "a.txt").read_text() == "1\n2\n"


def test_changes_of_an_isolated_agent_are_undone(home: Home, provider: ScriptedProvider) -> None:
    home.add({"lead": LEAD, "helper": HELPER + '[isolation]\nmode = "process"\n'})
    (home.work / "a.txt").write_text("one\n")
    edit = {"path": "a.txt", "old_string": "one", "new_string": "1"}
    provider.script("m", Says(calls=[calls_agent("helper", "go on")]), Says("done"))
    provider.script("h", Says(calls=[Call("edit_file", edit)]), Says("edited"))
    assert home.call("run", "lead", "-p", "go", "--yes")[:2] == (0, "done")
    assert (home.work / "a.txt").read_text() == "1\n"

    assert home.call("undo", root_of(home), "--yes")[0] == 0
    assert (home.work / "a.txt").read_text() == "one\n"


def test_files_are_put_back_without_a_question_only_if_that_is_said(
    home: Home, changed: str
) -> None:
    code, _, error = home.call("undo", changed)
    assert (code, "--yes puts the files back without a question" in error) == (2, True)
    assert (home.work / "a.txt").read_text() == "1\n2\n"

    code, out, _ = home.call("undo", changed, "--yes")
    assert (code, out.splitlines()[-1]) == (0, "Put back: 2 files.")
    assert (home.work / "a.txt").read_text() == "one\ntwo\n"
    assert not (home.work / "new.txt").exists()
    assert "No file is different" in home.call("undo", changed, "--yes")[1]


def test_a_file_that_has_changed_since_is_named_and_left(home: Home, changed: str) -> None:
    (home.work / "a.txt").write_text("mine\n")
    code, out, _ = home.call("undo", changed, "--yes")
    assert code == 1
    assert "left a.txt: it has changed since" in out
    assert (home.work / "a.txt").read_text() == "mine\n"
    assert not (home.work / "new.txt").exists()


def test_a_run_that_is_not_stored_is_refused(home: Home) -> None:
    code, _, error = home.call("undo", "0123")
    assert code == 2
    assert "no run '0123' is stored" in error


_KILLED_AT = """
import os, signal, sys
from axe_lsp.cli.main import main

left = int(sys.argv[1])

def die(event, arguments):
    global left
    if event in ("open", "os.rename") and any(len(str(each)) == 33 for each in arguments):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
sys.exit(main(sys.argv[2:]))
"""
"""A program that is killed before a step that has the name of a temporary file."""


def test_killed_undo_leaves_no_temporary_file_behind_the_next_one(home: Home, changed: str) -> None:
    users = ".0123456789abcdef0123456789abcdef"
    (home.work / users).write_text("the user's")
    leftovers = set()
    for step in range(10):
        command = [sys.executable, "-c", _KILLED_AT, str(step), "undo", changed, "--yes"]
        done = subprocess.run(command, check=False, cwd=home.work, env=home.environment)
        there = {each.name for each in home.work.iterdir()}
        leftovers |= there - {"a.txt", "new.txt", users}
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
    assert leftovers, "one that was killed has left its file"
    assert there == {"a.txt", users}
    assert (home.work / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    "next_command", [["history", "list"], ["undo", "--dry-run"], ["run", "lead", "-p", "on"]]
)
def test_temporary_file_of_a_killed_undo_is_removed_by_any_command_with_the_history(
    home: Home, changed: str, provider: ScriptedProvider, next_command: list[str]
) -> None:
    provider.script("m", Says("done"))
    leftover = _killed_with_leftover(home, "undo", changed, "--yes")
    assert home.call(*next_command)[0] == 0
    assert not leftover.exists()


def _killed_with_leftover(home: Home, *arguments: str) -> Path:
    """Kill a command at the first step that leaves a temporary file; return the file."""
    before = {*home.work.iterdir()}
    for step in range(20):
        command = [sys.executable, "-c", _KILLED_AT, str(step), *arguments]
        done = subprocess.run(command, check=False, cwd=home.work, env=home.environment)
        assert done.returncode == -signal.SIGKILL
        if leftovers := {*home.work.iterdir()} - before:
            (leftover,) = leftovers
            return leftover
    raise AssertionError("no step has left a temporary file")


def test_temporary_file_of_a_killed_run_is_removed_by_the_next_command(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"lead": LEAD})
    write = Call("write_file", {"path": "a.txt", "content": "one\n"})
    provider.script("m", *(Says(calls=[write]) for _ in range(20)))
    leftover = _killed_with_leftover(home, "run", "lead", "-p", "go", "--yes")
    assert home.call("history", "list")[0] == 0
    assert not leftover.exists()
