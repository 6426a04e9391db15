"""`axe-lsp run` with agents that use tools."""

from __future__ import annotations

import signal

import pytest

from support.command_line import Home
from support.engines import agent
from support.processes import Sleepers
from support.scripted_provider import Call, Says, ScriptedProvider

WRITE = Call("write_file", {"path": "a.txt", "content": "A"})


def test_tools_change_files_if_the_user_says_yes(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("writer", tools=["write_file"]))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    assert home.call("run", "writer", "--yes") == (0, "done", "")
    assert (home.work / "a.txt").read_text() == "A"


def test_without_a_yes_nothing_is_changed_and_the_user_learns_why(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("writer", tools=["write_file"]))
    provider.script("m-writer", Says(calls=[WRITE, WRITE]), Says("done"))
    code, out, err = home.call("run", "writer")
    assert (code, out) == (0, "done")
    assert err == (
        'Warning: agent "writer" wanted to use write_file, which needs your approval: '
        "run it with --yes to let tools change files and run commands\n"
    )
    assert not (home.work / "a.txt").exists()


@pytest.mark.req("001-8.7")
def test_verbose_tells_what_tools_are_used_for(home: Home, provider: ScriptedProvider) -> None:
    (home.work / "a.txt").write_text("A")
    home.add(agent("reader", tools=["read_file"]))
    calls = [
        Call("read_file", {"path": "a.txt"}, "1"),
        Call("read_file", {"path": "b\n" * 90}, "2"),
    ]
    provider.script("m-reader", Says(calls=calls), Says("done"))
    code, _, err = home.call("run", "reader", "-v")
    assert code == 0
    said = [line for line in err.splitlines() if line.startswith("[tool]")]
    assert '[tool] read_file: path "a.txt" (success)' in said
    long = "b " * 60
    assert f'[tool] read_file: path "{long}...": {long}... (error)' in said


def test_dry_run_names_the_tools_that_are_offered(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("a", tools=["Read", "write_*"], tool_policy={"allow": ["List"]}))
    code, out, err = home.call("run", "a", "--dry-run")
    assert (code, err) == (0, "")
    assert "--- Tools ---\nread_file, write_file, list_directory\n" in out
    assert provider.requests == []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_when_axe_lsp_is_killed_its_commands_end(
    home: Home, provider: ScriptedProvider, end: signal.Signals
) -> None:
    sleepers = Sleepers()
    home.add(agent("a", tools=["run_command"]))
    command = f"setsid {sleepers.command} & {sleepers.command}; true"
    provider.script("m-a", Says(calls=[Call("run_command", {"command": command})]))
    with home.start("run", "a", "--yes") as process:
        sleepers.wait_for(2)
        process.send_signal(end)
        sleepers.wait_for(0)
        process.communicate()
