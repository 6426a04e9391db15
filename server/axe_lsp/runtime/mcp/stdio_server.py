"""An MCP server that is a process: lines over its standard streams, and its end in any case.

The SDK's own transport leaves a stubborn server behind when this process is killed, hangs at a line
that is no UTF-8, and reads lines of any length.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import anyio

from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.tools.kept_process import KeptProcess, start_kept

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of a message."""

_KEPT_ERRORS = 64 * 1024
_SHOWN_ERRORS = 2 * 1024
"""Bytes of what a server has written to standard error."""


class LineTooLongError(Exception):
    """The server has sent a message beyond the limit."""


class ServerProcess:
    """A started server. Its standard error is read from the start, so that it never waits for us.

    `is_over` is whether it has closed its standard output, or has said more than it may.
    """

    def __init__(self, kept: KeptProcess) -> None:
        self._kept = kept
        self._errors = bytearray()
        self.is_over = False

    @property
    def errors(self) -> str:
        """The end of what it has written to standard error."""
        return valid_text(self._errors[-_SHOWN_ERRORS:].decode("utf-8", "replace")).strip()

    @property
    def exit_code(self) -> int | None:
        """With which it has ended; None if it is there."""
        return self._kept.process.returncode

    async def read_errors(self) -> None:
        """Read its standard error, until that ends."""
        assert self._kept.process.stderr is not None
        async for piece in self._kept.process.stderr:
            self._errors += piece
            del self._errors[:-_KEPT_ERRORS]

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of its standard output. Raises LineTooLongError."""
        assert self._kept.process.stdout is not None
        unfinished = bytearray()
        try:
            async for piece in self._kept.process.stdout:
                *lines, rest = piece.split(b"\n")
                if lines:
                    yield bytes(unfinished + lines[0])
                    for line in lines[1:]:
                        yield line
                    unfinished.clear()
                unfinished += rest
                if len(unfinished) > LONGEST_LINE:
                    raise LineTooLongError("the server has sent a line of more than 16 MB")
        finally:
            self.is_over = True

    async def send(self, line: bytes) -> None:
        """Write a line. Raises anyio's BrokenResourceError or ClosedResourceError if the server no longer reads."""
        assert self._kept.process.stdin is not None
        await self._kept.process.stdin.send(line + b"\n")

    async def end(self, within: float) -> None:
        """Close its standard input, ask it to end with SIGTERM, and end it with all that it has started.

        It may take so many seconds after each of the first two.
        """
        process = self._kept.process
        assert process.stdin is not None
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
        with anyio.move_on_after(within):
            await process.wait()
        if process.returncode is None:
            self._kept.ask_to_end()
            with anyio.move_on_after(within):
                await process.wait()
        if process.returncode is not None:
            with anyio.move_on_after(within):
                await self.read_errors()
        await self._kept.end()


async def start_server(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> ServerProcess:
    """Start a server. Raises OSError if that can't be done."""
    with anyio.CancelScope(shield=True):  # What was started half can't be ended.
        kept = await start_kept(
            command, folder, environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
    return ServerProcess(kept)
