"""Runs a coroutine to its end, or until Ctrl-C or SIGTERM, whichever comes first.

A guard, which is a process, kills the command if its end is due and it can't end by itself. The guard of a run is
forked before most modules are imported. The more memory a process has, the longer a fork of it takes, and each page
that it writes afterwards is copied: a fork just before the run was a twelfth of the time to its first request.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType

from axe_lsp.hosting.watchdog import start_watchdog

IN_ORDER = 1.5
"""Seconds for ending in order after a signal; then the process ends, whatever its threads wait for."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)

AT_ALL = 0.3
"""Seconds more until it is killed, if not even that is possible."""

SOON = 0.2
"""Seconds after which nobody can look into a run's process and its guard any more: by then the first request has
mostly been sent, which would otherwise wait for it."""

_last_resorts: list[threading.Event] = []
"""Of signals so far: set when the process goes on."""

_ready: list[int] = []
"""The guard that waits for a run: the end of a pipe to it, as of any guard."""


@contextmanager
def forked_early() -> Iterator[None]:
    """Provide a guard for the first run inside. Nothing is left of it if there is none."""
    sink = _forked()
    if sink is not None:
        _ready.append(sink)
    try:
        yield
    finally:
        leave_guard()


def leave_guard() -> None:
    """Leave the guard alone that waits for a run of this process, as a fork does, whose guard is another one."""
    while _ready:
        os.close(_ready.pop())


def _forked() -> int | None:
    return start_watchdog(IN_ORDER + AT_ALL, signals=SIGNALS, quiet=SOON)


def run_until_interrupted(work: Coroutine[object, object, int]) -> int:
    """Return the exit code that `work` returns, or that of shells for the signal (128 + its number).

    A signal cancels `work`, which so ends in order and loses nothing. The process is gone within two seconds,
    whatever holds it up.
    """
    # Imported late: a guard is forked before that.
    import asyncio

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
def _handled(end: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def go_on() -> None:
    """Call off the end of the process after a signal: its work has ended in order, and more work follows."""
    while _last_resorts:
        _last_resorts.pop().set()


def _end_soon(code: int) -> None:
    """End the process even if a thread of it waits for ever, as for a disk that does not answer."""
    goes_on = threading.Event()
    _last_resorts.append(goes_on)

    def end() -> None:
        if not goes_on.wait(IN_ORDER):
            os._exit(code)

    threading.Thread(target=end, name="last resort", daemon=True).start()


@contextmanager
def _guarded() -> Iterator[None]:
    """See to it that the process ends even if it is too busy to see a signal.

    Python writes the number of each signal to a pipe at once, whatever its threads do.
    """
    sink = _ready.pop() if _ready else _forked()
    if sink is None:
        yield
        return
    before = signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(sink)
