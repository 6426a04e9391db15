"""The connection to the tool server on one machine, whatever carries its lines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from itertools import count
from typing import Protocol

import anyio
from msgspec.structs import replace

from axe_lsp.hosting.notifications import Message
from axe_lsp.hosting.places import tool_protocol
from axe_lsp.runtime.plain_text import escaped
from axe_lsp.tasks import Tasks

_ENDING = 1.0
"""Seconds for the end of a connection, and of a request that nobody waits for any more."""

_LONGEST_TEXT = 300
_MOST_NOISE = 100


class Channel(Protocol):
    """The carrier of the lines of both sides: the streams of ssh, or of an engine's own transport."""

    async def send(self, line: bytes) -> None:
        """Send a line. Raises OSError if it can't arrive."""

    def lines(self) -> AsyncIterator[bytes]:
        """Return the lines that arrive, until the other side or the connection has ended."""

    async def end(self, within: float) -> None:
        """Close it, and end what carries it after so many seconds."""

    @property
    def fault(self) -> FaultError:
        """Why it has ended by itself."""


class FaultError(Exception):
    """A machine can't be used; `may_pass` if it may be later."""

    def __init__(self, text: str, *, may_pass: bool = False) -> None:
        super().__init__(text)
        self.may_pass = may_pass


class LostError(Exception):
    """The connection is lost, and with it every copy on that machine."""


class RefusedError(Exception):
    """The other side could not do what it was asked for."""


async def lines_of(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines in a stream, without their ends. Raises ValueError for one that is too long."""
    unfinished: list[bytes] = []
    size = 0
    async for piece in pieces:
        *lines, rest = piece.split(b"\n")
        for line in lines:
            yield b"".join((*unfinished, line))
            unfinished, size = [], 0
        unfinished.append(rest)
        size += len(rest)
        if size > tool_protocol.LONGEST_LINE:
            raise ValueError("it has sent a message that is too long")


class Connection:
    """A connection on which both sides have said hello."""

    def __init__(self, channel: Channel, silence: float) -> None:
        self._channel = channel
        self._silence = silence
        self._ids = count(1)
        self._asked: dict[int, asyncio.Future[tool_protocol.Reply]] = {}
        self._heard = time.monotonic()
        self._tasks = Tasks()
        self.lost = ""
        self.known_commits: dict[str, tuple[str, ...]] = {}
        """Those of a project that are there as long as this connection is."""

    @classmethod
    async def opened(cls, channel: Channel, keep_copies: int, silence: float) -> Connection:
        """Return the connection, once both sides have said hello. Raises FaultError."""
        lines = channel.lines()
        try:
            theirs = await _hello(lines)
            if theirs is None:
                raise channel.fault
            if theirs.version != tool_protocol.WIRE:
                their, our = theirs.version.split(" ")[0], tool_protocol.WIRE.split(" ")[0]
                more = "" if their != our else ", of another build"
                raise FaultError(
                    f"axe-lsp there is version {short(their)}{more}, and here it is {our}; install the same on both"
                )
            await channel.send(
                tool_protocol.encode(tool_protocol.Hello(tool_protocol.WIRE, keep_copies, silence))
            )
        except OSError as error:
            raise channel.fault from error
        self = cls(channel, silence)
        self._tasks.start_unattended(self._listen(lines), "messages of another machine")
        self._tasks.start_unattended(self._watch(), "heartbeat of another machine")
        return self

    def next_id(self) -> int:
        """Return the id of a request."""
        return next(self._ids)

    async def ask(self, request: tool_protocol.Request) -> tool_protocol.Reply:
        """Send a request; returns what is answered. Raises LostError or RefusedError.

        When this is cancelled, the request is ended there, too.
        """
        request = request if request.id else replace(request, id=self.next_id())
        answer: asyncio.Future[tool_protocol.Reply] = asyncio.get_running_loop().create_future()
        self._asked[request.id] = answer
        try:
            await self._send(request)
            if self.lost:
                raise LostError(self.lost)
            reply = await asyncio.shield(answer)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_ENDING):
                await self._cancel(request.id, answer)
            raise
        finally:
            del self._asked[request.id]
            if answer.done() and not answer.cancelled():
                answer.exception()
        if isinstance(reply, tool_protocol.Failed):
            raise RefusedError(short(reply.text))
        return reply

    async def end(self) -> None:
        """Close the connection."""
        self._lose("it was closed")
        await self._tasks.stop(_ENDING)
        await self._channel.end(_ENDING)

    async def _cancel(self, number: int, answer: asyncio.Future[tool_protocol.Reply]) -> None:
        try:
            await self._send(tool_protocol.Cancel(number))
            await asyncio.wait({answer})
        except LostError:
            pass

    async def _send(self, message: Message) -> None:
        if self.lost:
            raise LostError(self.lost)
        try:
            await self._channel.send(tool_protocol.encode(message))
        except OSError as error:
            raise LostError(self.lost or "it was closed") from error

    async def _listen(self, lines: AsyncIterator[bytes]) -> None:
        try:
            async for line in lines:
                self._heard = time.monotonic()
                message = tool_protocol.from_server(line)
                if not isinstance(message, (tool_protocol.Hello, tool_protocol.Pong)):
                    answer = self._asked.get(message.id)
                    if answer is not None and not answer.done():
                        answer.set_result(message)
        except ValueError:
            self._lose("it has sent an invalid message")
        self._lose(str(self._channel.fault))

    async def _watch(self) -> None:
        while not self.lost:
            left = self._heard + self._silence - time.monotonic()
            if left <= 0:
                self._lose(f"nothing was heard from it for {self._silence:g} s")
                await self._channel.end(0)
                return
            try:
                with anyio.move_on_after(left):
                    await self._send(tool_protocol.Ping())
                    await asyncio.sleep(self._silence / 5)
            except LostError:
                return

    def _lose(self, why: str) -> None:
        self.lost = self.lost or why
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(LostError(self.lost))


async def _hello(lines: AsyncIterator[bytes]) -> tool_protocol.Hello | None:
    """Return the first message of the other side, None if the output ends before. Output of a shell before it is skipped.

    Raises FaultError if that does not end.
    """
    noise = 0
    async for line in lines:
        if line.startswith(b"{"):
            with suppress(ValueError):
                message = tool_protocol.from_server(line)
                if isinstance(message, tool_protocol.Hello):
                    return message
        noise += 1
        if noise > _MOST_NOISE:
            raise FaultError(
                f"it writes more than {_MOST_NOISE} lines before its first message; only axe-lsp may write there"
            )
    return None


def short(text: str) -> str:
    """Return a text of another machine as it is shown: in one line, and not too long."""
    line = " ".join(escaped(text.strip()).split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]} …"
