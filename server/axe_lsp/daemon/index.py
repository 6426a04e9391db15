"""What files on the disk say, for all clients: a file that one has had read is read for no other.

A file is known by its device, number, size and time of change. Whoever is told that a file has changed reads it in
any case, and so corrects what is known of it. Nothing here depends on what a client has set or has open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from axe_lsp.daemon.changes import Read, change_at
from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.workspace import Change

_Stamp = tuple[int, int, int, int, int]


class Index:
    """The files that some client has had read, by URI."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[_Stamp, AgentFile]] = {}

    def find(self, uri: str, stamp: _Stamp) -> AgentFile | None:
        """What the file says, if it is the one that was read."""
        known = self._files.get(uri)
        return known[1] if known is not None and known[0] == stamp else None

    def put(self, uri: str, stamp: _Stamp, file: AgentFile) -> None:
        """A client has had a file read."""
        self._files[uri] = stamp, file

    def keep_only(self, wanted: Iterable[Collection[str]]) -> None:
        """Forget the files that nobody wants any more."""
        kept = frozenset[str]().union(*wanted)
        self._files = {uri: each for uri, each in self._files.items() if uri in kept}


class Shelf:
    """The files that one client has read, and those that it finds in the index. Used by one thread at a time.

    A server with one client needs no index.
    """

    def __init__(self, index: Index | None) -> None:
        self._index = index
        self._stamps: dict[str, _Stamp] = {}

    def read(self, paths: Iterable[Path], read: Read, *, anew: bool) -> Iterator[Change]:
        """What lies at each path; `anew` if files may have changed since. Blocks while it is iterated."""
        index = None if anew else self._index
        for path in paths:
            yield self._known(path, index) or change_at(path, read)

    def keep(self, read: Iterable[Change], files: Mapping[str, AgentFile]) -> None:
        """What was read is these files now, for all clients."""
        if self._index is None:
            return
        for change in read:
            stamp, file = self._stamps.pop(change.uri, None), files.get(change.uri)
            if stamp is not None and file is not None:
                self._index.put(change.uri, stamp, file)

    def _known(self, path: Path, index: Index | None) -> Change | None:
        """The file at a path, if another client has had it read; else it is noted as it is now."""
        stamp = _stamp(path) if self._index is not None else None
        if stamp is None:
            return None
        uri = uri_of(path)
        file = index.find(uri, stamp) if index is not None else None
        if file is not None:
            return Change(uri, None, file=file)
        self._stamps[uri] = stamp
        return None


def _stamp(path: Path) -> _Stamp | None:
    """Taken before a file is read: what is written in between makes the next stamp another one."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
