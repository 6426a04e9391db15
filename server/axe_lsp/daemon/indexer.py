"""Reads agent files in the background, in order and in portions.

Threads do the reading, since a disk may be slow; the event loop takes in a portion at a time, so
that a keystroke never waits for ten thousand files.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import uri_of
from axe_lsp.tasks import Tasks
from axe_lsp.workspace.workspace import Change

_log = logging.getLogger(__name__)

PORTION = 50
"""Files that are taken in without a pause; some milliseconds of work."""

_PAUSE = 0.05
"""Seconds without a text from a client after which it is taken to have paused."""

_MOST_PAUSES = 40

Take = Callable[[Sequence[Change]], None]
Done = Callable[[], None]


class Indexer:
    """One worker, which does its jobs one after the other until the owner of `tasks` ends it."""

    def __init__(self, take: Take, tasks: Tasks) -> None:
        self._take = take
        self._tasks = tasks
        self._jobs: asyncio.Queue[tuple[Iterator[Change], Done]] = asyncio.Queue()
        self._is_working = False
        self._gives_way = False

    def give_way(self) -> None:
        """A client has just sent a text: those of files that nobody has open can wait a moment.

        Who opens file after file will get to most of them, and then they need not be read twice.
        """
        self._gives_way = True

    def read(self, paths: Iterable[Path], done: Done = lambda: None) -> None:
        """Read files that their folders list; call `done` when they are taken in.

        `paths` is iterated in a thread, so it may look for the files while it goes.
        """
        self._start((_change(path, disk.read(path)) for path in paths), done)

    def read_again(self, paths: Iterable[Path]) -> None:
        """Read files that may have changed, appeared or gone."""
        self._start((_change(path, disk.read_exactly(path)) for path in paths), lambda: None)

    def _start(self, changes: Iterator[Change], done: Done) -> None:
        self._jobs.put_nowait((changes, done))
        if not self._is_working:
            self._is_working = True
            self._tasks.start_unattended(self._work(), name="indexer")

    async def settled(self) -> None:
        """Wait until all jobs are done."""
        await self._jobs.join()

    async def _work(self) -> None:
        while True:
            changes, done = await self._jobs.get()
            try:
                await self._take_all(changes)
                done()
            except Exception:  # noqa: BLE001 - the one guard of this worker: the next job goes on
                _log.exception("reading agent files failed")
            finally:
                self._jobs.task_done()

    async def _take_all(self, changes: Iterator[Change]) -> None:
        while portion := await asyncio.to_thread(lambda: list(islice(changes, PORTION))):
            await self._let_clients_go_first()
            self._take(portion)

    async def _let_clients_go_first(self) -> None:
        """Until they pause. Who types for hours holds nothing up for long."""
        for _ in range(_MOST_PAUSES):
            if not self._gives_way:
                return
            self._gives_way = False
            await asyncio.sleep(_PAUSE)


def _change(path: Path, content: disk.Content | None) -> Change:
    if content is None:
        return Change(uri_of(path), None)
    fault, where = content.fault, content.fault_at
    return Change(uri_of(path), content.text, fault=fault, fault_at=where)
