"""Reads agent files in the background, in order and in portions; what one view has read is not read again for another.

Threads do the reading, since a disk may be slow; the event loop takes in a portion at a time, so that a keystroke never
waits for ten thousand files. A file is known by its device, number, size and time of change. When a file is reported as
changed, it is read again, unless it is the same and had not changed for a while when it was read: many clients report
the same files, and most of these files have not changed. The index depends on nothing that a client has set or has open.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from axe_lsp.daemon import disk
from axe_lsp.daemon.disk import Content
from axe_lsp.daemon.uris import uri_of
from axe_lsp.tasks import Tasks, let_others_go_first
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.places import CONFIG_FILE, Places
from axe_lsp.workspace.workspace import Change

Read = Callable[[Path], Content | None]
"""`disk.read`, or what else looks at a path."""

_LONG = 4 * 1024
"""Characters of a text that takes so long to parse that nothing may wait for it: broken ones take milliseconds, and
portions of fifty files are taken in at once."""

_Stamp = tuple[int, int, int, int, int]

SETTLED_SECONDS = 2.0
"""A file that is younger may change again without another time of change: some file systems count in steps of two seconds."""


class Index:
    """The files that some client has had read, by URI."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[_Stamp, AgentFile]] = {}
        self._settled: set[str] = set()

    def find(self, uri: str, stamp: _Stamp, *, is_in_doubt: bool) -> AgentFile | None:
        """Return the values of the file, if it is unchanged; `is_in_doubt` if a client reports a change."""
        known = self._files.get(uri)
        if known is None or known[0] != stamp or (is_in_doubt and uri not in self._settled):
            return None
        return known[1]

    def put(self, uri: str, noted: _Noted, file: AgentFile) -> None:
        """Store a file that a client has had read."""
        self._files[uri] = noted.stamp, file
        (self._settled.add if noted.is_settled else self._settled.discard)(uri)

    def keep_only(self, wanted: Iterable[Collection[str]]) -> None:
        """Forget the files that no view needs any more."""
        kept = frozenset[str]().union(*wanted)
        self._files = {uri: each for uri, each in self._files.items() if uri in kept}
        self._settled &= kept


class ClientIndex:
    """The files that one client has read, and those that it finds in the index. Used by one thread at a time.

    A server with one client needs no index.
    """

    def __init__(self, index: Index | None) -> None:
        self._index = index
        self._noted: dict[str, _Noted] = {}

    def read(self, paths: Iterable[Path], read: Read, *, anew: bool) -> Iterator[Change]:
        """Yield the content of each path; `anew` if files may have changed. Blocks while it is iterated."""
        for path in paths:
            yield self._known(path, is_in_doubt=anew) or change_at(path, read)

    def keep(self, read: Iterable[Change], files: Mapping[str, AgentFile]) -> None:
        """Set the values of these files from now on, for all clients."""
        if self._index is None:
            return
        for change in read:
            noted, file = self._noted.pop(change.uri, None), files.get(change.uri)
            if noted is not None and file is not None:
                self._index.put(change.uri, noted, file)

    def _known(self, path: Path, *, is_in_doubt: bool) -> Change | None:
        """Return the file at a path, if it has been read; else it is noted as it is now."""
        noted = _note(path) if self._index is not None else None
        if noted is None or self._index is None:
            return None
        uri = uri_of(path)
        file = self._index.find(uri, noted.stamp, is_in_doubt=is_in_doubt)
        if file is not None and (not is_in_doubt or disk.is_called_so(path)):
            return Change(uri, None, file=file)
        self._noted[uri] = noted
        return None


class _Noted(NamedTuple):
    """A file as it was right before it was read, and whether it had not changed for a while."""

    stamp: _Stamp
    is_settled: bool


def _note(path: Path) -> _Noted | None:
    """Return the next stamp differs after a write behind this one."""
    try:
        status = path.stat()
    except OSError:
        return None
    changed = max(status.st_mtime, status.st_ctime)
    stamp = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return _Noted(stamp, time.time() - changed > SETTLED_SECONDS)


def change_at(path: Path, read: Read) -> Change:
    """Return the content of the path: its text, or the values of the text if it is long. Blocks."""
    content = read(path)
    if content is None:
        return Change(uri_of(path), None)
    fault, fault_at = content.fault, content.fault_at
    # What config.toml says depends on where it lies, which the workspace alone knows.
    if len(content.text) <= _LONG or path.name == CONFIG_FILE:
        return Change(uri_of(path), content.text, fault=fault, fault_at=fault_at)
    # The workspace puts the file into its place, for which there may be settings.
    place = Places().locate(uri_of(path))
    file = read_agent_file(place, content.text, fault=fault, fault_at=fault_at)
    return Change(place.uri, None, file=file)


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
        """Wait a moment with files that no client has open: a client has just sent a text.

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
        """Wait until clients pause, at most a few times per scan: continuous typing must not stop it."""
        while self._is_typing(_PAUSE) and self._pauses < _MOST_PAUSES:
            self._pauses += 1
            await asyncio.sleep(_PAUSE)
        if not self._is_typing(_PAUSE):
            self._pauses = 0

    def _is_typing(self, seconds: float) -> bool:
        """Return whether a client has sent a text so shortly ago."""
        return time.monotonic() - self._last_text < seconds
