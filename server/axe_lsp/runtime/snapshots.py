"""The state of a folder with which copies begin, found once for all agents that are called at the same moment.

Everything else is imported when the first copy is made.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

_Snapshot = TypeVar("_Snapshot")


_AT_ONCE = 4
"""Copies that are made at the same time, or as many as there are processors."""


class Snapshots:
    """Those of one process. One is made at a time for each folder.

    Who asks while one is made gets the next one, together with all others who ask until that is begun. So each copy
    begins with a state of the folder that is not older than the question.
    """

    def __init__(self) -> None:
        self._folders: dict[str, _Folder] = {}
        self.making = anyio.Semaphore(max(_AT_ONCE, os.cpu_count() or 1))
        """Held while files are written: the first agents begin their work before the last ones have their copies."""

    async def of(self, folder: str, make: Callable[[], Awaitable[_Snapshot]]) -> _Snapshot:
        """The state of a folder, by which it is made here or for somebody else. Raises what `make` raises."""
        shared = self._folders.setdefault(folder, _Folder())
        shared.users += 1
        turn = shared.next
        try:
            async with shared.lock:
                if turn.made is None:  # If nobody could make it before.
                    if shared.next is turn:
                        shared.next = _Turn()
                    turn.made = await make()
            made: _Snapshot = turn.made
            return made
        finally:
            shared.users -= 1
            if not shared.users:
                del self._folders[folder]


class _Turn:
    """One state, and who waits for it."""

    made: Any = None


class _Folder:
    """A folder of which copies are wanted."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.next = _Turn()
        self.users = 0
