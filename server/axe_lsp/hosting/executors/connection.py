"""A connection of a command to an executor. Blocks; each answer has a time limit, but for the end of a run."""

from __future__ import annotations

import itertools
import socket
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from axe_lsp.hosting import protocol
from axe_lsp.hosting.executors import folder
from axe_lsp.hosting.executors.peers import is_host_of_user, peer_of
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.folders import Environment

PATIENCE = 2.0
"""Seconds for an answer. An executor that takes longer hangs, or was stopped."""

_NUMBERS = itertools.count(1)


class UnresponsiveError(RunError):
    """An executor that does not answer. `pid` is its process."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"process {pid}, which executes the run, does not answer")
        self.pid = pid


class Connection:
    """An open connection, after the greeting."""

    def __init__(self, peer: socket.socket, pid: int) -> None:
        self._peer = peer
        self._lines: IO[bytes] = peer.makefile("rb")
        self.pid = pid
        greeting = self._read()
        if not isinstance(greeting, protocol.Greeting):
            raise UnresponsiveError(pid)
        self.may_steer = greeting.may_steer
        self._version = greeting.version

    def active_runs(self) -> tuple[protocol.ActiveRun, ...]:
        """Return the root runs of the executor. Raises UnresponsiveError."""
        answer = self._request(protocol.ListRuns())
        return answer.runs if isinstance(answer, protocol.RunList) else ()

    def cancel(self, run_id: str) -> None:
        """Stop a run. Raises RunError."""
        self._check_steering()
        self._send(protocol.Cancel(run_id))

    def request_messages(self, request: protocol.MessageRequest) -> protocol.MessageAnswer:
        """Return the answer about messages of a run. Raises RunError."""
        self._check_steering()
        answer = self._request(request)
        if not isinstance(answer, protocol.MessageAnswer):
            raise UnresponsiveError(self.pid)
        return answer

    def await_end(self, run_id: str) -> None:
        """Ask for the end of a root run."""
        self._send(protocol.AwaitEnd(run_id))

    def end(self, patience: float | None) -> protocol.Finished | protocol.Failed | None:
        """Wait for the end; return None if the executor can't tell. Raises TimeoutError, after which nothing can be read."""
        self._peer.settimeout(patience)
        answer = self._read_line()
        return answer if isinstance(answer, protocol.Finished | protocol.Failed) else None

    @property
    def may_adopt(self) -> bool:
        """Whether this process may become the server of the executor."""
        return self.may_steer and self._version == protocol.VERSION

    def release(self) -> socket.socket:
        """Return the socket, for another kind of connection. All that was requested has to be answered."""
        self._lines.close()
        return self._peer

    def close(self) -> None:
        """Leave the executor alone. A thread that reads meets the end."""
        with suppress(OSError):
            self._peer.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._peer.close()

    def _check_steering(self) -> None:
        if self._version != protocol.VERSION:
            raise ConfigError("the run is executed by another version of axe-lsp; use that version")
        if not self.may_steer:
            raise ConfigError(STEERING_REFUSED)

    def _request(self, message: Message) -> protocol.FromExecutor | None:
        self._send(message)
        return self._read()

    def _send(self, message: Message) -> None:
        with suppress(OSError):  # The answer will be missing.
            self._peer.sendall(protocol.encode(message))

    def _read(self) -> protocol.FromExecutor | None:
        try:
            return self._read_line()
        except TimeoutError:
            raise UnresponsiveError(self.pid) from None

    def _read_line(self) -> protocol.FromExecutor | None:
        """Return the next message; None if the executor has gone. Raises TimeoutError."""
        try:
            line = self._lines.readline()
        except TimeoutError:
            raise
        except OSError:
            return None
        try:
            return protocol.read_from_executor(line) if line.endswith(b"\n") else None
        except ValueError:
            return None


STEERING_REFUSED = (
    "a command that an agent has started may list runs and not steer them"
    if sys.platform == "linux"
    else "on this system runs are not steered from other processes; use the window or the terminal "
    "that has started the run"
)


def new_request(root_run_id: str, run_id: str, **more: object) -> protocol.MessageRequest:
    """Return a request about messages with a number of its own."""
    return protocol.MessageRequest(next(_NUMBERS), root_run_id, run_id, **more)  # type: ignore[arg-type]


@contextmanager
def connected(environment: Environment, pid: int) -> Iterator[Connection | None]:
    """Provide a connection to an executor; None if it has no socket. Raises UnresponsiveError."""
    for each in folder.socket_folders(environment):
        if pid in folder.executor_pids(each):
            connection = _connection(each, pid)
            if connection is not None:
                with closing(connection):
                    yield connection
                return
    yield None


class LostHosts(NamedTuple):
    """Connections to hosts of certain folders that have no server, by pid, and whether others may lose theirs."""

    sockets: Mapping[int, socket.socket]
    may_come: bool


def lost_hosts(environment: Environment, folders: Collection[str]) -> LostHosts:
    """Return the hosts that a server of these folders may adopt."""
    sockets, may_come = {}, False
    for each in folder.socket_folders(environment):
        pids = folder.executor_pids(each)
        for pid in pids:
            with suppress(UnresponsiveError):
                connection = _connection(each, pid)
                if connection is None:
                    continue
                if not (connection.may_adopt and is_host_of_user(connection.pid, pids)):
                    connection.close()
                    continue
                here = [run for run in connection.active_runs() if run.workspace in folders]
                if any(run.is_on_its_own for run in here):
                    sockets[connection.pid] = connection.release()
                else:
                    may_come = may_come or bool(here)
                    connection.close()
    return LostHosts(sockets, may_come)


def all_executors(environment: Environment) -> Mapping[int, tuple[protocol.ActiveRun, ...]]:
    """Return the root runs of all executors of the user that answer."""
    runs = {}
    for each in folder.socket_folders(environment):
        for pid in folder.executor_pids(each):
            with suppress(UnresponsiveError):
                connection = _connection(each, pid)
                if connection is not None:
                    with closing(connection):
                        runs[pid] = connection.active_runs()
    return runs


def _connection(place: Path, pid: int) -> Connection | None:
    """Return a connection; None if the executor has died. Raises UnresponsiveError."""
    try:
        peer = folder.connect(place, pid, PATIENCE)
        if peer is None:
            return None
        try:
            peer_pid, _ = peer_of(peer)
            return Connection(peer, peer_pid or pid)
        except BaseException:
            peer.close()
            raise
    except OSError as error:
        raise UnresponsiveError(pid) from error
