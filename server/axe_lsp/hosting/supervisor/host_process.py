"""The host as an operating system sees it: a process that is started, spoken to and ended.

The only module that knows process groups, signals and what is different on Windows. It must not
know what the lines say.
"""

from __future__ import annotations

import asyncio
import math
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from axe_lsp.runtime.processes import bare_environment, forbid_inspection
from axe_lsp.runtime.safety import orphans

OnLine = Callable[[bytes], None]

_INPUT, _OUTPUT, _ERRORS = 0, 1, 2

_LONGEST_ERROR = 1 << 16
"""A line of a process's standard error is cut into pieces of this many bytes."""

_LAST_WORDS = 1.0
"""Seconds for which the output of a process that has ended may stay open. A descendant that
inherited it could keep it open for ever, and what that one says is of no interest."""


async def start(command: Sequence[str], on_output: OnLine, on_errors: OnLine) -> HostProcess:
    """Start `command`, in an environment without keys; raises OSError."""
    forbid_inspection()
    async with orphans.starting() as started:
        transport, process = await asyncio.get_running_loop().subprocess_exec(
            lambda: HostProcess(on_output, on_errors), *command, env=bare_environment(), **_apart()
        )
        started(transport.get_pid())
    return process


def _apart() -> dict[str, Any]:
    """Return a process group of its own: Ctrl-C in the server's terminal is for the server to handle."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


class LineBuffer:
    """Cuts what arrives in pieces into lines; a line may be of any length, or `longest` is its end."""

    def __init__(self, on_line: OnLine, longest: float = math.inf) -> None:
        self._on_line = on_line
        self._longest = longest
        self._begun: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Hand out each line that `data` completes, without its newline."""
        first, *others = data.split(b"\n")
        self._begun.append(first)
        for piece in others:
            self._on_line(b"".join(self._begun))
            self._begun = [piece]
        if sum(map(len, self._begun)) > self._longest:
            self._on_line(b"".join(self._begun))
            self._begun = []


class HostProcess(asyncio.SubprocessProtocol):
    """A process whose lines are handed out as they come.

    `ended` is the return code, done after the last line was handed out. Nothing here delays the
    process: its lines are taken at once.
    """

    _transport: asyncio.SubprocessTransport

    def __init__(self, on_output: OnLine, on_errors: OnLine) -> None:
        self.ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        errors = LineBuffer(on_errors, _LONGEST_ERROR)
        self._lines = {_OUTPUT: LineBuffer(on_output), _ERRORS: errors}

    def write(self, data: bytes) -> None:
        """Send to its standard input; lost when the process has ended."""
        self._input().write(data)

    async def end(self, patience: float) -> None:
        """Close its input, which asks it to end, and insist if it is still there after a while."""
        self._input().close()
        if not await self._has_ended_within(patience):
            await self.kill(patience)

    async def kill(self, patience: float) -> None:
        """Terminate it, and kill it when that does not help. On Windows the two are the same."""
        for insist in (self._transport.terminate, self._transport.kill):
            try:
                insist()
            except ProcessLookupError:
                break
            if await self._has_ended_within(patience):
                break
        await asyncio.shield(self.ended)

    def release(self) -> None:
        """Leave it alone for ever, with a closed input: it may live on."""
        # asyncio kills a child whose transport is closed, unless it takes it to have ended.
        self._transport.get_extra_info("subprocess").returncode = 0
        self._input().close()
        self._finish()

    async def _has_ended_within(self, seconds: float) -> bool:
        await asyncio.wait({self.ended}, timeout=seconds)
        return self.ended.done()

    def _input(self) -> asyncio.WriteTransport:
        return cast(asyncio.WriteTransport, self._transport.get_pipe_transport(_INPUT))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take note that the process runs (asyncio)."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take output of the process (asyncio)."""
        self._lines[fd].feed(data)

    def process_exited(self) -> None:
        """Take note that the process has ended (asyncio); its last output may still arrive."""
        orphans.has_ended(self._transport.get_pid())
        asyncio.get_running_loop().call_later(_LAST_WORDS, self._finish)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that the process has ended and all its output has arrived (asyncio)."""
        self._finish()

    def _finish(self) -> None:
        if not self.ended.done():
            self.ended.set_result(self._transport.get_returncode() or 0)
            self._transport.close()


def how_it_ended(return_code: int | None) -> str:
    """Return a return code in words; None is that of a process that is no child of this one."""
    if return_code is None:
        return "has ended"
    if return_code >= 0:
        return f"exited with status {return_code}"
    return f"was ended by signal {-return_code} ({signal.strsignal(-return_code)})"
