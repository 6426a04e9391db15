"""Files that git would wait for or read for ever: a pipe, a device or a huge file where git expects a file of its own.

They are looked for only when git has not ended soon, as the search reads whole folders.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

from msgspec import Struct

from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.files.workspace_folders import GIT
from axe_lsp.runtime.plain_text import shown_path

_GLANCE = 0.1
"""Seconds between two looks at a process of git; after the first one the search begins."""

_IGNORE_FILES = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
"""The names of files that git reads, in any folder, to list the files of a repository."""

_TEXTS = frozenset(
    {
        *("HEAD", "config", "config.worktree", "packed-refs", "commondir", "gitdir", "shallow"),
        *("exclude", "attributes", "grafts", "sparse-checkout"),
    }
)
"""The names of text files in a git folder."""

_INDEXES = ("index", "sharedindex.")
"""The beginnings of the names of indexes in a git folder."""

LARGEST_TEXT_OF_GIT = 16 * 1024 * 1024
"""Bytes of a text file that git reads as a whole. The `packed-refs` of 200,000 refs has 14 MB."""

_LARGEST_INDEX = 1024 * 1024 * 1024
"""Bytes of an index or a commit graph. The index of 200,000 files has 30 MB."""

_LARGEST_POINTER = 64 * 1024
"""Bytes of a file that names a git folder."""

_DEEPEST_ALTERNATE = 5
"""git follows no more object folders that name each other."""

_LONGEST_CONFIGURATION = 10.0
"""Seconds in which git reads one file of its configuration."""

_OBJECTS = "objects"

_REFS = "refs"

_NAMES_OF_FILES = r"^(include|includeif\..*)\.path$|^core\.(excludesfile|attributesfile)$"
"""The keys of a configuration whose values are files that git reads."""


class GitWaitsError(Exception):
    """git waits for the content of a file. The message names it."""


class _Candidate(Struct, frozen=True):
    """A path that git reads, with the bytes that it may have; None: git reads parts of it only."""

    path: Path
    largest: int | None = LARGEST_TEXT_OF_GIT


def output_of_git(
    process: subprocess.Popen[bytes],
    folder: Path | None,
    seconds: float,
    is_stopped: Callable[[], bool] = lambda: False,
    objects: Path | None = None,
) -> tuple[bytes, bytes] | None:
    """Return the output and the errors of git; None if it was killed, after `seconds` or when `is_stopped`.

    Raise GitWaitsError if a file of the repository of `folder`, or a folder of `objects`, is none that git can read.
    git is killed then.
    """
    until = monotonic() + seconds
    is_searched = False
    while not is_stopped() and monotonic() < until:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=min(_GLANCE, seconds))
        if not is_searched:
            is_searched = True
            for candidate in _candidates(folder, objects, _program(process)):
                if fault := _fault(candidate):
                    process.kill()
                    raise GitWaitsError(fault)
                if is_stopped() or monotonic() > until:
                    break
    process.kill()
    return None


def _fault(candidate: _Candidate) -> str:
    """Return why git can't read a path; "" if it can."""
    try:
        status = candidate.path.stat()
        if stat.S_ISDIR(status.st_mode) or os.path.samestat(status, Path(os.devnull).stat()):
            return ""
    except OSError:
        return ""
    if not stat.S_ISREG(status.st_mode):
        return f"{shown_path(candidate.path)} is not a file, and git waits for its content"
    if candidate.largest is None or status.st_size <= candidate.largest:
        return ""
    return (
        f"{shown_path(candidate.path)} has {status.st_size:,} bytes, and git reads it as a whole; "
        f"at most {candidate.largest // 2**20} MB are accepted"
    )


def _program(process: subprocess.Popen[bytes]) -> str:
    """Return the path of git, the first word of its list of arguments."""
    assert isinstance(process.args, list)
    return str(process.args[0])


def _candidates(folder: Path | None, objects: Path | None, git: str) -> Iterator[_Candidate]:
    """Yield what git may read to list the files of a folder, and what it reads of a folder of objects."""
    if objects is not None:
        yield from _in_objects(objects)
    if folder is None:
        return
    top = next((each for each in (folder, *folder.parents) if os.path.lexists(each / GIT)), None)
    if top is not None:
        yield from _of_repository(top / GIT, git)
        between = [each for each in (folder, *folder.parents) if top in (each, *each.parents)]
        yield from (_Candidate(each / name) for each in between for name in _IGNORE_FILES)
    for above, folders, files in os.walk(folder):
        yield from (_Candidate(Path(above, name)) for name in _IGNORE_FILES & {*files})
        if GIT in folders or GIT in files:
            folders[:] = [name for name in folders if name != GIT]
            if Path(above) != top:
                yield from _of_repository(Path(above, GIT), git)


