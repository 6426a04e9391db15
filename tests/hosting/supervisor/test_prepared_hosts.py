"""Hosts that a prepared process forks: like those that are started by themselves, and there much sooner."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from axe_lsp.hosting import protocol
from axe_lsp.hosting.supervisor import prepared_hosts
from axe_lsp.hosting.supervisor.host_process import HostProcess
from axe_lsp.hosting.supervisor.prepared_hosts import PreparedHosts
from support.processes import templates_bearing, wait_for_none
from support.scripted_provider import PATIENCE
from support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="hosts are forked on Linux")


class Heard:
    """What a host says."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[protocol.FromHost] = asyncio.Queue()
        self.errors: list[bytes] = []

    def hear(self, line: bytes) -> None:
        self.messages.put_nowait(protocol.read_from_host(line))

    async def next(self) -> protocol.FromHost:
        return await asyncio.wait_for(self.messages.get(), PATIENCE)


async def started(prepared: PreparedHosts) -> tuple[HostProcess, Heard, int]:
    heard = Heard()
    host = await prepared.start(heard.hear, heard.errors.append)
    ready = await heard.next()
    assert isinstance(ready, protocol.Ready)
    return host, heard, ready.pid


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTHON_MARK", str(tmp_path))
    return str(tmp_path)


@pytest.fixture
async def prepared(mark: str) -> AsyncIterator[PreparedHosts]:
    async with aclosing(PreparedHosts()) as made:
        yield made
    await asyncio.to_thread(wait_for_none, mark)


def parent(pid: int) -> int:
    return int(status(pid)[1])


