"""The sockets of executors: their folder, their peers, and the runs of a host as a command finds them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path

import pytest

from axe_lsp.hosting.executors.connection import all_executors, connected
from axe_lsp.hosting.executors.folder import connect, executor_pids, listen, private_folder
from axe_lsp.hosting.executors.listener import Listener
from axe_lsp.hosting.host.host import Host, Outbox
from support.command_line import COMMAND
from support.hosts import agent, stage
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider
from support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are told apart by /proc")


def test_folder_that_others_may_enter_has_no_sockets(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    listen(folder).close()
    assert executor_pids(folder) == [os.getpid()]
    folder.chmod(0o750)
    assert executor_pids(folder) == []
    with pytest.raises(PermissionError):
        listen(folder)
    with pytest.raises(PermissionError):
        connect(folder, os.getpid(), 1)


def test_folder_that_is_a_link_has_no_sockets(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "runs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="runs"), private_folder(tmp_path / "runs"):
        pass
    assert executor_pids(tmp_path / "runs") == []


def test_socket_of_a_dead_process_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    listen(folder).close()
    assert connect(folder, os.getpid(), 1) is None
    assert executor_pids(folder) == []


def test_folder_with_a_long_name_has_sockets(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 100) / ("b" * 100) / "runs"
    listener = listen(folder)
    connection = connect(folder, os.getpid(), 1)
    assert connection is not None
    connection.close()
    listener.close()


async def test_peer_that_sends_no_message_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    listener = Listener(Host(Outbox()))
    await listener.open(os.environ)
    connection = connect(tmp_path / "axe" / "runs", os.getpid(), 60)
    assert connection is not None

    def talk() -> bytes:
        lines = connection.makefile("rb")
        greeting = lines.readline()
        connection.sendall(b'{"type":"start"}\n')
        return greeting + lines.read()

    answer = await asyncio.to_thread(talk)
    assert json.loads(answer)["type"] == "greeting"
    assert len(await asyncio.to_thread(all_executors, os.environ)) == 1
    connection.close()
    await listener.close()


async def test_process_that_does_not_greet_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axe_lsp.hosting.executors.connection.PATIENCE", 0.1)
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    listener: socket.socket = listen(tmp_path / "axe" / "runs")
    assert await asyncio.to_thread(all_executors, environment) == {}
    listener.close()
    with connected(environment, os.getpid()) as connection:
        assert connection is None


async def test_command_lists_and_stops_a_run_of_a_host(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-solo", Answer(Says("late"), hold=hold))
    async with stage(tmp_path, {"solo": agent("solo")}) as scene:
        run = scene.start("solo", "Begin.", keep_days=1)
        await hold.arrived()
        rows = json.loads(await _output("runs", "--json"))
        assert [(each["runId"], each["pid"]) for each in rows] == [(run.id, scene.hosts()[0])]
        assert await _output("stop", run.id) == f"Stopped run {run.id[:8]}.\n"
        end = await scene.event("axe/agent", kind="end")
        assert end["status"] == "cancelled"
        await until(lambda: not scene.runs.is_going_on(run.id))


async def _output(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *arguments, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()
