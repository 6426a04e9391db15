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
_PARENT, _SESSION = 1, 3
"""Fields of /proc/PID/stat behind the name (proc(5))."""

_own: set[int] = set()
_one_at_a_time = anyio.Lock()


@asynccontextmanager
async def starting() -> AsyncIterator[Callable[[int], None]]:
    """Start a process with a session of its own within this, and say its number. No orphans are ended meanwhile."""
    async with _one_at_a_time:
        yield _own.add


def has_ended(pid: int) -> None:
    """A process that was started so has ended, and others may get its number."""
    _own.discard(pid)


async def end_orphans() -> None:
    """Kill all orphans, and wait until they are gone. Does nothing on systems without subreapers."""
    if sys.platform == "linux":
        async with _one_at_a_time:
            await anyio.to_thread.run_sync(_end, frozenset(_own))


def adopt() -> None:
    """Become the parent of orphans below this process, which is to call `end_orphans` where a keeper has been killed."""
    if sys.platform == "linux":
        _become_subreaper()


@cache
def _become_subreaper() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end(own: Collection[int]) -> None:
    if sys.platform != "linux":
        return
    for _ in range(_ROUNDS):
        orphans = [pid for pid in _children_in_other_sessions() if pid not in own]
        if not orphans:
            return
        for pid in orphans:
            with suppress(OSError):  # What has become another user's ends by itself.
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)


def _children_in_other_sessions() -> list[int]:
    found: list[int] = []
    if sys.platform != "linux":
        return found
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue  # It has just ended.
        if int(fields[_PARENT]) == os.getpid() and int(fields[_SESSION]) != os.getsid(0):
            found.append(int(status.parent.name))
    return found
