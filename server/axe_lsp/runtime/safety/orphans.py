"""Processes whose parents have been killed: those of commands that kill what keeps them.

On Linux they become children of this process, whatever they have made of their environment and session. So they
are told from its own children, which say so here when they get a session of their own; all others have its session.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path

import anyio

_ROUNDS = 200
"""Each one that is killed may leave further ones behind."""

_PR_SET_CHILD_SUBREAPER = 36
_PARENT, _SESSION, _START = 1, 3, 19
"""Fields of /proc/PID/stat behind the name (proc(5))."""

_own: dict[int, int] = {}
"""The times at which they were started, since others may get their numbers."""

_one_at_a_time = anyio.Lock()


@asynccontextmanager
async def starting() -> AsyncIterator[Callable[[int], None]]:
    """Start a process with a session of its own within this, and say its number. No orphans are ended meanwhile."""
    async with _one_at_a_time:
        yield _is_own


def has_ended(pid: int) -> None:
    """Take note that a process that was started so has ended, and others may get its number."""
    _own.pop(pid, None)


def _is_own(pid: int) -> None:
    status = _status(Path(f"/proc/{pid}/stat")) if sys.platform == "linux" else None
    if status is not None:
        _own[pid] = int(status[_START])


async def end_orphans() -> None:
    """Kill all orphans, and wait until they are gone. Does nothing on systems without subreapers."""
    if sys.platform == "linux":
        async with _one_at_a_time:
            await anyio.to_thread.run_sync(_end, frozenset(_own.items()))


def adopt() -> None:
    """Become the parent of orphans below this process, which is to call `end_orphans` where a keeper has been killed."""
    if sys.platform == "linux":
        _become_subreaper()


@cache
def _become_subreaper() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end(own: Collection[tuple[int, int]]) -> None:
    if sys.platform != "linux":
        return
    for _ in range(_ROUNDS):
        orphans = [pid for pid, start in _children_in_other_sessions() if (pid, start) not in own]
        if not orphans:
            return
        for pid in orphans:
            with suppress(OSError):  # What has become another user's ends by itself.
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)


def _children_in_other_sessions() -> list[tuple[int, int]]:
    """Return the numbers of processes, and when they were started."""
    found: list[tuple[int, int]] = []
    if sys.platform != "linux":
        return found
    for path in Path("/proc").glob("[0-9]*/stat"):
        status = _status(path)
        if status is None:
            continue
        if int(status[_PARENT]) == os.getpid() and int(status[_SESSION]) != os.getsid(0):
            found.append((int(path.parent.name), int(status[_START])))
    return found


def _status(path: Path) -> list[bytes] | None:
    """Return the fields behind the name; None for a process that has just ended."""
    try:
        return path.read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
