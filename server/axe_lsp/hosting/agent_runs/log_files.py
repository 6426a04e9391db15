"""Reading logs of other programs within bounds: lines of JSON, and SQLite files, of which nothing is left behind."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

import msgspec

from axe_lsp.hosting.agent_runs.index import RunIndex, Source
from axe_lsp.hosting.agent_runs.runs import ReadLog
from axe_lsp.runtime.plain_text import short_digest

_LARGEST = 64 * 1024 * 1024
_HEAD, _TAIL = 1024 * 1024, 8 * 1024 * 1024
"""Bytes of a larger file that are read at its beginning and its end."""

_LONGEST_LINE = 8 * 1024 * 1024

MOST_BYTES = 2 * 1024 * 1024 * 1024
MOST_FILES = 200_000
"""Limits of one pass."""

_PREFIX = 400
"""Bytes of a line that decide whether it is parsed."""

_HEAD_DIGESTED = 4_096
"""Bytes at the beginning of a file that tell whether it is the same file."""

_BUSY_SECONDS = 0.2


class Record:
    """One line of JSON. Its members are reached by `at`, which gives None for whatever is not there."""

    def __init__(self, values: object) -> None:
        self.values = values

    def at(self, *path: str) -> Any:
        """Return the value at a path of keys."""
        return value_at(self.values, *path)

    def text(self, *path: str) -> str:
        """Return the text at a path, else ""."""
        value = self.at(*path)
        return value if isinstance(value, str) else ""

    def number(self, *path: str) -> int:
        """Return the number at a path, which is not negative, else 0."""
        return whole_number(self.at(*path))

    def objects(self, *path: str) -> Iterator[Record]:
        """Yield the objects of the list at a path."""
        value = self.at(*path)
        for each in value if isinstance(value, list) else ():
            if isinstance(each, dict):
                yield Record(each)


def value_at(value: object, *path: str) -> Any:
    """Return the value at a path of keys, None for whatever is not there."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def whole_number(value: object) -> int:
    """Return a count from a log, 0 for whatever is none."""
    is_count = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15
    return int(value) if is_count and isinstance(value, (int, float)) else 0


