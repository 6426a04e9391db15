"""The folder in which the cases of a session work. One whose process was killed is removed by the next session."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

_PREFIX = "axe-test-"
_LOCK = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder without links in its path, until the session ends."""
    _remove_left_over()
    with TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name).resolve()
        lock = os.open(folder / f"{_LOCK}.new", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _is_free(lock)
            (folder / f"{_LOCK}.new").rename(folder / _LOCK)  # Nobody finds it before it is locked.
            yield folder
        finally:
            os.close(lock)


def _remove_left_over() -> None:
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                _remove_if_left_over(folder)


def _remove_if_left_over(folder: Path) -> None:
    """Remove a folder of this user whose process does not hold its lock any more. Raises OSError."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != _user():
        return
    lock = os.open(folder / _LOCK, os.O_RDWR)
    try:
        is_left_over = _is_free(lock)
    finally:
        os.close(lock)
    if is_left_over:
        shutil.rmtree(folder, ignore_errors=True)


if sys.platform == "win32":

    def _user() -> int:
        return 0

    def _is_free(_: int) -> bool:
        """Nothing is removed there: an open lock could not be deleted with its folder."""
        return False

else:
    import fcntl

    def _user() -> int:
        return os.getuid()

    def _is_free(lock: int) -> bool:
        """Take the lock; False if another process has it."""
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