def maps(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


def state(pid: int) -> str:
    return status(pid)[0]


def status(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


async def test_hosts_are_forks_of_one_process_and_each_is_one_of_its_own(
    prepared: PreparedHosts, mark: str
) -> None:
    hosts = await asyncio.gather(*(started(prepared) for _ in range(3)))
    pids = [pid for _, _, pid in hosts]
    (template,) = templates_bearing(mark)
    assert {parent(pid) for pid in pids} == {template}
    for imported in ("_sqlite3", "_hashlib"):  # As a host does with its first order.
        assert imported in maps(template)
    assert [os.getsid(pid) for pid in pids] == pids
    for host, heard, _ in hosts:
        host.write(protocol.encode(protocol.Ping(7)))
        assert await heard.next() == protocol.Pong(7)
    os.kill(pids[0], signal.SIGKILL)
    assert await hosts[0][0].ended == -signal.SIGKILL
    for host, _, _ in hosts[1:]:
        host.write(protocol.encode(protocol.Leave()))
        await host.end(PATIENCE)
        assert await host.ended == 0


async def test_a_host_that_does_not_leave_is_killed(prepared: PreparedHosts) -> None:
    host, _, pid = await started(prepared)
    os.kill(pid, signal.SIGSTOP)
    await until(lambda: state(pid) == "T")
    await host.end(0.01)
    assert await host.ended == -signal.SIGKILL


async def test_what_a_host_prints_is_heard(prepared: PreparedHosts) -> None:
    host, heard, _ = await started(prepared)
    host.write(b"this is no message\n")
    await until(lambda: any(b"Error" in line for line in heard.errors))
    await host.end(PATIENCE)


async def test_hosts_end_with_what_has_forked_them_and_the_next_has_a_new_one(
    prepared: PreparedHosts, mark: str
) -> None:
    first, _, _ = await started(prepared)
    (template,) = templates_bearing(mark)
    os.kill(template, signal.SIGKILL)
    assert await first.ended == -signal.SIGKILL
    second, _, pid = await started(prepared)
    assert parent(pid) != template
    await second.end(PATIENCE)


async def test_a_process_that_was_stopped_is_not_waited_for_until_it_goes_on(
    prepared: PreparedHosts, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _, _ = await started(prepared)
    (template,) = templates_bearing(mark)
    monkeypatch.setattr(prepared_hosts, "_FORKING", 0.2)
    os.kill(template, signal.SIGSTOP)
    others = [await started(prepared) for _ in range(2)]
    assert all(parent(pid) != template for _, _, pid in others)
    os.kill(template, signal.SIGCONT)
    made = prepared._template
    assert made is not None
    await until(lambda: not made.is_silent)
    last, _, pid = await started(prepared)
    assert parent(pid) == template
    for host in (first, last, *(host for host, _, _ in others)):
        await host.end(PATIENCE)


async def test_a_process_that_was_stopped_is_killed_at_the_end(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared_hosts, "_CLOSING", 0.1)
    async with aclosing(PreparedHosts()) as prepared:
        host, _, _ = await started(prepared)
        await host.end(PATIENCE)
        (template,) = templates_bearing(mark)
        os.kill(template, signal.SIGSTOP)
    await asyncio.to_thread(wait_for_none, mark)


@pytest.mark.parametrize("command", [["no-such-command"], [sys.executable, "-c", ""]])
async def test_a_host_is_started_by_itself_where_none_can_be_forked(
    command: list[str], mark: str
) -> None:
    async with aclosing(PreparedHosts(command)) as prepared:
        host, _, pid = await started(prepared)
        assert parent(pid) == os.getpid()
        await host.end(PATIENCE)
    await asyncio.to_thread(wait_for_none, mark)


FORKS_ONCE = """
import os
from axe_lsp.hosting.host import template
fork, left, here = os.fork, [1], os.getpid()
def fork_once():
    if os.getpid() == here:
        if not left:
            raise BlockingIOError
        left.pop()
    return fork()
os.fork = fork_once
template.main()
"""


OPENS_ONCE = """
import os
from axe_lsp.hosting.host import template
open_process, left = os.pidfd_open, [1]
def open_once(pid):
    if not left:
        raise OSError(24, "Too many open files")
    left.pop()
    return open_process(pid)
os.pidfd_open = open_once
template.main()
"""


@pytest.mark.parametrize("script", [FORKS_ONCE, OPENS_ONCE])
async def test_a_host_is_started_by_itself_when_no_more_can_be_forked(
    script: str, mark: str
) -> None:
    async with aclosing(PreparedHosts([sys.executable, "-c", script])) as prepared:
        first, _, forked = await started(prepared)
        second, _, alone = await asyncio.wait_for(started(prepared), PATIENCE)
        assert parent(forked) != parent(alone) == os.getpid()
        await first.end(PATIENCE)
        await second.end(PATIENCE)
    await asyncio.to_thread(wait_for_none, mark)


async def test_a_host_is_started_by_itself_when_no_more_files_can_be_opened_here(
    prepared: PreparedHosts, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    receive = socket.recv_fds

    def received(*arguments: int) -> object:
        """As the system does it for a process that has too many open files."""
        message, files, flags, address = receive(*arguments)  # type: ignore[arg-type]
        for each in files:
            os.close(each)
        return message, [], flags, address

    monkeypatch.setattr(socket, "recv_fds", received)
    host, _, pid = await asyncio.wait_for(started(prepared), PATIENCE)
    assert parent(pid) == os.getpid()
    await host.end(PATIENCE)


async def test_a_fork_that_nobody_waits_for_any_more_ends(
    prepared: PreparedHosts, mark: str
) -> None:
    first, _, _ = await started(prepared)
    waiting = asyncio.create_task(prepared.start(bool, bool))
    await asyncio.sleep(0)  # It has been asked for.
    waiting.cancel()
    await asyncio.wait({waiting})
    await first.end(PATIENCE)


async def test_nothing_that_forks_is_left_if_hosts_are_started_while_it_is_closed(
    prepared: PreparedHosts, mark: str
) -> None:
    first, _, pid = await started(prepared)
    template = parent(pid)
    os.kill(template, signal.SIGSTOP)  # So that it does not answer before it is closed.
    waiting = asyncio.create_task(started(prepared))
    for _ in range(5):
        await asyncio.sleep(0)  # It has been asked for.
    closing = asyncio.create_task(prepared.aclose())
    second, _, pid = await asyncio.wait_for(waiting, PATIENCE)
    assert parent(pid) == os.getpid()
    os.kill(template, signal.SIGCONT)
    await closing  # The fixture sees that no other one has been begun.
    await first.ended
    await second.end(PATIENCE)


async def test_a_fork_whose_start_is_cancelled_when_it_comes_leaves_no_file_open(
    prepared: PreparedHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _, _ = await started(prepared)
    before = open_processes()
    waiting = asyncio.create_task(prepared.start(bool, bool))
    receive = socket.recv_fds

    def received(*arguments: int) -> object:
        heard = receive(*arguments)  # type: ignore[arg-type]
        if heard[0].startswith(b"forked"):
            asyncio.get_running_loop().call_soon(waiting.cancel)
        return heard

    monkeypatch.setattr(socket, "recv_fds", received)
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    assert open_processes() == before
    await first.end(PATIENCE)


def open_processes() -> int:
    """The number of files that stand for processes."""
    files = list(Path("/proc/self/fd").iterdir())
    return sum("pidfd" in str(each.readlink()) for each in files if each.is_symlink())
