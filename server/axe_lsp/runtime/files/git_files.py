"""Files that git would wait for or read for ever: a pipe, a device or a huge file where git expects a file of its own.

They are looked for only when git has not ended soon, as the search reads whole folders.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from time import monotonic

from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.files.workspace_folders import GIT
from axe_lsp.runtime.plain_text import shown_path

_GLANCE = 0.1
"""Seconds between two looks at a process of git; after the first one the search begins."""

_READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
"""The names of files that git reads, in any folder, to list the files of a repository."""

LARGEST_OF_GIT = 1024 * 1024 * 1024
"""Bytes of a file, other than an object, that git may read as a whole. The index of 200,000 files has 30 MB."""

_LARGEST_POINTER = 64 * 1024
"""Bytes of a file that names a git folder."""

_OBJECTS = "objects"


class GitWaitsError(Exception):
    """git waits for the content of a file. The message names it."""


def output_of_git(
    process: subprocess.Popen[bytes],
    folder: Path | None,
    seconds: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> tuple[bytes, bytes] | None:
    """Return the output and the errors of git; None if it was killed, after `seconds` or when `is_stopped`.

    Raise GitWaitsError if a file of the repository of `folder` is none that git can read. git is killed then.
    """
    until = monotonic() + seconds
    is_searched = folder is None
    while not is_stopped() and monotonic() < until:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=min(_GLANCE, seconds))
        if folder is not None and not is_searched:
            is_searched = True
            if (path := next(_unreadable(folder), None)) is not None:
                process.kill()
                raise GitWaitsError(
                    f"{shown_path(path)} is not a file, or has more than {LARGEST_OF_GIT // 2**20} MB, "
                    "and git waits for its content"
                )
    process.kill()
    return None


def _unreadable(folder: Path) -> Iterator[Path]:
    """Yield each path that git reads to list the files of a folder, and that is no regular file or too large."""
    between: list[Path] = []
    top = next((each for each in (folder, *folder.parents) if os.path.lexists(each / GIT)), None)
    if top is not None:
        yield from _unreadable_repository(top / GIT)
        between = [each for each in (folder, *folder.parents) if top in (each, *each.parents)]
    yield from filter(_is_unreadable, (each / name for each in between for name in _READ_BY_GIT))
    for above, folders, files in os.walk(folder):
        yield from filter(_is_unreadable, (Path(above, name) for name in _READ_BY_GIT & {*files}))
        if GIT in folders or GIT in files:
            folders[:] = [name for name in folders if name != GIT]
            if Path(above) != top:
                yield from _unreadable_repository(Path(above, GIT))


def _unreadable_repository(link: Path) -> Iterator[Path]:
    """Yield what git can't read of a repository with this git folder, or file that names it."""
    yield from filter(_is_unreadable, (link,))
    for git_folder in _git_folders(link):
        yield from _unreadable_below(git_folder)


def _git_folders(link: Path) -> Iterator[Path]:
    """Yield the git folder of a worktree, which may be named by a file, and the one of all its worktrees."""
    git_folder = link
    try:
        if not link.is_dir():
            pointer = os.fsdecode(read_file(link, _LARGEST_POINTER)).removeprefix("gitdir:").strip()
            git_folder = Path(os.path.realpath(link.parent / pointer))
        yield git_folder
        common = os.fsdecode(read_file(git_folder / "commondir", _LARGEST_POINTER)).strip()
        yield Path(os.path.realpath(git_folder / common))
    except (OSError, ValueError):
        return


def _unreadable_below(git_folder: Path) -> Iterator[Path]:
    """Yield what git can't read below a git folder, with those of submodules; objects, of which are many, last."""
    objects: list[Path] = []
    for above, folders, files in os.walk(git_folder):
        if _OBJECTS in folders:
            folders.remove(_OBJECTS)
            objects.append(Path(above, _OBJECTS))
            info = Path(above, _OBJECTS, "info")
            yield from filter(_is_unreadable, (info / "alternates", info / "commit-graph"))
        yield from filter(_is_unreadable, (Path(above, name) for name in files))
    for above, _, files in chain.from_iterable(map(os.walk, objects)):
        yield from (path for name in files if _is_special(path := Path(above, name)))


def _is_unreadable(path: Path) -> bool:
    try:
        return _is_special(path) or path.stat().st_size > LARGEST_OF_GIT
    except OSError:
        return False


def _is_special(path: Path) -> bool:
    """Return whether a path is neither a file nor a folder. Packs may be large, as git reads parts of them."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
