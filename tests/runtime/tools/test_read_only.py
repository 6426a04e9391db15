"""Agents that may only read: their commands really can't write."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest

from axe_lsp.runtime.events import AgentBegin, RunIds, ToolEnd
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.safety.approval import allowed
from axe_lsp.runtime.tools.read_only import is_enforceable, is_scope_enforceable
from axe_lsp.runtime.tools.run_command import run_shell
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import execute_tool
from support.engines import agent, bench
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not is_enforceable(), reason="needs a Linux with Landlock"
)


def read_only(folder: Path) -> Workplace:
    return Workplace(folder, {"PATH": os.environ["PATH"]}, read_only=True)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        "echo x > kept.txt",
        "echo x >> kept.txt",
        "echo x > new.txt",
        "truncate -s 0 kept.txt",
        "python3 -c 'import os; os.truncate(\"kept.txt\", 0)'",
        "rm kept.txt",
        "mv kept.txt moved.txt",
        "ln kept.txt link.txt",
        "ln -s kept.txt link.txt",
        "mkdir folder",
        "rmdir empty",
        "mkfifo pipe",
        "cp kept.txt copy.txt",
        "mv empty $TMPDIR/",
        "ln kept.txt $TMPDIR/kept.txt && echo x > $TMPDIR/kept.txt",
        "(setsid sh -c 'echo x > kept.txt')",
        "sed -i s/kept/changed/ kept.txt",
    ],
)
async def test_nothing_in_the_workspace_can_be_changed(tmp_path: Path, command: str) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ToolError):
        await run_shell(command, read_only(tmp_path), 30)
    assert (tmp_path / "kept.txt").read_text() == "kept"
    assert names(tmp_path) == ["empty", "kept.txt"]


@pytest.mark.parametrize("place", [gettempdir(), str(Path.home()), "/dev/shm"])
async def test_nothing_else_can_be_written_either(tmp_path: Path, place: str) -> None:
    name = f"axe-read-only-{os.getpid()}"
    with pytest.raises(ToolError):
        await run_shell(f"P={place[1:]}; echo x > /$P/{name}", read_only(tmp_path), 30)
    assert not (Path(place) / name).exists()


async def test_reading_and_what_leads_to_no_file_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("b\na\n")
    command = "sort a.txt | head -n 1; echo no >/dev/null; echo err >/dev/stderr; cat <<X\nhere\nX"
    assert await run_shell(command, read_only(tmp_path), 30) == "a\nerr\nhere\n"


async def test_a_command_has_a_folder_of_its_own_that_ends_with_it(tmp_path: Path) -> None:
    command = "mkdir $TMPDIR/d && echo x > $TMPDIR/d/f && cat $TMPDIR/d/f && echo $TMPDIR"
    x, scratch = (await run_shell(command, read_only(tmp_path), 30)).split()
    assert x == "x"
    assert Path(scratch).name not in names(Path(scratch).parent)


async def test_signals_are_as_programs_expect_them(tmp_path: Path) -> None:
    assert await run_shell("yes | head -n 1", read_only(tmp_path), 30) == "y\n"


@pytest.fixture
def users_process() -> Iterator[subprocess.Popen[bytes]]:
    """Provide a process of the user that no agent has started."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


NEEDS_SCOPES = pytest.mark.skipif(not is_scope_enforceable(), reason="needs Linux 6.12")


@NEEDS_SCOPES
@pytest.mark.parametrize("signal", ["KILL", "STOP", "0"])
async def test_command_can_not_signal_a_process_of_the_user(
    tmp_path: Path, users_process: subprocess.Popen[bytes], signal: str
) -> None:
    with pytest.raises(ToolError, match="not permitted"):
        await run_shell(f"kill -{signal} {users_process.pid}", read_only(tmp_path), 30)
    assert users_process.poll() is None


@NEEDS_SCOPES
async def test_explore_agent_of_a_stranger_can_not_end_a_process_of_the_user(
    provider: ScriptedProvider, tmp_path: Path, users_process: subprocess.Popen[bytes]
) -> None:
    kill = Call("run_command", {"command": f"kill -9 {users_process.pid}"})
    provider.script("m-a", Says(calls=[kill]), Says("done"))
    async with bench(provider, tmp_path, agent("a", type="explore"), approve=allowed) as work:
        await work.run("a")
        assert "not permitted" in work.of(ToolEnd)[0].content
    assert users_process.poll() is None


@NEEDS_SCOPES
async def test_command_can_not_connect_to_an_abstract_socket_of_the_user(tmp_path: Path) -> None:
    name = f"axe-read-only-{os.getpid()}"
    connect = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}')"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        with pytest.raises(ToolError, match="not permitted"):
            await run_shell(f'python3 -c "{connect}"', read_only(tmp_path), 30)


async def test_command_can_end_the_processes_that_it_has_started(tmp_path: Path) -> None:
    command = "sleep 60 & kill $!; wait $!; echo $?"
    assert (await run_shell(command, read_only(tmp_path), 30)).endswith("143\n")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "a", "content": "A"}),
        ("edit_file", {"path": "a", "old_string": "a", "new_string": "b"}),
    ],
)
async def test_tools_that_write_are_refused(
    tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    call = ToolCall("1", tool, arguments)
    result = await execute_tool(call, RunIds("r", "r", "a"), read_only(tmp_path), allowed)
    assert result.is_error
    assert result.content == "this agent may look at files but not write them"


@pytest.mark.req("004-3", "004-5")
@pytest.mark.parametrize("name", ["explore", "plan"])
async def test_a_run_of_such_an_agent_can_not_write_and_says_what_keeps_it(
    provider: ScriptedProvider, tmp_path: Path, name: str
) -> None:
    agents = agent("a", type=name)
    provider.script("m-a", Says(calls=[Call("run_command", {"command": "touch x"})]), Says("done"))
    async with bench(provider, tmp_path, agents, approve=allowed) as work:
        await work.run("a")
        assert work.of(ToolEnd)[0].is_error
        assert [event.sandbox for event in work.of(AgentBegin)] == ["landlock"]
        assert work.warnings == []
    assert not (tmp_path / "x").exists()


async def test_where_the_system_can_not_do_it_the_run_goes_on_and_says_so(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axe_lsp.runtime.tools.read_only.is_enforceable", lambda: False)
    agents = agent("a", type="explore")
    provider.script("m-a", Says("done"))
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("a")).content == "done"
        assert [event.sandbox for event in work.of(AgentBegin)] == ["none"]
        (warning,) = work.warnings
    assert warning.startswith('agent "a" should only read, but this system can\'t keep')


async def test_what_such_an_agent_calls_can_not_write_either(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = agent("a", type="plan", sub_agents=["b"]) | agent("b", tools=["write_file"])
    provider.script("m-a", Says(calls=[calls_agent("b", "write")]), Says("done"))
    write = Call("write_file", {"path": "x", "content": "x"})
    provider.script("m-b", Says(calls=[write]), Says("could not"))
    async with bench(provider, tmp_path, agents, approve=allowed) as work:
        await work.run("a")
        assert work.of(ToolEnd)[0].content == "this agent may look at files but not write them"
    assert not (tmp_path / "x").exists()
