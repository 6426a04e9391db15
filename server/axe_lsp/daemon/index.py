"""The content of files on the disk, for all clients: a file that one view has read is not read again for another.

A file is known by its device, number, size and time of change. When a file is reported as changed, it is read again, unless it is the same and had not changed
for a while when it was read: many clients report the same files, and most of these files have not changed. Nothing here depends on what a client has set or has open.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from axe_lsp.daemon import disk
from axe_lsp.daemon.disk import Content
from axe_lsp.daemon.uris import uri_of
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
        """The values of the file, if it is unchanged; `is_in_doubt` if a client reports a change."""
        known = self._files.get(uri)
        if known is None or known[0] != stamp or (is_in_doubt and uri not in self._settled):
            return None
        return known[1]

    def put(self, uri: str, noted: _Noted, file: AgentFile) -> None:
        """A client has had a file read."""
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
        """The content of each path; `anew` if files may have changed. Blocks while it is iterated."""
        for path in paths:
            yield self._known(path, is_in_doubt=anew) or change_at(path, read)

    def keep(self, read: Iterable[Change], files: Mapping[str, AgentFile]) -> None:
        """The values of these files from now on, for all clients."""
        if self._index is None:
            return
        for change in read:
            noted, file = self._noted.pop(change.uri, None), files.get(change.uri)
            if noted is not None and file is not None:
                self._index.put(change.uri, noted, file)

    def _known(self, path: Path, *, is_in_doubt: bool) -> Change | None:
        """The file at a path, if it has been read; else it is noted as it is now."""
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
    """The next stamp differs after a write behind this one."""
    try:
        status = path.stat()
    except OSError:
        return None
    changed = max(status.st_mtime, status.st_ctime)
    stamp = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return _Noted(stamp, time.time() - changed > SETTLED_SECONDS)


def change_at(path: Path, read: Read) -> Change:
    """The content of the path: its text, or the values of the text if it is long. Blocks."""
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
