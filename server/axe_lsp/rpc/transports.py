"""Reads the messages of one client and passes them on, here from standard streams, for a client that has started the server.

The functions here and in `axe_lsp.rpc.sockets`, which has the other transports, are the `main` of
`axe_lsp.serving.server_process.run` or a part of it. They return the exit code.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, TypeAlias

from axe_lsp.rpc.framing import LARGEST_BODY, BadHeader, FrameReader
from axe_lsp.rpc.language_server import GRACE, LanguageServer
from axe_lsp.serving import server_process, stdio
from axe_lsp.serving.json_rpc import PARSE_ERROR, Invalid, Message, read_message
from axe_lsp.tasks import Tasks

_FIRST_BODY = 4 * 1024 * 1024
"""The largest `initialize`, in bytes, of a client that has not presented its token yet."""

FIRST_SECONDS = 30.0
"""Seconds that such a client may take to send it."""

# How long messages are dealt with in one go before whatever else is on the loop gets its turn.
_SLICE = 0.01

_log = logging.getLogger(__name__)


class Writer(Protocol):
    """The stream to the client. `write` doesn't block and doesn't raise."""

    def write(self, data: bytes) -> None:
        """Send `data` after everything that was written before."""

    def close(self) -> None:
        """Do nothing more after the last write."""


class MessageLoop:
    """Connects a server with the streams to and from its client.

    `read` gives bytes as they come, and `b""` at the end. `is_strict` is for clients that have not started
    us (`axe_lsp.rpc.framing`). Where `admits` is given, it judges the first message, before which nothing is
    answered; a client that it turns down is left without a word.
    """

    def __init__(
        self,
        server: LanguageServer,
        read: Callable[[], Awaitable[bytes]],
        writer: Writer,
        *,
        is_strict: bool = False,
        admits: Callable[[Message], bool] | None = None,
    ) -> None:
        self._protocol = server.protocol
        self._protocol.set_writer(writer)
        self._read = read
        self._admits = admits
        most = LARGEST_BODY if admits is None else _FIRST_BODY
        self._frames = FrameReader(is_strict=is_strict, most=most)
        self._tasks = Tasks()

    async def run(self) -> int:
        """Serve the client until it leaves; the exit code that LSP asks for."""
        listening = self._tasks.start_unattended(self._listen(), name="listening to a client")
        try:
            if self._admits is not None:
                await asyncio.wait({listening}, timeout=FIRST_SECONDS)
                if self._admits is not None and not listening.done():
                    self.hang_up(f"no `initialize` came within {FIRST_SECONDS:g} s")
            await asyncio.wait({listening})
        finally:
            listening.cancel()
            await asyncio.wait({self._protocol.close()})
        return self._protocol.exit_code

    def hang_up(self, reason: str) -> None:
        """End the session from this side."""
        _log.warning("ending the session: %s", reason)
        self._tasks.cancel()

    async def _listen(self) -> None:
        frames = self._frames
        while data := await self._read():
            messages = list(map(_message, frames.feed(data)))
            if messages and not self._is_admitted(messages[0]):
                return
            self._protocol.expect(messages)
            pause_at = time.monotonic() + _SLICE
            for message in messages:
                self._protocol.receive(message)
                if self._protocol.exited:
                    return
                if time.monotonic() > pause_at:
                    await asyncio.sleep(0)
                    pause_at = time.monotonic() + _SLICE
            if frames.fault:
                _log.warning("ending the session: %s", frames.fault)
                return

    def _is_admitted(self, first: Message) -> bool:
        if self._admits is None:
            return True
        if not self._admits(first):
            _log.warning(
                "ending the session: its first message is not an `initialize` with the token"
            )
            return False
        self._admits, self._frames.most = None, LARGEST_BODY
        return True


def _message(body: bytes | BadHeader) -> Message:
    """Return the message in a frame."""
    if isinstance(body, BadHeader):
        return Invalid(PARSE_ERROR, body.reason)
    return read_message(body)


MakeServer: TypeAlias = Callable[[], LanguageServer]

PARENT_CHECK = 2.0
"""Seconds between two checks whether the client of standard streams still lives."""

_log = logging.getLogger(__name__)


class CannotListenError(Exception):
    """The server can't listen; the message says why and what to do."""


async def serve_stdio(make_server: MakeServer) -> int:
    """Serve one client over standard input and output until it leaves.

    Exit code 0 after `shutdown`, else 1: `exit` without it, end of input, death of the client.
    """
    try:
        source, sink = stdio.claim()
    except OSError as error:
        raise CannotListenError(
            "standard input or output is closed; an editor opens them; in a terminal use --tcp"
        ) from error
    loop = asyncio.get_running_loop()
    server = make_server()
    # If the loop is stuck when the input ends, nobody else is left to end the process.
    reader = stdio.open_reader(source, at_end=lambda: server_process.end_soon(1))
    writer = stdio.PipeWriter(sink, broken=lambda reason: _call(loop, messages.hang_up, reason))
    messages = MessageLoop(server, reader.read, writer)
    watch = loop.create_task(_watch_parent(server, messages))
    try:
        return await messages.run()
    finally:
        watch.cancel()
        writer.flush(within=GRACE)


async def _watch_parent(server: LanguageServer, messages: MessageLoop) -> None:
    """End the session when the client has died without closing its streams.

    That happens where another process has inherited them. A client whose process isn't to be seen
    from the start lives on another machine or outside our container, and is left alone.
    """
    await server.protocol.initialized.wait()
    pid = server.client.process_id
    if pid is None or not server_process.is_alive(pid):
        _log.info("the client's process %s is not visible, so it is not watched", pid)
        return
    _log.debug("watching process %d", pid)
    while True:
        await asyncio.sleep(PARENT_CHECK)
        if not server_process.is_alive(pid):
            messages.hang_up(f"the client (process {pid}) has died")
            return


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[str], None], argument: str) -> None:
    """Call `function` on the loop from any thread, if there still is a loop."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function, argument)
