"""Standard input and output as the streams to and from a client.

Only the caller of `claim` has the streams afterwards: they are moved away, so that a stray
`print`, a C library or a child process can neither corrupt the output nor eat input.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import select
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

_log = logging.getLogger(__name__)

_CHUNK = 64 * 1024
# Bytes that are read ahead of the loop are at most this many chunks.
_CHUNKS_AHEAD = 4

MOST_UNSENT = 64 * 1024 * 1024
"""A client that leaves this much unread doesn't read any more, and the server ends."""

# How much can be written without blocking to a pipe that is ready, where the system tells.
_PIECE: int = getattr(select, "PIPE_BUF", 0)


def claim() -> tuple[int, int]:
    """Return private descriptors of standard input and output.

    From then on descriptor 0 reads nothing, and 1 writes to standard error, as does `sys.stdout`.
    Raises `OSError` if one of them was closed when the process began.
    """
    # Not asked of the descriptors: anything may have been opened in the place of a closed one.
    if sys.stdin is None or sys.stdout is None:
        raise OSError(errno.EBADF, "standard input or output is closed")
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing if sys.stderr is None else 2, 1)
    os.close(nothing)
    sys.stdout.flush()
    sys.stdout = sys.stderr
    if sys.platform != "win32":
        # The parent process may have left them non-blocking; ours are for threads that may wait.
        os.set_blocking(source, True)
        os.set_blocking(sink, True)
    return source, sink


class Reader(Protocol):
    """The stream from the client."""

    async def read(self) -> bytes:
        """Return the next bytes; `b""` at the end of the stream."""


def open_reader(descriptor: int, at_end: Callable[[], None]) -> Reader:
    """Return a reader for whatever standard input is; `at_end` is called in a thread once it is over."""
    mode = os.fstat(descriptor).st_mode
    if sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return _LoopReader(descriptor, at_end)
    return _ThreadReader(descriptor, at_end)


class _LoopReader:
    """Reads a pipe or a socket on the loop, which asks the system when there is something.

    A thread that reads would have to hand over each message and the interpreter with it, which takes
    as long as it takes to answer many of them.
    """

    def __init__(self, descriptor: int, at_end: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        watch = partial(_wait_for_end, descriptor, at_end)
        threading.Thread(target=watch, name="end of input", daemon=True).start()

    async def read(self) -> bytes:
        ready = self._loop.create_future()
        self._loop.add_reader(self._descriptor, ready.set_result, None)
        try:
            await ready
        finally:
            self._loop.remove_reader(self._descriptor)
        return _read_chunk(self._descriptor)


def _wait_for_end(descriptor: int, at_end: Callable[[], None]) -> None:
    """Wait in a thread, since the loop may be stuck when the client hangs up."""
    if sys.platform != "win32":
        poll = select.poll()
        poll.register(descriptor, select.POLLHUP | getattr(select, "POLLRDHUP", 0))
        poll.poll()
        at_end()


class _ThreadReader:
    """Reads anything else in a thread of its own: loops take no files, nor Windows' pipes.

    asyncio's pool of threads would do, until as many handlers block as it has threads: then even
    `$/cancelRequest` is not read.
    """

    def __init__(self, descriptor: int, at_end: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._at_end = at_end
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._ahead = threading.Semaphore(_CHUNKS_AHEAD)
        threading.Thread(target=self._pump, name="input", daemon=True).start()

    async def read(self) -> bytes:
        while not self._chunks:
            self._news.clear()
            await self._news.wait()
        data = bytearray()
        while self._chunks and self._chunks[0]:
            data += self._chunks.popleft()
            self._ahead.release()
        return bytes(data)

    def _pump(self) -> None:
        chunk = b"x"
        while chunk:
            self._ahead.acquire()
            chunk = _read_chunk(self._descriptor)
            self._chunks.append(chunk)
            try:
                self._loop.call_soon_threadsafe(self._news.set)
            except RuntimeError:
                return  # The loop is closed.
        self._at_end()


def _read_chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError as error:
        _log.warning("standard input can't be read: %s", error)
        return b""


class PipeWriter:
    """Writes to a descriptor without ever blocking the caller.

    What the pipe takes at once is written at once: a thread would have to wait for the interpreter
    while the loop is busy, up to 5 ms. The rest is left to a thread, in order.
    """

    def __init__(self, descriptor: int, broken: Callable[[str], None]) -> None:
        """Write to a descriptor. `broken` gets the reason, in either thread, when nothing can be sent any more."""
        self._descriptor = descriptor
        self._broken = broken
        self._fits: Callable[[], object] = lambda: False
        if sys.platform != "win32":
            poll = select.poll()
            poll.register(descriptor, select.POLLOUT)
            self._fits = partial(poll.poll, 0)
        self._changed = threading.Condition()
        self._backlog: deque[bytes] = deque()
        self._unsent = 0
        self._closed = False
        self._thread = threading.Thread(target=self._drain, name="output", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Send `data`; dropped once the writer is closed or broken."""
        with self._changed:
            if self._closed:
                return
            if self._unsent > MOST_UNSENT:
                self._fail("the client does not read its messages")
                return
            rest = data if self._unsent else self._write_what_fits(data)
            if rest:
                self._backlog.append(rest)
                self._unsent += len(rest)
                self._changed.notify()

    def close(self) -> None:
        """Take nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def flush(self, within: float) -> None:
        """Close, and wait until all is sent, but no longer than `within` seconds."""
        self.close()
        self._thread.join(within)

    def _write_what_fits(self, data: bytes) -> bytes:
        written = 0
        try:
            while written < len(data) and self._fits():
                piece = data[written : written + _PIECE]
                written += os.write(self._descriptor, piece)
        except OSError as error:
            self._fail(str(error))
            return b""
        return data[written:]

    def _drain(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._backlog or self._closed)
                if not self._backlog:
                    return
                data = self._backlog.popleft()
            try:
                _write_all(self._descriptor, data)
            except OSError as error:
                with self._changed:
                    self._fail(str(error))
                return
            with self._changed:
                self._unsent -= len(data)

    def _fail(self, reason: str) -> None:
        self._closed = True
        self._backlog.clear()
        self._broken(reason)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
