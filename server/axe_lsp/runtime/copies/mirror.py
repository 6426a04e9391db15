"""Two copies of the same files that are kept alike: one here, one on another machine.

Each side sends what has changed since the two were last alike (`changes`), and the other takes it. What
arrives is a stranger's: no path leaves the copy, none is in a git folder, and no link leads out of it, not
even by way of other links. All calls block.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from axe_lsp.runtime.copies.git import (
    GitError,
    OwnGit,
    contents,
    diff_entries,
    files_in_copy,
    write_tree,
)

MOST_BYTES = 64 * 1024 * 1024
"""The size of all files that are sent at once."""

_MOST_CHANGES = 200_000
_LONGEST_PATH = 4096
_LINK = "120000"
_MODES = frozenset({"100644", "100755", _LINK})


class PatchError(Exception):
    """Changes that are not sent, or not taken. The text completes "the changes can't be brought here: "."""


class Changed(Struct, frozen=True, omit_defaults=True):
    """A file by its path from the top. `mode` is git's, such as `100755`, or "" for a file that is gone."""

    path: bytes
    mode: str = ""
    content: bytes = b""


class Mirror:
    """The files of one of the two copies. `index` is ours, `state` the tree that both last had."""

    def __init__(self, own: OwnGit, tree: Path, index: Path, state: str) -> None:
        self._own = own
        self._tree = tree
        self._index = index
        self.state = state

    def changes(self) -> tuple[str, list[Changed]]:
        """The tree that the copy has now, and what has changed. Raises GitError, OSError or PatchError."""
        own = self._own
        files = files_in_copy(own, self._tree, self._index)
        now = write_tree(own, self._tree, self._index, files)
        if now == self.state:
            return now, []
        entries = diff_entries(own, self.state, now)
        wanted = [each.new for each in entries if each.new_mode in _MODES]
        size = sum(_sizes(own, wanted))
        if size > MOST_BYTES:
            raise PatchError(
                f"the changed files have {size:,} bytes, more than {MOST_BYTES:,}; "
                "delete what can be made again, or name it in .gitignore"
            )
        found = contents(own, wanted)
        changed = [
            Changed(each.path, each.new_mode, found[each.new])
            if each.new_mode in _MODES
            else Changed(each.path)
            for each in entries
        ]
        return now, changed

    def refresh(self) -> None:
        """The other copy is about to be made anew, of what is here. Raises GitError or OSError."""
        files = files_in_copy(self._own, self._tree, self._index)
        self.state = write_tree(self._own, self._tree, self._index, files)

    def take(self, changed: Sequence[Changed]) -> list[str]:
        """Make the same changes here; returns the links that were left out, since they lead out of the copy.

        Raises GitError, OSError or PatchError. Then nothing is changed.
        """
        check(changed)
        kept = [each for each in changed if each.mode != _LINK or is_inside(each)]
        own, now = self._own, self._index.with_name("index.new")
        names = _stored(own, kept)
        nothing = "0" * len(self.state)
        # Files that are gone come first: a folder may take the place of one.
        lines = [
            f"{each.mode or 0} {names.get(each.path, nothing)}\t".encode() + each.path
            for each in sorted(kept, key=lambda each: bool(each.mode))
        ]
        try:
            shutil.copy2(self._index, now)
            own(
                *("update-index", "--add", "--replace", "-z", "--index-info"),
                tree=self._tree,
                index=now,
                stdin=b"".join(line + b"\0" for line in lines),
            )
            state = own("write-tree", tree=self._tree, index=now).decode().strip()
        finally:
            now.unlink(missing_ok=True)
        own("read-tree", "--reset", "-u", state, tree=self._tree, index=self._index)
        self.state = state
        return [
            os.fsdecode(each.path) for each in changed if each.mode == _LINK and each not in kept
        ]


def check(changed: Sequence[Changed]) -> None:
    """Raises PatchError for what can't be the changes of a copy."""
    if len(changed) > _MOST_CHANGES or sum(len(each.content) for each in changed) > MOST_BYTES:
        raise PatchError("they are too many or too large")
    for each in changed:
        parts = each.path.split(b"/")
        is_strange = b"\0" in each.path or len(each.path) > _LONGEST_PATH
        if is_strange or any(part in (b"", b".", b"..") or _is_git(part) for part in parts):
            raise PatchError("one of their paths is outside of the copy")
        if each.mode and each.mode not in _MODES:
            raise PatchError("one of their files is not a file")
        if each.mode == _LINK and (not each.content or b"\0" in each.content):
            raise PatchError("one of their links leads nowhere")


def is_inside(link: Changed) -> bool:
    """Whether a link stays in the copy. `..` stands only at its beginning, where it means what it seems to.

    So it leads into a folder of the copy that is no link, or by way of other links that stay inside.
    """
    parts = link.content.split(b"/")
    up = 0
    while up < len(parts) and parts[up] in (b"..", b"."):
        up += 1
    if link.content.startswith(b"/") or b".." in parts[up:] or any(map(_is_git, parts)):
        return False
    place = posixpath.normpath(posixpath.join(posixpath.dirname(link.path), link.content))
    return not (place == b".." or place.startswith(b"../"))


def _is_git(part: bytes) -> bool:
    """Whether a part of a path is a git folder, on any file system."""
    return part.rstrip(b" .").lower() in (b".git", b"git~1")


def _stored(own: OwnGit, changed: Iterable[Changed]) -> dict[bytes, str]:
    """The contents, stored: their ids by path."""
    with_content = [each for each in changed if each.mode]
    if not with_content:
        return {}
    with tempfile.TemporaryDirectory(dir=own.folder) as scratch:
        places = [Path(scratch, str(number)) for number in range(len(with_content))]
        for place, each in zip(places, with_content, strict=True):
            place.write_bytes(each.content)
        listed = "".join(f"{place}\n" for place in places).encode()
        answer = own("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listed)
    names = answer.decode().split()
    if len(names) != len(with_content):
        raise GitError("git has not stored all files")
    return {each.path: name for each, name in zip(with_content, names, strict=True)}


def _sizes(own: OwnGit, ids: Sequence[str]) -> list[int]:
    if not ids:
        return []
    asked = "".join(f"{each}\n" for each in ids).encode()
    answer = own("cat-file", "--batch-check=%(objectsize)", stdin=asked)
    return [int(line) for line in answer.split()]
