"""A host that another server has started, and that has outlived it, behind its socket."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections import deque
from typing import cast

from axe_lsp.hosting import protocol
from axe_lsp.hosting.supervisor.host_process import LineBuffer, OnLine

_PATIENCE = 10.0
"""Seconds for which a host may write to the history before it answers."""


class AdoptedHost(asyncio.Protocol):
    """A host whose lines are handed out as they come, once somebody listens. `ended` is done when it has gone."""

    _transport: asyncio.Transport

    def __init__(self, pid: int) -> None:
        self.ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._pid = pid
        self._early: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._on_output: OnLine = self._keep
        self._lines = LineBuffer(self._hand_out)

    async def adopt(self) -> tuple[protocol.Start, ...]:
        """Ask the host to be one of this server; return the orders that it executes, none if it has another server."""
        self.write(protocol.encode(protocol.Adopt()))
        try:
            await asyncio.wait_for(self._arrived.wait(), _PATIENCE)
            return protocol.read_adopted(self._early.popleft()).starts
        except (asyncio.TimeoutError, IndexError, ValueError):
            return ()

    def listen(self, on_output: OnLine) -> None:
        """Hand out the lines that have come by now, and all later ones."""
        self._on_output = on_output
        while self._early:
            on_output(self._early.popleft())

    def write(self, data: bytes) -> None:
        """Send a line; lost when the host has gone."""
        self._transport.write(data)

    def release(self) -> None:
        """Leave the host alone: it may live on."""
        self._transport.close()

    async def end(self, patience: float) -> None:
        """Insist if the host, which was told to end, is still there after a while."""
        if not await self._has_ended_within(patience):
            await self.kill(patience)

    async def kill(self, patience: float) -> None:
        """Terminate it, and kill it when that does not help."""
        if sys.platform != "win32":
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.kill(self._pid, number)
                except ProcessLookupError:
                    break
                if await self._has_ended_within(patience):
                    break
        await asyncio.shield(self.ended)

    async def _has_ended_within(self, seconds: float) -> bool:
        await asyncio.wait({self.ended}, timeout=seconds)
        return self.ended.done()

    def _hand_out(self, line: bytes) -> None:
        self._on_output(line)

    def _keep(self, line: bytes) -> None:
        self._early.append(line)
        self._arrived.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: messages can be sent."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """asyncio: the host has written something."""
        self._lines.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio: the host has gone, or was left."""
        self._arrived.set()
        if not self.ended.done():
            self.ended.set_result(None)


async def connect(peer: socket.socket, pid: int) -> AdoptedHost:
    """Return the host at the other end of a connection. Raises OSError."""
    peer.setblocking(False)
    loop = asyncio.get_running_loop()
    _, host = await loop.create_connection(lambda: AdoptedHost(pid), sock=peer)
    return host
