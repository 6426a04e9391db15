"""The index of runs in the cache folder: what logs said, so that only what is new in them is read. Deleting it is harmless.

It has names, numbers and times, and no text of a conversation.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog, ToolUse
from axe_lsp.runtime.files.folders import Environment, cache_folder

FORMAT = 1
"""The number of the schema below, kept in `user_version`. An index of another format is made anew."""

_COLUMNS = tuple(
    each for each in LoggedRun.__struct_fields__ if each not in ("tools", "definitions")
)
_RUN_COLUMNS = ", ".join(f'"{each}"' for each in (*_COLUMNS, "definition"))

_SCHEMA = f"""
CREATE TABLE sources (
    path TEXT PRIMARY KEY, program TEXT NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL, offset INTEGER NOT NULL,
    modified INTEGER NOT NULL, head TEXT NOT NULL, state BLOB NOT NULL
);
CREATE TABLE runs ({_RUN_COLUMNS});
CREATE INDEX runs_by_program ON runs (program);
CREATE TABLE run_tools (program TEXT NOT NULL, run TEXT NOT NULL, tool TEXT NOT NULL, calls INTEGER, errors INTEGER, missing INTEGER);
CREATE INDEX tools_by_program ON run_tools (program);
CREATE TABLE unknown (program TEXT NOT NULL, cwd TEXT NOT NULL, name TEXT NOT NULL, calls INTEGER NOT NULL);
CREATE TABLE offered (program TEXT NOT NULL, cwd TEXT NOT NULL, agent TEXT NOT NULL, sessions INTEGER NOT NULL);
CREATE TABLE passes (program TEXT PRIMARY KEY, since REAL NOT NULL, files INTEGER NOT NULL, size INTEGER NOT NULL, skipped TEXT NOT NULL,
    version TEXT NOT NULL);
CREATE TABLE versions (file TEXT NOT NULL, definition TEXT NOT NULL, since REAL NOT NULL);
CREATE INDEX versions_by_file ON versions (file)
"""

_OF_PROGRAM = ("sources", "runs", "run_tools", "unknown", "offered", "passes")

_DAY = 86_400

_OTHER_FORMAT = "the index has another format"

_PATIENCE = 60.0
"""Seconds to wait for another process that writes."""


class Source(Struct, frozen=True):
    """What is known of one file of a log, or of a part of one.

    All before `offset` was read into `state`, which is JSON; `head` tells whether it is still the same file.
    """

    inode: int = 0
    size: int = 0
    offset: int = 0
    modified: int = 0
    head: str = ""
    state: bytes = b""


class FileVersion(Struct, frozen=True):
    """A version of an agent's file: since when, in seconds since 1970, and the digest of its definition."""

    since: float
    definition: str = ""


