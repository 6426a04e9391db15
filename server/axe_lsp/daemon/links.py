"""Folders that can be reached by several paths, such as links, and the one that each goes by.

`~/.config/axe/agents` is often a link into a repository of settings. Its agents are not defined twice
because the repository is open in an editor as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_Identity = tuple[int, int] | Path
"""Device and number of a folder; of one that isn't there, its path."""


class Twins:
    """The folders that have been met, each with the path that its files are known by."""

    def __init__(self) -> None:
        self._known: dict[Path, Path] = {}
        self._by_identity: dict[_Identity, Path] = {}

    def name(self, folder: Path) -> Path:
        """The path by which files in the folder are known: the first by which it was met."""
        if folder not in self._known:
            twin = self._by_identity.get(_identity(folder))
            if twin is None or _identity(twin) != _identity(folder):  # Numbers are used again.
                self._by_identity[_identity(folder)] = twin = folder
            self._known[folder] = twin
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
