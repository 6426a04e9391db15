"""A second process that kills this one when its end is due and it can't end by itself any more.

Python's signal handlers wait for the main thread, and while a regular expression runs no thread can do anything.
The guard is a fork, which does nothing but wait. POSIX only: Windows has no `fork`.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Collection, Container
from contextlib import suppress

from axe_lsp.runtime.processes import continue_without_parent, forbid_inspection

_MOST_FILES = 1000


def start_watchdog(
    patience: float,
    *,
    signals: Container[int] = (),
    lifeline: int | None = None,
    quiet: float = 0,
) -> int | None:
    """Have this process killed if it lives on for `patience` seconds when its end is due.

    That is so once a byte that is one of `signals` has been written to the descriptor that is returned, or once
    nobody can write to `lifeline`, the reading end of a pipe, any more. With a lifeline, a byte that is written to the
    descriptor is the patience in seconds from now on, so further bytes put off the end. The guard ends with this process, or when
    the descriptor is closed. To be called before there are threads. For the first `quiet` seconds it only waits, and
    can be looked into as long.
    """
    if sys.platform == "win32":
        return None
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    guarded = os.getpid()
    if os.fork():
        os.close(source)
        return sink
    with suppress(BaseException):
        _let_go({source, lifeline})
        _rest(source, quiet)
        forbid_inspection()
        continue_without_parent()
        _watch(guarded, source, lifeline, signals, patience)
    os._exit(0)


def _watch(
    guarded: int, source: int, lifeline: int | None, signals: Container[int], patience: float
) -> None:
    """Watch the process, in the guard, until it has ended or has been killed."""
    if sys.platform == "win32":
        return
    poll = select.poll()
    poll.register(source, select.POLLIN)
    if lifeline is not None:
        poll.register(lifeline, 0)
    deadline: float | None = None
    while deadline is None or time.monotonic() < deadline:
        left = None if deadline is None else 1000 * (deadline - time.monotonic())
        for file, _ in poll.poll(left):
            written = os.read(source, 64) if file == source else b""
            if file == source and not written:
                return
            if file == lifeline:
                poll.unregister(file)
            if written and lifeline is not None:
                patience, begins = written[-1], deadline is not None
            else:
                is_end = file == lifeline or any(each in signals for each in written)
                begins = is_end and deadline is None
            if begins:
                deadline = time.monotonic() + patience
    if os.getppid() == guarded:
        os.kill(guarded, signal.SIGKILL)


def _rest(source: int, seconds: float) -> None:
    """Leave the processor to the process that is guarded, unless that has something to say."""
    if sys.platform == "win32":
        return
    poll = select.poll()
    poll.register(source, select.POLLIN)
    poll.poll(1000 * seconds)


def _let_go(kept: Collection[int | None]) -> None:
    """Let go of what a fork inherits: ignore a terminal's signals, and close all files that are not `kept`."""
    if sys.platform == "win32":
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    first = 0
    for file in sorted(each for each in kept if each is not None):
        os.closerange(first, file)
        first = file + 1
    os.closerange(first, _MOST_FILES)
