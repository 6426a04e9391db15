"""The file that holds the history: where it lies, what is in it, how it is opened, and who writes into it.

It knows SQLite and no events. Whatever goes wrong leaves as a HistoryError that says what to do. Whether the process that
writes about a run still lives is told by a lock that the system lets go. A process id would not do: ids are used again,
and what tells one from the other differs everywhere.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from axe_lsp.hosting.history import steps, stored_sessions
from axe_lsp.runtime.errors import ExitCode, RunError
from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.plain_text import shown_path

FORMAT = 5
"""The number of the schema below, kept in `user_version`. A change of the schema adds one."""

WAIT_SECONDS = 5.0
"""How long another process may keep the file locked; each does so for milliseconds."""

_FIRST_SCHEMA = """
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    root_run_id TEXT NOT NULL,
    parent_run_id TEXT,
    agent TEXT NOT NULL,
    depth INTEGER NOT NULL,
    began TEXT NOT NULL,
    status TEXT NOT NULL,
    begin_seq INTEGER NOT NULL,
    end_seq INTEGER,
    workspace TEXT NOT NULL,
    writer TEXT NOT NULL,
    forget_after TEXT NOT NULL
);
CREATE INDEX runs_by_root ON runs (root_run_id);
CREATE INDEX runs_by_agent ON runs (agent, began);
CREATE INDEX runs_under_way ON runs (writer) WHERE status = 'running';
CREATE INDEX roots_by_time ON runs (began) WHERE depth = 0;
CREATE INDEX roots_by_status ON runs (status, began) WHERE depth = 0;
CREATE INDEX roots_to_forget ON runs (forget_after) WHERE depth = 0;
CREATE TABLE events (
    root_run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    method TEXT NOT NULL,
    params TEXT NOT NULL,
    PRIMARY KEY (root_run_id, seq)
) WITHOUT ROWID;
"""

_OPEN_QUESTIONS = """
CREATE INDEX begins_and_ends ON events (root_run_id, run_id) WHERE method = 'axe/agent';
CREATE INDEX questions ON steps (root_run_id, run_id) WHERE kind = 'asked'
"""
"""Whether a run waits for an answer is found without a look at all that its tree has done."""

_DEFINITIONS = """
ALTER TABLE runs ADD COLUMN definition TEXT;
ALTER TABLE runs ADD COLUMN source TEXT
"""
"""The version of an agent's file with which a run was made, and the path of the file. Older runs have neither."""

_SCHEMAS = (_FIRST_SCHEMA, steps.SCHEMA, stored_sessions.SCHEMA, _OPEN_QUESTIONS, _DEFINITIONS)
"""The tables and indexes that each format has added to the one before."""

_CREATION = threading.Lock()
"""No thread of this process may lock a file while another one creates it."""

_FOREIGN = (
    *("not a database", "malformed", "not a regular file"),
    *("no such table", "no such column", "has no column", "already exists"),
)
"""Parts of messages, mostly SQLite's, about what is no history of axe-lsp, whole or damaged."""

_STEPS = (
    *((each, "move it away; a new one is created") for each in _FOREIGN),
    ("full", "free disk space"),
    ("I/O", "check whether the disk is full or damaged"),
    ("locked", "end the process that keeps it locked"),
)
_OTHER_STEP = (
    "check the permissions of the file and its folder, or set XDG_STATE_HOME to another folder"
)


class HistoryError(RunError):
    """The history can't be read or written, or has no such run."""

    exit_code = ExitCode.CONFIG


def history_file(environment: Environment) -> Path:
    """Return where the history lies. Raises ConfigError if the user has no home."""
    return state_folder(environment) / "history.db"


def open_history(path: Path) -> sqlite3.Connection:
    """Return the history, to read and to write; begun if there is none. Raises HistoryError."""
    with faults_named(path):
        _create_file(path)
        # The thread that closes it at the end may be another one than used it.
        connection = sqlite3.connect(
            path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _make_ready(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def empty_history() -> sqlite3.Connection:
    """Return a history without a run, which leaves nothing behind."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _create_tables(connection)
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Provide all or nothing, and nobody else writes in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # A full disk has SQLite roll back by itself.
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def written_through(connection: sqlite3.Connection) -> Iterator[None]:
    """Make transactions inside survive a crash of the machine. Costs about half a millisecond each."""
    connection.execute("PRAGMA synchronous = FULL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = NORMAL")


@contextmanager
def written_history(path: Path) -> Iterator[sqlite3.Connection]:
    """Provide the history, to write to it: all or nothing. Blocks. Raises HistoryError."""
    with faults_named(path), closing(open_history(path)) as connection, transaction(connection):
        yield connection


@contextmanager
def faults_named(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the system to HistoryError."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise fault(path, error) from error


def fault(path: Path, error: sqlite3.Error | OSError) -> HistoryError:
    """Return why the history can't be used, and what to do about it."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    step = next((step for word, step in _STEPS if word in str(error)), _OTHER_STEP)
    return HistoryError(f"the history of runs ({shown_path(path)}) can't be used: {reason}; {step}")


def _create_file(path: Path) -> None:
    """Create the file for the user alone: it has the content of runs. SQLite gives its other files the same rights.

    A file that is there is not opened: on POSIX, closing it would drop the locks that other connections of this
    process have on it, and without them the file gets damaged (sqlite.org/howtocorrupt.html, 2.2).
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _CREATION:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is not a regular file")
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _make_ready(connection: sqlite3.Connection, path: Path) -> None:
    found = _format(connection)
    if found > FORMAT:
        raise HistoryError(
            f"the history of runs ({shown_path(path)}) was written by a newer axe-lsp "
            f"(format {found}, this one knows {FORMAT}); update axe-lsp"
        )
    if found < FORMAT:
        _create_tables(connection)
    # What is committed survives the end of the process. Waiting for the disk itself would make
    # it survive the end of the machine as well, at a hundred times the cost.
    connection.execute("PRAGMA synchronous = NORMAL")


def _create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables that are missing. Those of an older format stay as they are."""
    if _format(connection) == 0:
        _use_write_ahead_log(connection)
    with transaction(connection):
        found = _format(connection)  # Another process may have been faster.
        for schema in _SCHEMAS[found:]:
            for statement in schema.split(";"):
                connection.execute(statement)
        if found < FORMAT:
            connection.execute(f"PRAGMA user_version = {FORMAT}")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, so that readers never wait for writers. The switch needs the file for itself.

    SQLite does not wait for that moment, as it does for others: two that wait could block each other.
    """
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _format(connection: sqlite3.Connection) -> int:
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


class WriterLock:
    """A sign that this process lives, until it ends the sign or dies."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / name
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(self._file)
        os.write(self._file, b"%d\n" % os.getpid())

    def end(self) -> None:
        """Release the lock and remove its file."""
        os.close(self._file)
        self._path.unlink(missing_ok=True)


def lock_folder(history: Path) -> Path:
    """Return the folder for the signs of those who write into a history."""
    return history.with_name("history-writers")


def is_locked(folder: Path, name: str) -> bool:
    """Return whether the process lives whose sign has that name."""
    try:
        file = os.open(folder / name, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _lock(file)
    finally:
        os.close(file)


def pid_of_writer(folder: Path, name: str) -> int | None:
    """Return the process whose sign has that name, if it lives and its axe-lsp is recent enough to say so."""
    with suppress(OSError, ValueError):
        return int((folder / name).read_bytes()) if is_locked(folder, name) else None
    return None


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
