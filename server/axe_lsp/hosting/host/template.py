"""A process that has imported all that a host needs, and forks hosts when it is asked to.

A host that is started by itself spends nearly all of its time until its first request on imports. Each fork is a
process like that one: of its own session, with pipes, a memory and a life of its own. Linux only. The other side is
`hosting/supervisor/prepared_hosts.py`; a socket of packets, standard input here, connects the two:

    NUMBER with three files    fork a host with these standard streams
    forked NUMBER PID          with a file that stands for the process
    failed NUMBER              there are too many processes or open files
    ended PID CODE             the code as Python has it: negative for a signal

It ends with the process that uses it, and when it has not been used for a while.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
from importlib import import_module

from axe_lsp import tuning
from axe_lsp.hosting import protocol
from axe_lsp.hosting.host import host
from axe_lsp.runtime.processes import continue_without_parent, forbid_inspection

_IDLE = 60_000
"""Milliseconds without a host after which it ends: it holds some 30 MB."""

_LONGEST = 64


def main() -> None:
    """Fork hosts, and be one in each fork."""
    if sys.platform != "linux":
        return
    forbid_inspection()
    continue_without_parent()
    _prepare()
    if threading.active_count() > 1:  # Forks would lack the other threads, whatever these hold.
        return
    if _Template(socket.socket(fileno=os.dup(0))).is_fork():
        host.main()


def _prepare() -> None:
    """Import and make what a host needs for its first order."""
    import anyio.to_thread

    # `hashlib` makes the ids of calls.
    for module in ("hashlib", "axe_lsp.hosting.host.engine_factory"):
        import_module(module)
    anyio.run(anyio.sleep, 0)  # Its backend is imported by the first loop.
    protocol.read_to_host(protocol.encode(protocol.Ping(0)))
    tuning.template_is_complete()


class _Template:
    """The loop of this process."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._hosts: dict[int, int] = {}
        """The number of each process by the file that stands for it."""

    def is_fork(self) -> bool:
        """True in each fork, False once nobody needs another one."""
        if sys.platform != "linux":
            return False
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        while ready := poll.poll(None if self._hosts else _IDLE):
            for file, _ in ready:
                if file != self._connection.fileno():
                    poll.unregister(file)
                    self._tell_end(file)
                    continue
                message, files, _, _ = socket.recv_fds(self._connection, _LONGEST, 3)
                if not message:
                    return False
                handle = self._fork(message.decode(), files)
                if handle is None:
                    return True
                for each in files:
                    os.close(each)
                if handle:
                    poll.register(handle, select.POLLIN)
        return False

    def _fork(self, number: str, files: list[int]) -> int | None:
        """None in the fork. Else what stands for it, 0 if there is none."""
        if sys.platform != "linux":
            return 0
        try:
            pid = os.fork()
        except OSError:
            self._connection.send(f"failed {number}".encode())
            return 0
        if not pid:
            self._become_host(files)
            return None
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self._connection.send(f"failed {number}".encode())
            return 0
        self._hosts[handle] = pid
        socket.send_fds(self._connection, [f"forked {number} {pid}".encode()], [handle])
        return handle

    def _become_host(self, files: list[int]) -> None:
        if sys.platform == "win32":
            return
        os.setsid()
        for place, file in enumerate(files):
            os.dup2(file, place)
        for each in (*files, *self._hosts):
            os.close(each)
        self._connection.close()

    def _tell_end(self, handle: int) -> None:
        if sys.platform == "win32":
            return
        pid = self._hosts.pop(handle)
        _, status = os.waitpid(pid, 0)
        os.close(handle)
        self._connection.send(f"ended {pid} {os.waitstatus_to_exitcode(status)}".encode())
