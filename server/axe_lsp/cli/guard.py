"""The guard of a command: a process that kills it if its end is due and it can't end by itself.

The guard of a run is forked before most modules are imported. The more memory a process has, the longer a fork of it takes,
and each page that it writes afterwards is copied: a fork just before the run was a twelfth of the time to its first request.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from axe_lsp.hosting.watchdog import start_watchdog

IN_ORDER = 1.5
"""Seconds for ending in order after a signal; then the process ends, whatever its threads wait for."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)

_AT_ALL = 0.3
"""Seconds more until it is killed, if not even that is possible."""

SOON = 0.2
"""Seconds after which nobody can look into a run's process and its guard any more: by then the first request has
mostly been sent, which would otherwise wait for it."""

_ready: list[int] = []
"""The guard that waits for a run: the end of a pipe to it, as of any guard."""


@contextmanager
def forked_early() -> Iterator[None]:
    """A guard for the first run inside. Nothing is left of it if there is none."""
    sink = _forked()
    if sink is not None:
        _ready.append(sink)
    try:
        yield
    finally:
        while _ready:
            os.close(_ready.pop())


def take_guard() -> int | None:
    """The guard that waits for a run, or else a new one; None where there are none."""
    return _ready.pop() if _ready else _forked()


def _forked() -> int | None:
    return start_watchdog(IN_ORDER + _AT_ALL, signals=SIGNALS, quiet=SOON)
