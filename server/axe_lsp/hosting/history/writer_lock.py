"""Whether the process that writes about a run still lives, told by a lock that the system lets go.

A process id would not do: ids are used again, and what tells one from the other differs everywhere.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


class WriterLock:
    """A sign that this process lives, until it ends the sign or dies."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / name
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(self._file)

    def end(self) -> None:
        """There is nothing left to live for."""
        os.close(self._file)
        self._path.unlink(missing_ok=True)


def lock_folder(history: Path) -> Path:
    """The folder for the signs of those who write into a history."""
    return history.with_name("history-writers")


def is_locked(folder: Path, name: str) -> bool:
    """Whether the process lives whose sign has that name."""
    try:
        file = os.open(folder / name, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _lock(file)
    finally:
        os.close(file)


def remove_lock(folder: Path, name: str) -> None:
    """Remove the sign of a process that has died."""
    with suppress(OSError):
        (folder / name).unlink()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> bool:
        """Lock a file; False if another process has."""
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: int) -> bool:
        """Lock a file; False if another process has."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
