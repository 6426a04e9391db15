"""Reading logs of other programs within bounds: lines of JSON, and SQLite files, of which nothing is left behind."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from axe_lsp.hosting.agent_runs.runs import ReadLog

_LARGEST = 64 * 1024 * 1024
_HEAD, _TAIL = 1024 * 1024, 8 * 1024 * 1024
"""Bytes of a larger file that are read at its beginning and its end."""

_LONGEST_LINE = 8 * 1024 * 1024

MOST_BYTES = 2 * 1024 * 1024 * 1024
MOST_FILES = 200_000
"""Limits of one pass."""

_PREFIX = 400
"""Bytes of a line that decide whether it is parsed."""

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


class LogFiles:
    """The files below the folder of one program, as far as the bounds of a pass allow."""

    def __init__(self, root: Path, log: ReadLog) -> None:
        self._root, self._log = root, log

    def status(self, path: Path) -> os.stat_result | None:
        """Return the status of a regular file of the user below the root, which no link leads to; else None."""
        with suppress(OSError, ValueError):
            if not path.resolve().is_relative_to(self._root.resolve()):
                return None
            found = path.lstat()
            is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
            if stat.S_ISREG(found.st_mode) and is_own:
                return found
        return None

    def records(self, path: Path, marks: tuple[bytes, ...]) -> Iterator[Record]:
        """Yield the lines of a file that contain one of the marks near their beginning, as JSON."""
        status = self.status(path)
        if status is None:
            return
        if self._log.files >= MOST_FILES or self._log.size + status.st_size > MOST_BYTES:
            self._log.skipped["more than 2 GB or 200,000 files"] += 1
            return
        self._log.files += 1
        self._log.size += min(status.st_size, _LARGEST)
        if status.st_size > _LARGEST:
            self._log.skipped["partly read, as they are larger than 64 MB"] += 1
        with suppress(OSError):
            for line in _lines(path, status.st_size):
                if any(mark in line[:_PREFIX] for mark in marks):
                    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
                        yield Record(msgspec.json.decode(line))


def _lines(path: Path, size: int) -> Iterator[bytes]:
    """Yield the whole lines of a file, of a large one those at its beginning and its end."""
    with path.open("rb") as file:
        left = size if size <= _LARGEST else _HEAD
        while left > 0 and (line := file.readline(_LONGEST_LINE)):
            left -= len(line)
            if line.endswith(b"\n"):
                yield line
            else:  # It is too long or unfinished; the rest of it is not JSON.
                _skip_line(file)
        if size > _LARGEST:
            file.seek(size - _TAIL)
            file.readline(_LONGEST_LINE)
            yield from (line for line in file if len(line) <= _LONGEST_LINE)


def _skip_line(file: Any) -> None:
    while (piece := file.readline(_LONGEST_LINE)) and not piece.endswith(b"\n"):
        pass


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
