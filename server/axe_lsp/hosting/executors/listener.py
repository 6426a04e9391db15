"""An executor's side of its socket: other processes of the user list its runs, wait for their ends, stop and steer them."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from axe_lsp.hosting import protocol
from axe_lsp.hosting.executors import folder
from axe_lsp.hosting.executors.peers import may_steer, peer_of
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.tasks import Tasks

_log = logging.getLogger(__name__)

_LONGEST = 4_000_000
"""Bytes of a line from a peer; a message has at most 100,000 characters."""

_OPTIONS: dict[str, Any] = {"limit": _LONGEST}
if sys.version_info >= (3, 13):
    _OPTIONS["cleanup_socket"] = False  # The socket was renamed after bind().

_LAST_SECONDS = 0.5
"""Seconds in which peers get what they wait for when the executor ends."""


class Executor(Protocol):
    """The runs of a process, for its peers."""

    def active_runs(self) -> tuple[protocol.ActiveRun, ...]:
        """Return the root runs."""

    def cancel(self, run_id: str) -> None:
        """Stop a run, a root or a child."""

    async def answer_message(self, request: protocol.MessageRequest) -> protocol.MessageAnswer:
        """Return the answer to a request about the messages of a run."""

    async def end_of(self, run_id: str) -> protocol.Finished | protocol.Failed | protocol.NoRun:
        """Wait for the end of a root run."""


class Adoptable(Protocol):
    """A host, for the server that takes the place of the one that has started it."""

    async def adopt(self, write: Callable[[bytes], None]) -> bool:
        """Send all messages to `write` from now on; return False if the host has a server."""

    def hear_adopter(self, line: bytes) -> None:
        """Do what the server says. Raises ValueError."""

    def lose_server(self) -> None:
        """Take note that the server has gone."""


class Listener:
    """The socket of this process. A process that can't have one executes its runs without."""

    def __init__(self, executor: Executor, host: Adoptable | None = None) -> None:
        self._executor = executor
        self._host = host
        self._folder: Path | None = None
        self._server: asyncio.Server | None = None
        self._peers = Tasks()
        self._answers = Tasks()
        self._is_open = False

    async def open(self, environment: Environment) -> None:
        """Listen from now on, unless it does already."""
        if sys.platform == "win32" or self._is_open:
            return
        self._is_open = True
        for each in _folders(environment):
            try:
                listener = await asyncio.to_thread(folder.listen, each)
            except OSError as error:
                _log.info("No socket in %s: %s", each, error)
                continue
            self._folder = each
            serve = partial(asyncio.start_unix_server, self._accept, sock=listener)
            self._server = await serve(**_OPTIONS)
            return

    def remove(self) -> None:
        """Remove the socket, as this process is about to end. May be called in any thread."""
        if self._folder is not None:
            folder.stop_listening(self._folder)

    async def give_answers(self) -> None:
        """Remove the socket, and give peers the answers that are due."""
        self.remove()
        if self._server is not None:
            self._server.close()
        await self._answers.finish(within=_LAST_SECONDS)

    async def close(self) -> None:
        """Remove the socket and leave all peers, once they have the answers that are due."""
        await self.give_answers()
        await self._peers.stop(within=_LAST_SECONDS)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._peers.start_unattended(self._serve(reader, writer), "peer of this executor")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._talk(reader, writer)
        except (OSError, ValueError) as error:  # ValueError: a line that is too long or no message.
            _log.info("A peer was left: %s", error)
        finally:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if sys.platform == "win32":
            return
        pid, user = peer_of(writer.get_extra_info("socket"))
        if user != os.getuid():
            return
        steers = await asyncio.to_thread(self._may_steer, pid)
        await _send(writer, protocol.Greeting(protocol.VERSION, os.getpid(), steers))
        while line := await reader.readline():
            request = protocol.read_to_executor(line)
            if not steers and not isinstance(request, protocol.ListRuns | protocol.AwaitEnd):
                return
            if isinstance(request, protocol.Adopt):
                await self._serve_adopter(reader, writer)
                return
            self._answers.start_unattended(self._answer(request, writer), "answer to a peer")

    async def _serve_adopter(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        loop, host = asyncio.get_running_loop(), self._host

        def write(data: bytes) -> None:  # In a thread.
            loop.call_soon_threadsafe(writer.write, data)

        if host is None or not await host.adopt(write):
            await _send(writer, protocol.Adopted(()))
            return
        try:
            while line := await reader.readline():
                host.hear_adopter(line)
        finally:
            host.lose_server()

    def _may_steer(self, pid: int) -> bool:
        assert self._folder is not None
        return may_steer(pid, {os.getpid(), *folder.executor_pids(self._folder)})

    async def _answer(self, request: protocol.ToExecutor, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # The peer has gone.
            match request:
                case protocol.ListRuns():
                    await _send(writer, protocol.RunList(self._executor.active_runs()))
                case protocol.Cancel(run_id):
                    self._executor.cancel(run_id)
                case protocol.AwaitEnd(run_id):
                    await _send(writer, await self._executor.end_of(run_id))
                case protocol.MessageRequest():
                    await _send(writer, await self._executor.answer_message(request))


async def _send(writer: asyncio.StreamWriter, message: Message) -> None:
    writer.write(protocol.encode(message))
    await writer.drain()


def _folders(environment: Environment) -> Sequence[Path]:
    try:
        return folder.socket_folders(environment)
    except ConfigError:
        return ()  # The user has no home.
