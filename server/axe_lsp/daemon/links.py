"""Links on the disk: folders that can be reached by several paths, and agents of one name that are one file.

`~/.config/axe/agents` is often a link into a repository of settings. Its agents are not defined twice
because the repository is open in an editor as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.workspace.snapshot import Snapshot

_Identity = tuple[int, int] | Path
"""Device and number of a folder; of one that isn't there, its path."""


class LinkedFolders:
    """The folders that have been met, each with the path that its files are known by."""

    def __init__(self) -> None:
        self._known: dict[Path, Path] = {}
        self._by_identity: dict[_Identity, Path] = {}

    def name(self, folder: Path) -> Path:
        """Return the path by which files in the folder are known: the first by which it was met."""
        if folder not in self._known:
            identity = _identity(folder)
            known = self._by_identity.get(identity)
            if known is None or _identity(known) != identity:  # Numbers are used again.
                self._by_identity[identity] = known = folder
            self._known[folder] = known
        return self._known[folder]

    def prefer(self, folder: Path) -> Path | None:
        """Have the folder go by this path from now on; the one that it went by, if another."""
        before = self.name(folder)
        if before == folder:
            return None
        self._by_identity[_identity(folder)] = folder
        for path, name in self._known.items():
            if name == before:
                self._known[path] = folder
        return before

    def forget(self, folders: Sequence[Path]) -> list[Path]:
        """Forget folders; the other paths to them, by which nothing is known of them."""
        gone = [path for path, name in self._known.items() if name in folders]
        for path in gone:
            del self._known[path]
        kept = self._by_identity.items()
        self._by_identity = {its: path for its, path in kept if path not in folders}
        return [path for path in gone if path not in folders]


def _identity(folder: Path) -> _Identity:
    try:
        status = folder.stat()
    except OSError:
        return folder
    return status.st_dev, status.st_ino


def real_uris(snapshot: Snapshot, changed: Iterable[str]) -> dict[str, str]:
    """Return where the files lie that have a name in common with one that has changed, as far as that is news.

    Only files that share a name are looked at, since there are few of them, and what was a link once: it
    may be none any more.
    """
    files = [file for uri in changed if (file := snapshot.file(uri)) is not None]
    known, touched = snapshot.real_uris, {file.uri for file in files}
    alike = (snapshot.names.get(stem, ()) for stem in {file.place.stem for file in files})
    namesakes = [uri for uris in alike if len(uris) > 1 for uri in uris]
    in_doubt = {uri for uri in namesakes if uri in touched or uri not in known}
    in_doubt |= touched & known.keys()
    if not in_doubt:
        return {}  # As after nearly every keystroke.
    real_folder = cache(os.path.realpath)
    found = {
        uri: _real_uri(path, real_folder(path.parent)) for uri in in_doubt if (path := path_of(uri))
    }
    return {uri: real for uri, real in found.items() if known.get(uri) != real}


def _real_uri(path: Path, folder: str) -> str:
    # Hardly any file is a link, and to follow all of a path takes many looks at the disk.
    return uri_of(Path(os.path.realpath(path)) if path.is_symlink() else Path(folder, path.name))
