"""Opening files by a resolved path: a part of it that has become a link meanwhile is not followed.

Between the check of a path and its opening, the file can be replaced by another one. So a caller resolves the path
once, checks the result, and opens that result here: folder by folder from the root, each relative to the open folder
above it. Windows can't open a file relative to an open folder; there, the path is resolved again right before it is
used.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from axe_lsp.runtime.plain_text import short_digest

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
if sys.platform == "win32":
    _NO_LINK = _FOLDER = _ON_THE_WAY = 0
elif sys.platform == "linux":
    _NO_LINK, _FOLDER = os.O_NOFOLLOW, os.O_DIRECTORY
    _ON_THE_WAY = _FOLDER | os.O_PATH  # A folder on the way may forbid to list it.
else:
    _NO_LINK, _FOLDER = os.O_NOFOLLOW, os.O_DIRECTORY
    _ON_THE_WAY = _FOLDER


class OpenFolder(Struct, frozen=True):
    """A folder that stays the same one. Names are those of what is directly in it. All methods raise OSError."""

    path: Path
    descriptor: int | None

    def open(self, name: str, flags: int, mode: int = 0o666, *, waits: bool = False) -> int:
        """Return a descriptor of a file, which is no link. Only one that `waits` waits for the other end of a pipe."""
        flags |= _NO_LINK | _FLAGS | (0 if waits else _NO_WAITING)
        with _said_of(self.path / name):
            return os.open(self._at(name), flags, mode, dir_fd=self.descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a file, or of a link itself; None if there is none."""
        try:
            return os.stat(self._at(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove a file or a link."""
        os.unlink(self._at(name), dir_fd=self.descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._at(name), dir_fd=self.descriptor)

    def link(self, name: str, target: str) -> None:
        """Make a link; it replaces a file or link of that name."""
        new = f".{uuid.uuid4().hex}"
        os.symlink(target, self._at(new), dir_fd=self.descriptor)
        self._rename(new, name)

    def set_mode(self, name: str, mode: int) -> None:
        """Set the mode of a file."""
        descriptor = self.open(name, os.O_RDONLY)
        try:
            _set_mode(descriptor, self.path / name, mode)
        finally:
            os.close(descriptor)

    def replace(self, name: str, content: bytes, mode: int | None) -> None:
        """Give a file this content in one step; it replaces a file or link of that name."""
        new, descriptor = self._created_beside(name, 0o666 if mode is None else mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                if mode is not None:  # The mask of the process may have taken something off.
                    _set_mode(file.fileno(), self.path / new, mode)
            self._rename(new, name)
        except BaseException:
            with suppress(FileNotFoundError):
                self.remove(new)
            raise

    def remove_abandoned(self, name: str) -> None:
        """Remove the temporary file by which a killed process was about to replace a file of this name."""
        self._remove_abandoned(temporary_name(name))

    def _created_beside(self, name: str, mode: int) -> tuple[str, int]:
        """Create the file that will replace `name`; return its name and a descriptor.

        The name follows from `name`, and the file is locked, so that the next writer of `name` finds and removes what
        a killed process has left. Another writer at the same time gets a name that nobody knows.
        """
        creating = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self.remove_abandoned(name)
        new = temporary_name(name)
        with suppress(FileExistsError):
            descriptor = self.open(new, creating, mode)
            if _lock(descriptor) is not False and self._is_at(new, descriptor):
                return new, descriptor
            os.close(descriptor)  # Somebody took it for abandoned, and removes it.
        new = f".{uuid.uuid4().hex}"
        return new, self.open(new, creating, mode)

    def _remove_abandoned(self, name: str) -> None:
        """Remove a temporary file that no living process has locked."""
        try:
            descriptor = self.open(name, os.O_RDONLY)
        except OSError:
            return  # There is none, or it is none of ours, such as a link.
        try:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            if is_file and _lock(descriptor) and self._is_at(name, descriptor):
                self.remove(name)
        finally:
            os.close(descriptor)

    def _is_at(self, name: str, descriptor: int) -> bool:
        """Return whether an open file still has its name."""
        status = self.status(name)
        return status is not None and os.path.samestat(status, os.fstat(descriptor))

    def _rename(self, name: str, new: str) -> None:
        here = self.descriptor
        os.replace(self._at(name), self._at(new), src_dir_fd=here, dst_dir_fd=here)

    def _at(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)


def temporary_name(name: str) -> str:
    """Return the name of the file that replaces a file of this name; no file of a user's has it."""
    return f".{short_digest(f'axe-lsp: {name}')}"


if sys.platform == "win32":

    def _lock(_: int) -> bool | None:
        """Return None: an open file can't be removed there."""
        return None

else:

    def _lock(descriptor: int) -> bool | None:
        """Lock an open file until it is closed. Return False if another process has, None if the file system can't."""
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True


@contextmanager
def opened_folder(place: Path, *, make: bool = False, mode: int = 0o777) -> Iterator[OpenFolder]:
    """Provide a folder without links, made with those above it if it is to be made. Raises OSError."""
    if sys.platform == "win32":
        if make:
            place.mkdir(parents=True, exist_ok=True, mode=mode)
        _require_no_link(place)
        yield OpenFolder(place, None)
        return
    descriptor = os.open(place.anchor, _ON_THE_WAY | _FLAGS)
    try:
        for index, part in enumerate(place.parts[1:], 2):
            with _said_of(Path(*place.parts[:index])):
                inner = _entered(part, descriptor, mode if make else None)
            os.close(descriptor)
            descriptor = inner
        yield OpenFolder(place, descriptor)
    finally:
        os.close(descriptor)


def open_place(place: Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Return a descriptor of what is at a place. Raises OSError."""
    with opened_folder(place.parent) as folder:
        return folder.open(place.name or ".", flags, mode)


@contextmanager
def opened_file(place: Path) -> Iterator[BinaryIO]:
    """Provide a regular file, to be read. Raises OSError; IsADirectoryError for a folder."""
    with opened_folder(place.parent) as folder:
        status = folder.status(place.name or ".")
        if status is not None and not stat.S_ISLNK(status.st_mode):
            _require_regular(status, place)  # Nothing is done to a pipe, it is not even opened.
        descriptor = folder.open(place.name or ".", os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        _require_regular(os.fstat(descriptor), place)
        yield file


def content_of(place: Path, most: int = -1) -> bytes | None:
    """Return the content of a regular file, or its first bytes, `most` of them; None if there is nothing. Raises OSError."""
    if is_nothing(place):
        return None
    with opened_file(place) as file:
        return file.read(most)


def names_in(place: Path) -> list[tuple[str, bool]]:
    """Return the names in a folder, and which of them are folders themselves. Raises OSError."""
    if sys.platform == "win32":
        _require_no_link(place)
        return _listed(place)
    descriptor = open_place(place, os.O_RDONLY | _FOLDER)
    try:
        return _listed(descriptor)
    finally:
        os.close(descriptor)


def _listed(folder: Path | int) -> list[tuple[str, bool]]:
    with os.scandir(folder) as entries:
        return [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]


def is_nothing(place: Path) -> bool:
    """Return whether there is nothing at a place. Raises OSError."""
    try:
        with opened_folder(place.parent) as folder:
            return folder.status(place.name or ".") is None
    except FileNotFoundError:
        return True


def remove_place(place: Path) -> None:
    """Remove a file or a link. Raises OSError."""
    with opened_folder(place.parent) as folder:
        folder.remove(place.name)


def remove_folder(place: Path) -> None:
    """Remove an empty folder. Raises OSError, also if it is not empty."""
    with opened_folder(place.parent) as folder:
        folder.remove_folder(place.name)


def _entered(part: str, above: int, mode: int | None) -> int:
    """Return a folder, which is made with this mode if there is one."""
    try:
        return os.open(part, _ON_THE_WAY | _NO_LINK | _FLAGS, dir_fd=above)
    except FileNotFoundError:
        if mode is None:
            raise
    with suppress(FileExistsError):  # Another agent has just made it.
        os.mkdir(part, mode, dir_fd=above)
    return os.open(part, _ON_THE_WAY | _NO_LINK | _FLAGS, dir_fd=above)


def _require_regular(status: os.stat_result, place: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(place))


@contextmanager
def _said_of(path: Path) -> Iterator[None]:
    """Say which path is meant, and that a link is the reason where it is."""
    try:
        yield
    except OSError as error:
        is_link = error.errno == errno.ENOTDIR and path.is_symlink()
        number = errno.ELOOP if is_link else error.errno or errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


def _require_no_link(place: Path) -> None:
    if os.path.normcase(os.path.realpath(place)) != os.path.normcase(place):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(place))


def _set_mode(descriptor: int, path: Path, mode: int) -> None:
    if sys.platform == "win32":
        path.chmod(mode)
    else:
        os.fchmod(descriptor, mode)
