"""Two copies of the same files that are kept alike: one here, one on another machine.

Each side sends what has changed since the two were last alike (`changes`), and the other takes it. What
arrives is a stranger's: no path leaves the copy, none is in a git folder, and no link leads out of it, not
even by way of other links. All calls block.
"""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from axe_lsp.runtime.copies.git import (
    DiffEntry,
    OwnGit,
    changed_files,
    contents,
    diff_entries,
    files_in_copy,
    store,
    write_changes,
    write_tree,
)


class TrackedFiles:
    """The files of the folder `tree`, and the tree of git that they make: one call of git where nothing has changed.

    `index` is ours; `known` is the tree that it has, "" if nobody knows.
    """

    def __init__(self, own: OwnGit, tree: Path, index: Path, known: str = "") -> None:
        self.own = own
        self.tree = tree
        self.index = index
        self.known = known

    def now(self) -> str:
        """Return the tree that the files make now, which the index has from now on. Raises GitError or OSError."""
        changed = changed_files(self.own, self.tree, self.index) if self.known else None
        if changed is not None and not changed:
            return self.known
        self.known = ""
        if changed is None or any(_is_beyond_link(self.tree, each) for each in changed):
            files = files_in_copy(self.own, self.tree, self.index)
            self.known = write_tree(self.own, self.tree, self.index, files)
        else:
            self.known = write_changes(self.own, self.tree, self.index, changed)
        return self.known


def _is_beyond_link(tree: Path, path: bytes) -> bool:
    """Return whether an agent has put a link in the place of a folder above a file."""
    above = (tree / os.fsdecode(path)).parent
    return above.resolve() != tree.resolve() / above.relative_to(tree)


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
    """The files of one of the two copies. `state` is the tree that both last had."""

    def __init__(self, files: TrackedFiles) -> None:
        self._files = files
        self.state = files.known

    def changes(self) -> tuple[str, list[Changed]]:
        """Return the tree that the copy has now, and what has changed. Raises GitError, OSError or PatchError."""
        own = self._files.own
        now = self._files.now()
        if now == self.state:
            return now, []
        entries = diff_entries(own, self.state, now)
        wanted = [each for each in entries if each.new_mode in _MODES]
        _check_size(map(self._size, wanted))
        found = contents(own, [each.new for each in wanted])
        # What was stored, whatever is there by now.
        _check_size(len(found[each.new]) for each in wanted)
        changed = [
            Changed(each.path, each.new_mode, found[each.new])
            if each.new_mode in _MODES
            else Changed(each.path)
            for each in entries
        ]
        return now, changed

    def refresh(self) -> None:
        """Prepare for the other copy to be made anew, of what is here. Raises GitError or OSError."""
        self.state = self._files.now()

    def take(self, changed: Sequence[Changed]) -> list[str]:
        """Make the same changes here; returns the links that were left out, since they lead out of the copy.

        Raises GitError, OSError or PatchError. Then nothing is changed.
        """
        check(changed)
        kept = [each for each in changed if each.mode != _LINK or is_inside(each)]
        own, tree, index = self._files.own, self._files.tree, self._files.index
        now = index.with_name("index.new")
        now.with_name("index.new.lock").unlink(missing_ok=True)  # Of a call of git that was killed.
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        nothing = "0" * len(self.state)
        names = {
            each.path: store(own, "blob", each.content, len(nothing)) for each in kept if each.mode
        }
        # Files that are gone come first: a folder may take the place of one.
        lines = [
            f"{each.mode or 0} {names.get(each.path, nothing)}\t".encode() + each.path
            for each in sorted(kept, key=lambda each: bool(each.mode))
        ]
        try:
            shutil.copy2(index, now)
            own(
                *("update-index", "--add", "--replace", "-z", "--index-info"),
                tree=tree,
                index=now,
                stdin=b"".join(line + b"\0" for line in lines),
            )
            state = own("write-tree", tree=tree, index=now).decode().strip()
        finally:
            now.unlink(missing_ok=True)
        self._files.known = ""
        own("read-tree", "--reset", "-u", state, tree=tree, index=index)
        self._files.known = self.state = state
        return [
            os.fsdecode(each.path) for each in changed if each.mode == _LINK and each not in kept
        ]

    def _size(self, entry: DiffEntry) -> int:
        try:
            return (self._files.tree / os.fsdecode(entry.path)).lstat().st_size
        except OSError:  # It is gone again.
            return 0


def _check_size(sizes: Iterable[int]) -> None:
    """Raise PatchError if files of these sizes are not sent at once."""
    size = sum(sizes)
    if size > MOST_BYTES:
        raise PatchError(
            f"the changed files have {size:,} bytes, more than {MOST_BYTES:,}; "
            "delete what can be made again, or name it in .gitignore"
        )


def check(changed: Sequence[Changed]) -> None:
    """Raise PatchError for what can't be the changes of a copy."""
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
    """Return whether a link stays in the copy. `..` stands only at its beginning, where it means what it seems to.

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
    """Return whether a part of a path is a git folder, on any file system."""
    return part.rstrip(b" .").lower() in (b".git", b"git~1")
