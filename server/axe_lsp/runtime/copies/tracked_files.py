"""The files of a copy, and the tree of git that they make: one call of git where nothing has changed."""

from __future__ import annotations

import os
from pathlib import Path

from axe_lsp.runtime.copies.git import (
    OwnGit,
    changed_files,
    files_in_copy,
    write_changes,
    write_tree,
)


class TrackedFiles:
    """The files of the folder `tree`. `index` is ours; `known` is the tree that it has, "" if nobody knows."""

    def __init__(self, own: OwnGit, tree: Path, index: Path, known: str = "") -> None:
        self.own = own
        self.tree = tree
        self.index = index
        self.known = known

    def now(self) -> str:
        """The tree that the files make now, which the index has from now on. Raises GitError or OSError."""
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
    """Whether an agent has put a link in the place of a folder above a file."""
    above = (tree / os.fsdecode(path)).parent
    return above.resolve() != tree.resolve() / above.relative_to(tree)
