"""One client's session from the first byte to the last, over any transport."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from axe_lsp.lsp.framing import FrameReader
from axe_lsp.lsp.language_server import LanguageServer
from axe_lsp.lsp.messages import read_message
from axe_lsp.tasks import Tasks

# How long messages are dealt with in one go before whatever else is on the loop gets its turn.
_SLICE = 0.01

_log = logging.getLogger(__name__)


class Writer(Protocol):
    """The way to the client. `write` doesn't block and doesn't raise."""

    def write(self, data: bytes) -> None:
        """Send `data` after everything that was written before."""

    def close(self) -> None:
        """Nothing more will be written."""


class Conversation:
    """A server, and the streams to and from its client.

    `read` gives bytes as they come, and `b""` at the end.
    """

    def __init__(
        self, server: LanguageServer, read: Callable[[], Awaitable[bytes]], writer: Writer
    ) -> None:
        self._protocol = server.protocol
        self._protocol.set_writer(writer)
        self._read = read
        self._tasks = Tasks()

    async def run(self) -> int:
        """Serve the client until it leaves; the exit code that LSP asks for."""
        listening = self._tasks.start_unattended(self._listen(), name="listening to a client")
        try:
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
        frames = FrameReader()
        while data := await self._read():
            messages = [read_message(body) for body in frames.feed(data)]
            self._protocol.expect(messages)
            pause_at = time.monotonic() + _SLICE
            for message in messages:
                self._protocol.receive(message)
                if self._protocol.exited:
                    return
                if time.monotonic() > pause_at:
                    await asyncio.sleep(0)
                    pause_at = time.monotonic() + _SLICE