def moment(text: str) -> float | None:
    """Return a time of ISO 8601 in seconds since 1970, None for another text."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        return None


class LogState(Protocol):
    """What was read of one file of a log, as a struct that the index keeps as JSON."""

    def add(self, record: Record) -> None:
        """Count one line."""


State = TypeVar("State", bound=LogState)


class LogFiles:
    """The files below the folder of one program, as far as the bounds of a pass allow."""

    def __init__(self, root: Path, log: ReadLog, index: RunIndex) -> None:
        self._log, self._index = log, index
        self._real_root = os.path.realpath(root)
        self._folders: dict[Path, bool] = {}
        self._read_bytes = 0

    def status(self, path: Path) -> os.stat_result | None:
        """Return the status of a regular file of the user below the root, which no link leads to; else None."""
        with suppress(OSError, ValueError):
            if not self._has(path.parent):
                return None
            found = path.lstat()
            is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
            if stat.S_ISREG(found.st_mode) and is_own:
                return found
        return None

    def _has(self, folder: Path) -> bool:
        """Return whether a folder lies below the root once links are followed."""
        if folder not in self._folders:
            real = os.path.realpath(folder)
            self._folders[folder] = os.path.commonpath([real, self._real_root]) == self._real_root
        return self._folders[folder]

    def read(self, path: Path, marks: tuple[bytes, ...], empty: State) -> State | None:
        """Return what a file says, from the index as far as that has it. None if it must not be read.

        Of the lines, those are parsed that contain one of the marks near their beginning.
        """
        status = self.status(path)
        if status is None:
            return None
        kept = self._kept(path, status)
        is_unchanged = (kept.size, kept.modified) == (status.st_size, status.st_mtime_ns)
        fresh = 0 if is_unchanged else min(status.st_size - kept.offset, _LARGEST)
        if not self._has_room(fresh):
            return None
        self._log.files += 1
        self._log.size += min(status.st_size, _LARGEST)
        self._read_bytes += fresh
        if status.st_size > _LARGEST:
            self._log.skipped["partly read, as they are larger than 64 MB"] += 1
        state, start = empty, 0
        with suppress(msgspec.MsgspecError, ValueError):
            state, start = msgspec.json.decode(kept.state, type=type(empty)), kept.offset
        if is_unchanged and state is not empty:
            self._index.retain(str(path))
        else:
            self._feed(path, start, status, marks, state)
        return state

    def _kept(self, path: Path, status: os.stat_result) -> Source:
        """Return what the index has of a file that has at most got longer since; an empty one for other files."""
        kept = self._index.source(str(path))
        if kept is not None and kept.inode == status.st_ino and kept.offset <= status.st_size:
            if (kept.size, kept.modified) == (status.st_size, status.st_mtime_ns):
                return kept
            if kept.head == _head_of(path, kept.offset):
                return kept
        return Source()

    def _has_room(self, size: int) -> bool:
        if self._log.files < MOST_FILES and self._read_bytes + size <= MOST_BYTES:
            return True
        self._log.skipped["more than 2 GB or 200,000 files"] += 1
        return False

    def _feed(
        self,
        path: Path,
        start: int,
        status: os.stat_result,
        marks: tuple[bytes, ...],
        state: LogState,
    ) -> None:
        end = start
        with suppress(OSError):
            for line, offset in _lines(path, start, status.st_size):
                end = offset
                if any(mark in line[:_PREFIX] for mark in marks):
                    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
                        state.add(Record(msgspec.json.decode(line)))
        self._index.keep(
            str(path),
            Source(
                status.st_ino,
                status.st_size,
                end,
                status.st_mtime_ns,
                _head_of(path, end),
                msgspec.json.encode(state),
            ),
        )


def _head_of(path: Path, offset: int) -> str:
    """Return a digest of the beginning of a file, "" if it can't be read."""
    try:
        with path.open("rb") as file:
            return short_digest(file.read(min(offset, _HEAD_DIGESTED)))
    except OSError:
        return ""


def _lines(path: Path, start: int, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield the whole lines of a file with the offsets of their ends, of a large one those at its beginning and its end."""
    with path.open("rb") as file:
        file.seek(start)
        is_large = size - start > _LARGEST
        end = min(size, start + _HEAD) if is_large else size
        yield from _lines_until(file, end)
        if is_large:
            file.seek(size - _TAIL)
            file.readline(_LONGEST_LINE)
            yield from _lines_until(file, size)


def _lines_until(file: BinaryIO, end: int) -> Iterator[tuple[bytes, int]]:
    while file.tell() < end and (line := file.readline(_LONGEST_LINE)):
        if line.endswith(b"\n"):
            yield line, file.tell()
        elif _skip_line(file):  # It was too long. What is unfinished is read in the next pass.
            yield b"", file.tell()


def _skip_line(file: BinaryIO) -> bool:
    """Go to the end of a line; whether it has one."""
    while piece := file.readline(_LONGEST_LINE):
        if piece.endswith(b"\n"):
            return True
    return False


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Provide a database of another program, to read it. Raises sqlite3.Error.

    SQLite would leave `-wal` and `-shm` beside a file in this mode that nobody else has open, unless it may take it for
    unchangeable.
    """
    is_in_use = Path(f"{path}-wal").exists()
    mode = "mode=ro" if is_in_use else "mode=ro&immutable=1"
    address = f"{path.absolute().as_uri()}?{mode}"
    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)) as connection:
        connection.execute("PRAGMA query_only = 1")
        yield connection


def rows(connection: sqlite3.Connection, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query, none if the database has no such tables or columns."""
    try:
        return connection.execute(query, values).fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        return []
