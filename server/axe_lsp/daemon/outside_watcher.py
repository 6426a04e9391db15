"""Keeps the facts from outside open files and settings up to date: it decides when to look, never where.

Looks are taken in a thread, one at a time: when the question of a file changes, when a change of the
disk is reported, and at intervals, because not every change is reported. A look that took long is
not repeated soon.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from axe_lsp.tasks import Tasks
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Update

_log = logging.getLogger(__name__)

INTERVAL = 5.0
"""Seconds between two regular looks at the disk."""

_SHARE = 50
"""At most one part in this number of the time is spent on looks."""

_PAUSE = 0.1
"""Seconds without a new question before a look is taken."""

_MOST_PAUSES = 20

GoOn = Callable[[], bool]
Look = Callable[[AgentFile, GoOn], Facts]
"""Finds out about a file, in a thread, and hurries up once it is not to go on."""


def _watched(snapshot: Snapshot) -> Iterator[str]:
    """Yield the files whose facts are kept up to date.

    These are open ones, and settings of programs or the first agents of layers without, of which there are few.
    """
    yield from snapshot.buffers
    layers = snapshot.layers
    for uri in (*layers.settings.values(), *layers.first_agents.values()):
        if uri not in snapshot.buffers and _watched_file(snapshot, uri) is not None:
            yield uri


def _watched_file(snapshot: Snapshot, uri: str) -> AgentFile | None:
    file = snapshot.file(uri)
    if file is None or uri in snapshot.buffers:
        return file
    outside = file.outside
    is_asking = outside.contents or outside.instructions
    return file if is_asking and snapshot.layers.is_about_layer(file) else None


class OutsideWatcher:
    """Watches over what open files and settings ask, until the owner of `tasks` ends it or `close` is called."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        look: Look,
        take: Callable[[Mapping[str, Facts]], None],
        tasks: Tasks,
    ) -> None:
        self._snapshot = snapshot
        self._look = look
        self._take = take
        self._tasks = tasks
        self._woken = asyncio.Event()
        self._doubtful: set[str] = set()
        self._is_working = False
        self._is_over = False
        self._longest = 0.0

    def follow(self, update: Update) -> None:
        """Doubt the files whose questions have changed with an update."""
        snapshot = update.snapshot
        for uri in update.affected:
            file, known = _watched_file(snapshot, uri), snapshot.facts.get(uri)
            if file is not None and (known is None or known.question != file.question):
                self._doubt(uri)

    def look_again(self) -> None:
        """Doubt all files after a change on the disk or in the settings."""
        for uri in _watched(self._snapshot()):
            self._doubt(uri)

    def close(self) -> None:
        """End the search that is going on."""
        self._is_over = True

    def _doubt(self, uri: str) -> None:
        self._doubtful.add(uri)
        self._woken.set()
        if not self._is_working:
            self._is_working = True
            self._tasks.start_unattended(self._work(), name="outside watcher")

    async def _work(self) -> None:
        while True:
            await self._wait()
            try:
                await self._look_at_all()
            except Exception:  # noqa: BLE001 - the one guard of this worker: the next look is taken
                _log.exception("looking at the disk for an open agent failed")

    async def _wait(self) -> None:
        """Wait until a file is in doubt; after the interval all of them are."""
        has_files = any(True for _ in _watched(self._snapshot()))
        pause = max(INTERVAL, self._longest * _SHARE) if has_files else None
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._woken.wait(), pause)
            await self._let_it_be_finished()
        self._woken.clear()
        if not self._doubtful:
            self._doubtful.update(_watched(self._snapshot()))
            self._longest = 0.0

    async def _let_it_be_finished(self) -> None:
        """Wait: a path is typed letter by letter, and files are opened one after the other."""
        for _ in range(_MOST_PAUSES):
            self._woken.clear()
            await asyncio.sleep(_PAUSE)
            if not self._woken.is_set():
                return

    async def _look_at_all(self) -> None:
        while self._doubtful:
            uri = self._doubtful.pop()
            file = _watched_file(self._snapshot(), uri)
            if file is None:
                continue
            started = time.monotonic()
            facts = await asyncio.to_thread(self._look, file, lambda: not self._is_over)
            self._longest = max(self._longest, time.monotonic() - started)
            snapshot = self._snapshot()
            is_news = snapshot.facts.get(uri) != facts
            if is_news and _watched_file(snapshot, uri) is not None:
                self._take({uri: facts})
