"""Writes down what happens in the runs of this process, in a thread: no event waits for the disk.

What has come while a batch was written is the next batch. So a single event is on its way to the
file within a moment, and thousands cost a few transactions.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import uuid
from collections.abc import Callable
from typing import NamedTuple

from axe_lsp.hosting.history.database import (
    faults_named,
    history_file,
    open_history,
    transaction,
)
from axe_lsp.hosting.history.life import Life, lives_beside
from axe_lsp.hosting.history.mending import end_runs_of_the_dead
from axe_lsp.hosting.history.pruning import forget_expired
from axe_lsp.hosting.history.rows import Batch, Bookkeeping, Origin, write
from axe_lsp.hosting.wire import Notification
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.redaction import redact
from axe_lsp.runtime.user_config import known_secrets

Warn = Callable[[str, str], None]
"""Takes the id of a root run and what its user should know, in any thread."""

Stored = Callable[[str, int], None]
"""Takes the id of a root run and the number of its last event that is no longer waiting."""

_TOGETHER = 0.01
"""Seconds within which events are written together. A transaction for each would double the time
that a short turn takes, as threads of one process wait for each other."""

_MOST_AT_ONCE = 2_000
"""Events in a batch. Others that want to write wait for as long as one takes."""

_LAST_SECONDS = 3.0


class _Entry(NamedTuple):
    event: Notification
    origin: Origin


class HistoryWriter:
    """The one writer of a process.

    When the history can't be written the runs go on, and one warning says so. Begins and ends of
    runs are written as soon as it works again.
    """

    def __init__(self, warn: Warn, stored: Stored = lambda _root, _seq: None) -> None:
        self._warn = warn
        self._stored = stored
        self._entries: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._name = uuid.uuid4().hex
        self._books = Bookkeeping(self._name, self._clean)
        self._owed = Batch()
        self._secrets: frozenset[str] = frozenset()
        self._connection: sqlite3.Connection | None = None
        self._life: Life | None = None
        self._has_warned = False

    def keep(self, event: Notification, origin: Origin) -> None:
        """Remember an event. Returns at once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="history", daemon=True)
            self._thread.start()
        self._entries.put(_Entry(event, origin))

    def close(self) -> None:
        """Wait until everything is written, but not for a disk that hangs."""
        self._closing.set()
        self._entries.put(None)
        if self._thread is not None:
            self._thread.join(_LAST_SECONDS)

    # In the thread.

    def _work(self) -> None:
        more = True
        while more:
            entries, more = self._next()
            if entries:
                self._store(entries)
        self._put_away()
        self._end_life()

    def _next(self) -> tuple[list[_Entry], bool]:
        """All that waits, and whether more may come."""
        entries = []
        entry = self._entries.get()
        self._closing.wait(_TOGETHER)
        while entry is not None:
            entries.append(entry)
            if len(entries) == _MOST_AT_ONCE or self._entries.empty():
                return entries, True
            entry = self._entries.get()
        return entries, False

    def _store(self, entries: list[_Entry]) -> None:
        batch, self._owed = self._owed, Batch()
        if any(entry.event.params["depth"] == 0 for entry in entries):
            self._secrets = known_secrets(os.environ)
        for entry in entries:
            self._books.add(batch, *entry)
        try:
            self._write(batch)
            self._has_warned = False
        except RunError as error:
            self._fail(batch, error, entries[0].event.params["rootRunId"])
        for root, seq in {_root(entry): entry.event.params["seq"] for entry in entries}.items():
            self._stored(root, seq)

    def _write(self, batch: Batch) -> None:
        path = history_file(os.environ)
        is_first = self._connection is None
        connection = self._connection = self._connection or open_history(path)
        with faults_named(path):
            if self._life is None and not self._books.is_idle:
                self._life = Life(lives_beside(path), self._name)
            with transaction(connection):
                write(connection, batch)
            if self._books.is_idle:
                self._end_life()
            if is_first:
                end_runs_of_the_dead(connection, lives_beside(path))
                forget_expired(connection)

    def _fail(self, batch: Batch, error: RunError, root: str) -> None:
        self._owed = batch.begins_and_ends()
        self._put_away()
        if not self._has_warned:
            self._has_warned = True
            self._warn(root, f"this run is not remembered: {error}")

    def _put_away(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _end_life(self) -> None:
        if self._life is not None:
            self._life.end()
            self._life = None

    def _clean(self, text: str) -> str:
        return redact(text, self._secrets)


def _root(entry: _Entry) -> str:
    root: str = entry.event.params["rootRunId"]
    return root
