"""Files that are read or written as a whole: regular ones only, and not endlessly large ones.

A pipe would wait for somebody else, a device may never end, and a sparse file has a size without
having anything in it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from axe_lsp.runtime.files.opening import OpenFolder, opened_folder

LARGEST_FILE = 32 * 1024 * 1024
"""Bytes. Nothing that is larger is read as a whole, by runs and by editors."""

_OF_PROCESSES = ("/dev/", "/proc/")
"""The folders of pipes that shells pass, as for `<(command)`; these pipes have a writer."""

_PIECE = 64 * 1024

_NO_WAITING = (
    getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


def read_file(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the content of a file. Raises OSError, also for a pipe, a device and more than `most` bytes."""
    require_content(path.stat(), path)  # Nothing is done to a pipe, it is not even opened.
    return _content(os.open(path, os.O_RDONLY | _NO_WAITING), path, most)


def real_path(path: Path) -> Path:
    """Return the path without links, as far as it has none that lead in a circle. Nothing has to be there."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # A NUL in a name.
        return path


def is_there(path: Path) -> bool:
    """Return whether something is at a path.

    Never raises, unlike `Path.exists`: neither for a path that no file can have, such as one with a name that is too
    long, nor for one in a folder that may not be searched.
    """
    return os.path.exists(path)


def is_folder(path: Path) -> bool:
    """Return whether a folder is at a path. Never raises."""
    return os.path.isdir(path)


def is_file(path: Path) -> bool:
    """Return whether a regular file is at a path. Never raises."""
    return os.path.isfile(path)


def read_place(place: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the same for a path without links that was checked: one that has become a link meanwhile is not followed."""
    with opened_folder(place.parent) as folder:
        status = folder.status(place.name or ".")
        if status is not None and not stat.S_ISLNK(status.st_mode):
            require_content(status, place)
        descriptor = folder.open(place.name or ".", os.O_RDONLY)
    return _content(descriptor, place, most)


def _content(descriptor: int, path: Path, most: int) -> bytes:
    """Return the content of an open file, whose descriptor is closed."""
    try:
        status = os.fstat(descriptor)  # Another file may have taken its place.
        require_content(status, path)
        if sys.platform != "win32" and stat.S_ISFIFO(status.st_mode):
            os.set_blocking(descriptor, True)
        rest = most + 1 if status.st_size <= most else 0
        pieces = []
        while rest and (piece := os.read(descriptor, min(rest, status.st_size + _PIECE))):
            pieces.append(piece)
            rest -= len(piece)
    finally:
        os.close(descriptor)
    if not rest:
        raise OSError(errno.EFBIG, too_large(most), str(path))
    return b"".join(pieces)


def too_large(most: int) -> str:
    """Return why a file is not read."""
    return f"it is larger than {most // 2**20} MB"


def rest_of(file: BinaryIO, most: int) -> bytes:
    """Return the rest of an open file. Raises OSError if the file has more than `most` bytes."""
    status = os.fstat(file.fileno())
    data = file.read(most + 1) if status.st_size <= most else b""
    if status.st_size > most or len(data) > most:
        raise OSError(errno.EFBIG, too_large(most), file.name)
    return data


def require_content(status: os.stat_result, path: Path) -> None:
    """Raise OSError for what can't be read or added to as a file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    is_handed_over = stat.S_ISFIFO(mode) and os.path.normpath(path).startswith(_OF_PROCESSES)
    if not is_handed_over and not os.path.samestat(status, Path(os.devnull).stat()):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def write_whole_file(
    path: Path, content: bytes, *, mode: int | None = None, follows_links: bool = True
) -> None:
    """Give a file this content in one step: readers see the old one or the new one.

    A link leads to the file that changes, unless `path` is a place, whose links the caller has resolved
    already: then an error says that there is a link. A file that is there keeps its mode unless another one
    is given; there is no moment at which more people could read what is new. A file with further hard links, or
    of another owner or group than a new file would have, is written in place, so that it stays the same file.
    What is no regular file, such as a pipe, is written to. Raises OSError, and then nothing has changed.
    """
    place = path.resolve() if follows_links else path
    with opened_folder(place.parent) as folder:
        status = folder.status(place.name)
        if status is not None and not stat.S_ISREG(status.st_mode):
            descriptor = folder.open(place.name, os.O_WRONLY, waits=True)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            return
        if status is not None and _stays_same_file(status, folder):
            # Who may not write to somebody else's file may still replace it.
            with suppress(PermissionError) if status.st_nlink == 1 else nullcontext():
                _overwrite(folder, place.name, content, mode)
                return
        if status is not None and mode is None:
            mode = stat.S_IMODE(status.st_mode)
        folder.replace(place.name, content, mode)


def _stays_same_file(status: os.stat_result, folder: OpenFolder) -> bool:
    """Return whether another file of this name would be less than this one: a hard link, an owner or a group lost."""
    if sys.platform == "win32":
        return status.st_nlink > 1
    above = folder.status(".")
    is_inherited = above is not None and above.st_mode & stat.S_ISGID
    group = above.st_gid if above is not None and is_inherited else os.getegid()
    return status.st_nlink > 1 or status.st_uid != os.geteuid() or status.st_gid != group


def _overwrite(folder: OpenFolder, name: str, content: bytes, mode: int | None) -> None:
    """Write a file in place, and put back what it had if that fails."""
    with os.fdopen(folder.open(name, os.O_RDWR), "r+b") as file:
        before = file.read()
        try:
            _fill(file, content)
        except BaseException:
            _fill(file, before)
            raise
    if mode is not None:
        folder.set_mode(name, mode)


def _fill(file: BinaryIO, content: bytes) -> None:
    file.seek(0)
    file.write(content)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())
