"""Runs a coroutine to its end, or until Ctrl-C or SIGTERM, whichever comes first."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

IN_ORDER = 1.5
"""Seconds for ending in order after a signal; then the process ends, whatever its threads wait for."""

_AT_ALL = 0.3
"""Seconds more until it is killed, if not even that is possible."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_interrupted(work: Coroutine[Any, Any, int]) -> int:
    """The exit code that `work` returns, or that of shells for the signal (128 + its number).

    A signal cancels `work`, which so ends in order and loses nothing. The process is gone within two seconds,
    whatever holds it up.
    """
    received: list[int] = []

    async def guarded() -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int, _frame: FrameType | None) -> None:
            if not received:
                _end_soon(128 + number)
            received.append(number)
            loop.call_soon_threadsafe(task.cancel)

        with _handled(end):
            return await work

    try:
        with _guarded():
            return asyncio.run(guarded())
    except asyncio.CancelledError:
        if not received:
            raise
        return 128 + received[0]


@contextmanager
def _handled(end: Any) -> Iterator[None]:
    before = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_soon(code: int) -> None:
    """End the process even if a thread of it waits for ever, as for a disk that does not answer."""

    def end() -> None:
        time.sleep(IN_ORDER)
        os._exit(code)

    threading.Thread(target=end, name="last resort", daemon=True).start()


@contextmanager
def _guarded() -> Iterator[None]:
    """Have another process kill this one if it is too busy to see a signal.

    Python's handlers have to wait for the main thread, and a regular expression that runs for ever lets no
    thread do anything. But Python writes the number of each signal to a pipe at once, from the signal handler proper.
    """
    if sys.platform == "win32":  # It has no `fork`, and ends a process by other means.
        yield
        return
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    guard = os.fork()
    if not guard:
        with suppress(BaseException):
            _guard(os.getppid(), source)
        os._exit(0)
    os.close(source)
    before = signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(sink)  # By which it ends.
        with suppress(ChildProcessError):
            os.waitpid(guard, 0)


def _guard(guarded: int, source: int) -> None:
    """In the other process: wait for a signal, then for the end of the one that is guarded."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    os.closerange(0, source)
    os.closerange(
        source + 1, source + 1000
    )  # Nobody may wait for the end of what we have inherited.
    while numbers := os.read(source, 64):
        if not set(_SIGNALS).isdisjoint(numbers):
            break
    else:
        return
    deadline = time.monotonic() + IN_ORDER + _AT_ALL
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([source], [], [], left)
        if ready and not os.read(source, 64):
            return
    if os.getppid() == guarded:
        os.kill(guarded, signal.SIGKILL)
