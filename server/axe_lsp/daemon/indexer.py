"""Reads agent files in the background, in order and in portions.

Threads do the reading, since a disk may be slow; the event loop takes in a portion at a time, so
that a keystroke never waits for ten thousand files.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from axe_lsp.daemon import disk
from axe_lsp.daemon.index import ClientIndex, Index
from axe_lsp.tasks import Tasks, let_others_go_first
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.workspace import Change

_log = logging.getLogger(__name__)

PORTION = 50
"""Files that are taken in without a pause; some milliseconds of work."""

_SMALL_PORTION = 10
"""The same while the user types, since the next keystroke may come before it ends."""

_TYPING = 1.0
"""Seconds after a text from a client in which the next one is expected."""

_READ = 3 * PORTION
"""Files that are read before they are taken in: to hand over to a thread and back costs as much as a few of them."""

_PAUSE = 0.05
"""Seconds without a text from a client after which it is taken to have paused."""

_MOST_PAUSES = 40
"""So often it is waited for a pause until there is one."""

Take = Callable[[Sequence[Change]], Mapping[str, AgentFile]]
"""Takes changes in, and gives all closed files after that."""
Done = Callable[[], None]


class Indexer:
    """One worker, which does its jobs one after the other until the owner of `tasks` ends it."""

    def __init__(self, index: Index | None, take: Take, tasks: Tasks) -> None:
        self._shelf = ClientIndex(index)
        self._take = take
        self._tasks = tasks
        self._jobs: asyncio.Queue[tuple[Iterator[Change], Done]] = asyncio.Queue()
        self._is_working = False
        self._pauses = 0
        self._last_text = -_TYPING

    def give_way(self) -> None:
        """A client has just sent a text: files that no client has open can wait a moment.

        Who opens file after file will get to most of them, and then they need not be read twice.
        """
        self._last_text = time.monotonic()

    def read(self, paths: Iterable[Path], done: Done = lambda: None) -> None:
        """Read files that their folders list; call `done` when they are taken in.

        `paths` is iterated in a thread, so it may look for the files while it goes.
        """
        self._start(self._shelf.read(paths, disk.read, anew=False), done)

    def read_again(self, paths: Iterable[Path]) -> None:
        """Read files that may have changed, appeared or gone."""
        self._start(self._shelf.read(paths, disk.read_exactly, anew=True), lambda: None)

    def _start(self, found: Iterator[Change], done: Done) -> None:
        self._jobs.put_nowait((found, done))
        if not self._is_working:
            self._is_working = True
            self._tasks.start_unattended(self._work(), name="indexer")

    async def settled(self) -> None:
        """Wait until all jobs are done."""
        await self._jobs.join()

    async def _work(self) -> None:
        while True:
            found, done = await self._jobs.get()
            try:
                await self._take_all(found)
                done()
            except Exception:  # noqa: BLE001 - the one guard of this worker: the next job goes on
                _log.exception("reading agent files failed")
            finally:
                self._jobs.task_done()

    async def _take_all(self, found: Iterator[Change]) -> None:
        while read := await asyncio.to_thread(lambda: list(islice(found, _READ))):
            rest = iter(read)
            while portion := list(islice(rest, self._portion)):
                await self._let_clients_go_first()
                self._shelf.keep(portion, self._take(portion))
                await let_others_go_first()

    @property
    def _portion(self) -> int:
        return _SMALL_PORTION if self._is_typing(_TYPING) else PORTION

    async def _let_clients_go_first(self) -> None:
        """Until they pause. Who types for hours holds all files up once, and not each portion."""
        while self._is_typing(_PAUSE) and self._pauses < _MOST_PAUSES:
            self._pauses += 1
            await asyncio.sleep(_PAUSE)
        if not self._is_typing(_PAUSE):
            self._pauses = 0

    def _is_typing(self, seconds: float) -> bool:
        """Whether a client has sent a text so shortly ago."""
        return time.monotonic() - self._last_text < seconds