def _of_repository(link: Path, git: str) -> Iterator[_Candidate]:
    """Yield what git reads of a repository with this git folder, or file that names it."""
    yield _Candidate(link)
    for git_folder in _git_folders(link):
        yield from _in_git_folder(git_folder)
        for name in ("config", "config.worktree"):
            yield from _of_configuration(git_folder / name, link.parent, git)


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


def _in_git_folder(git_folder: Path) -> Iterator[_Candidate]:
    """Yield what git reads below a git folder, with those of submodules; objects, of which are many, last.

    Other programs keep large files there, too (git-lfs): git reads none of them.
    """
    objects: list[Path] = []
    for above, folders, files in os.walk(git_folder):
        if _OBJECTS in folders:
            folders.remove(_OBJECTS)
            objects.append(Path(above, _OBJECTS))
        if _REFS in folders and "HEAD" in files:
            folders.remove(_REFS)
            for below, _, names in os.walk(Path(above, _REFS)):
                yield from (_Candidate(Path(below, name)) for name in names)
        yield from (_Candidate(Path(above, name), _largest(name)) for name in files)
    for each in objects:
        yield from _in_objects(each)


def _largest(name: str) -> int | None:
    """Return the bytes that a file of this name in a git folder may have."""
    if name in _TEXTS:
        return LARGEST_TEXT_OF_GIT
    return _LARGEST_INDEX if name.startswith(_INDEXES) else None


def _in_objects(objects: Path) -> Iterator[_Candidate]:
    """Yield what git reads of a folder of objects, and of those that it names as its alternates."""
    folders = dict.fromkeys((objects,), 0)
    for folder in _with_alternates(folders):
        yield _Candidate(folder / "info/alternates")
        yield _Candidate(folder / "info/commit-graph", _LARGEST_INDEX)
        yield _Candidate(folder / "info/commit-graphs/commit-graph-chain")
    for folder in folders:
        places = ("pack", "info/commit-graphs", *(f"{number:02x}" for number in range(256)))
        for place in places:
            for above, _, names in os.walk(folder / place):
                yield from (_Candidate(Path(above, name), None) for name in names)


def _with_alternates(depths: dict[Path, int]) -> Iterator[Path]:
    """Yield folders of objects with their depths, and those that they name, which are added to `depths`."""
    left = [*depths]
    while left:
        folder = left.pop()
        yield folder
        for alternate in _alternates_of(folder) if depths[folder] < _DEEPEST_ALTERNATE else ():
            if alternate not in depths:
                depths[alternate] = depths[folder] + 1
                left.append(alternate)


def _alternates_of(objects: Path) -> Iterator[Path]:
    """Yield the folders of objects that one names (gitrepository-layout(5))."""
    try:
        lines = read_file(objects / "info/alternates", LARGEST_TEXT_OF_GIT).split(b"\n")
    except OSError:
        return
    for line in lines:
        if line.startswith(b"#") or not line:
            continue
        with suppress(ValueError):  # Neither a path nor one in quotation marks.
            is_quoted = line.startswith(b'"')
            name = line[1:-1].decode("unicode_escape").encode("latin-1") if is_quoted else line
            yield Path(os.path.realpath(objects / os.fsdecode(name)))


def _of_configuration(file: Path, top: Path, git: str) -> Iterator[_Candidate]:
    """Yield the files that a configuration of git names, and those that the included ones name."""
    left, included = [file], {file}
    while left:
        configuration = left.pop()
        yield _Candidate(configuration)
        for key, value in _named_files(configuration, git):
            is_included = key.startswith("include")
            base = configuration.parent if is_included else top
            path = Path(os.path.realpath(base / value))
            yield _Candidate(path)
            if is_included and path not in included:
                included.add(path)
                left.append(path)


def _named_files(configuration: Path, git: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a configuration whose values are files, with these."""
    if _fault(_Candidate(configuration)):
        return
    words = ("config", "--file", str(configuration), "--no-includes", "--path", "-z")
    with suppress(OSError, subprocess.TimeoutExpired):
        # Without a repository: git would read the same files to begin with.
        output = subprocess.run(
            [git, *words, "--get-regexp", _NAMES_OF_FILES],
            cwd=configuration.anchor,
            env={**os.environ, "GIT_DIR": os.devnull},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LONGEST_CONFIGURATION,
            check=False,
        ).stdout
        for entry in filter(None, output.split(b"\0")):
            key, _, value = os.fsdecode(entry).partition("\n")
            yield key, value
