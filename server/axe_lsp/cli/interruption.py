"""Runs a coroutine to its end, or until Ctrl-C or SIGTERM, whichever comes first."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from axe_lsp.cli.guard import IN_ORDER, SIGNALS, take_guard


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
    before = {number: signal.signal(number, end) for number in SIGNALS}
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
    """See to it that the process ends even if it is too busy to see a signal.

    Python writes the number of each signal to a pipe at once, whatever its threads do.
    """
    sink = take_guard()
    if sink is None:
        yield
        return
    before = signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(sink)