class RunIndex:
    """The index, open for one pass over some logs."""

    def __init__(
        self, connection: sqlite3.Connection, tick: Callable[[], None] = lambda: None
    ) -> None:
        self._connection = connection
        self._tick = tick
        self._sources: dict[str, Source] = {}
        self._seen: dict[str, Source | None] = {}
        self._program = ""

    def begin(self, program: str) -> None:
        """Begin to read the logs of a program."""
        self._program, self._seen = program, {}
        rows = self._connection.execute(
            "SELECT path, inode, size, offset, modified, head, state FROM sources WHERE program = ?",
            (program,),
        )
        self._sources = {path: Source(*values) for path, *values in rows}

    def source(self, path: str) -> Source | None:
        """Return what a pass before this one has read."""
        return self._sources.get(path)

    def retain(self, path: str) -> None:
        """Keep what a former pass has read: nothing has changed."""
        self._seen.setdefault(path, None)

    def keep(self, path: str, source: Source) -> None:
        """Keep what was read, for the next pass."""
        self._seen[path] = source
        self._tick()

    def end(self, log: ReadLog, since: float) -> None:
        """End the pass over the logs of a program: keep its runs, and forget sources that have gone."""
        with self._connection:
            self._store_sources(log.program)
            self._store(log, since)

    def _store_sources(self, program: str) -> None:
        execute = self._connection.executemany
        gone = [(path,) for path in self._sources.keys() - self._seen.keys()]
        execute("DELETE FROM sources WHERE path = ?", gone)
        new = {path: source for path, source in self._seen.items() if source is not None}
        execute(
            "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (path, program, *msgspec.structs.astuple(source)[:5], source.state)
                for path, source in new.items()
            ],
        )

    def _store(self, log: ReadLog, since: float) -> None:
        connection, program = self._connection, log.program
        for table in _OF_PROGRAM[1:]:
            connection.execute(f"DELETE FROM {table} WHERE program = ?", (program,))
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        connection.executemany(f"INSERT INTO runs VALUES ({marks})", map(_run_row, log.runs))
        connection.executemany(
            "INSERT INTO run_tools VALUES (?, ?, ?, ?, ?, ?)",
            (
                (program, run.key, name, use.calls, use.errors, use.is_missing)
                for run in log.runs
                for name, use in run.tools.items()
            ),
        )
        for table, counts in (("unknown", log.unknown), ("offered", log.offered)):
            connection.executemany(
                f"INSERT INTO {table} VALUES (?, ?, ?, ?)",
                ((program, *key, count) for key, count in counts.items()),
            )
        skipped = msgspec.json.encode(log.skipped).decode()
        connection.execute(
            "INSERT INTO passes VALUES (?, ?, ?, ?, ?, ?)",
            (program, since, log.files, log.size, skipped, log.version),
        )

    def has_pass(self, program: str, since: float) -> bool:
        """Return whether a pass over the logs of a program has ended that began no later than `since`, or that day."""
        query = "SELECT 1 FROM passes WHERE program = ? AND since <= ?"
        found = self._connection.execute(query, (program, since + _DAY)).fetchone()
        return found is not None

    def stored(self, program: str, since: float) -> ReadLog | None:
        """Return what the last pass has found; None if there was none, or if it began later."""
        if not self.has_pass(program, since):
            return None
        query = "SELECT files, size, skipped, version FROM passes WHERE program = ?"
        files, size, skipped, version = self._connection.execute(query, (program,)).fetchone()
        log = ReadLog(program, files=files, size=size, version=version)
        log.skipped.update(msgspec.json.decode(skipped, type=dict[str, int]))
        tools: defaultdict[str, dict[str, ToolUse]] = defaultdict(dict)
        for run, name, calls, errors, missing in self._connection.execute(
            "SELECT run, tool, calls, errors, missing FROM run_tools WHERE program = ?", (program,)
        ):
            tools[run][name] = ToolUse(calls, errors, bool(missing))
        rows = self._connection.execute(
            f"SELECT {_RUN_COLUMNS} FROM runs WHERE program = ? AND began >= ?",
            (program, since),
        )
        for *values, definitions in rows:
            run = LoggedRun(**dict(zip(_COLUMNS, values, strict=True)))
            run.definitions = frozenset(definitions.split())
            run.tools = tools.get(run.key, {})
            log.runs.append(run)
        log.unknown, log.offered = (self._counts(each, program) for each in ("unknown", "offered"))
        return log

    def _counts(self, table: str, program: str) -> Counter[tuple[str, str]]:
        rows = self._connection.execute(f"SELECT * FROM {table} WHERE program = ?", (program,))
        return Counter({(folder, name): count for _, folder, name, count in rows})

    def forget_all_but(self, programs: Sequence[str]) -> None:
        """Delete what is known of programs whose logs may not be read any more."""
        found = self._connection.execute("SELECT program FROM passes").fetchall()
        with self._connection:
            for (program,) in found:
                for table in _OF_PROGRAM if program not in programs else ():
                    self._connection.execute(f"DELETE FROM {table} WHERE program = ?", (program,))

    def versions(self, file: str, definition: str, modified: float) -> list[FileVersion]:
        """Return the versions of a file, the present one first, which is added if it is new."""
        rows = self._connection.execute(
            "SELECT since, definition FROM versions WHERE file = ? ORDER BY rowid DESC LIMIT 50",
            (file,),
        )
        found = [FileVersion(*row) for row in rows]
        if not found or found[0].definition != definition:
            with suppress(sqlite3.Error), self._connection:  # The next pass tries again.
                self._connection.execute(
                    "INSERT INTO versions VALUES (?, ?, ?)", (file, definition, modified)
                )
            found.insert(0, FileVersion(modified, definition))
        return found


def _run_row(run: LoggedRun) -> tuple[object, ...]:
    return (*(getattr(run, name) for name in _COLUMNS), " ".join(sorted(run.definitions)))


def index_file(environment: Environment) -> Path:
    """Return where the index lies. Raises ConfigError if the user has no home."""
    return cache_folder(environment) / "run-log.db"


@contextmanager
def opened_index(path: Path | None, tick: Callable[[], None] = lambda: None) -> Iterator[RunIndex]:
    """Provide the index, made anew if it is of another format or damaged; one in memory without a path."""
    connection = _connect(path)
    with closing(connection):
        yield RunIndex(connection, tick)


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        with suppress(sqlite3.Error, OSError):
            return _ready_or_new(path)
    connection = sqlite3.connect(":memory:")
    connection.executescript(_SCHEMA)
    return connection


def _ready_or_new(path: Path) -> sqlite3.Connection:
    try:
        return _ready(path)
    except sqlite3.DatabaseError as error:
        if "locked" in str(error):  # Another process is at work on it.
            raise
    remove_index(path)
    return _ready(path)


def _ready(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = OFF")  # It can be made again.
        connection.execute("BEGIN IMMEDIATE")
        number = _format(connection)
        if number == 0:
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("SELECT path, state FROM sources LIMIT 1").fetchone()
        connection.commit()
    except BaseException:
        connection.close()
        raise
    return connection


def _format(connection: sqlite3.Connection) -> int:
    """Return the number of its schema, 0 for a new file. Raises sqlite3.DatabaseError for another format."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if number not in (0, FORMAT):
        raise sqlite3.DatabaseError(_OTHER_FORMAT)
    return number


def remove_index(path: Path) -> None:
    """Delete the index; the next pass makes it again."""
    for each in (path, Path(f"{path}-journal")):
        each.unlink(missing_ok=True)
