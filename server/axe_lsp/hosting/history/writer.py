"""Writes down what happens in the runs of this process, in a thread: no event waits for the disk.

What has come while a batch was written is the next batch. So a single event is on its way to the
file within a moment, and thousands cost a few transactions.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import anyio

from axe_lsp.hosting.history.database import (
    WriterLock,
    faults_named,
    history_file,
    lock_folder,
    open_history,
    transaction,
    written_through,
)
from axe_lsp.hosting.history.rows import IN_PIECES, MOST_KEPT, Batch, Bookkeeping, Origin, write
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.thread_queue import ThreadQueue
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.run_log import Known
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.safety.redaction import redact

_log = logging.getLogger(__name__)

Warn = Callable[[str, str], None]
"""Takes the id of a root run and what its user should know, in any thread."""

_Taken = TypeVar("_Taken")

Stored = Callable[[str, int], None]
"""Takes the id of a root run and the number of its last event that is no longer waiting."""

_TOGETHER = 0.01
"""Seconds within which events are written together. A transaction for each would double the time
that a short turn takes, as threads of one process wait for each other."""

_PIECES_TOGETHER = 0.2
"""Seconds within which pieces of a text are written together, if nothing else is to be written."""

_MOST_AT_ONCE = 2_000
"""Events in a batch. Others that want to write wait for as long as one takes."""

_MOST_OWED = 10_000_000
"""Characters of events that wait for a history that can't be written. There may be more begins and
ends of runs."""

_AGAIN = 5.0
"""Seconds until that is tried again, if nothing happens."""

_LAST_SECONDS = 3.0

_PATIENCE = 2.0
"""Seconds that a call waits for the disk."""

_SLOW = 3.0
"""Seconds after which the user is told that what happens is not written."""


class _Entry(NamedTuple):
    """An event with the steps before it, so that they reach the disk together; or steps that a caller waits for."""

    event: Notification | None
    origin: Origin | None
    steps: tuple[Step, ...] = ()
    on_disk: Callable[[], None] | None = None


class HistoryWriter:
    """The one writer of a process. It is a `StepSink`.

    When the history can't be written the runs go on, and one warning says so. What has happened is
    written as soon as that works again: all of it, or if it is much the begins and ends of runs.
    It `is_failing` until then.
    """

    def __init__(self, warn: Warn, stored: Stored = lambda _root, _seq: None) -> None:
        self._warn = warn
        self._stored = stored
        self._entries: ThreadQueue[_Entry | None] = ThreadQueue(_TOGETHER, _PIECES_TOGETHER)
        self._steps: dict[str, list[Step]] = {}
        self._thread: threading.Thread | None = None
        self.name = uuid.uuid4().hex
        self._books = Bookkeeping(self.name, self._clean)
        self._owed = Batch()
        self._secrets: frozenset[str] = frozenset()
        self._connection: sqlite3.Connection | None = None
        self._lock: WriterLock | None = None
        self._claimed: set[str] = set()
        self.is_failing = False
        self._is_tidy = False
        self._has_warned = False
        self._warned_last = ""
        self._last_root = ""
        self._writes_since: float | None = None

    def keep_event(self, event: Notification, origin: Origin) -> None:
        """Remember an event, and the steps of its tree before it. Returns at once."""
        root = event.params["rootRunId"]
        entry = _Entry(event, origin, tuple(self._steps.pop(root, ())))
        self._put(entry, can_wait=event.method in IN_PIECES and not entry.steps)
        self._last_root = root
        self._warn_if_slow()

    def keep(self, step: Step) -> None:
        """Remember a step, together with the next event of its tree. Returns at once."""
        self._steps.setdefault(step.root_run_id, []).append(step)

    async def committed(self, root: str) -> None:
        """Wait until all steps of a tree so far are on the disk, but not for a history that can't be written."""
        if self.is_failing:
            return
        loop, is_done = asyncio.get_running_loop(), asyncio.Event()

        def on_disk() -> None:
            with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
                loop.call_soon_threadsafe(is_done.set)

        self._put(_Entry(None, None, tuple(self._steps.pop(root, ())), on_disk), urgent=True)
        with anyio.move_on_after(_PATIENCE):
            await is_done.wait()

    def claim(self, root: str, adopter: str = "") -> Known:
        """Become the one writer of a tree that no process executes, to resume it; returns what is known of it.

        Blocks. Raises RunError. The tree may have been adopted by another writer, the `adopter`.
        """
        # Imported late: hardly any run is resumed.
        from axe_lsp.hosting.history.former_runs import all_known
        from axe_lsp.hosting.history.run_claims import claim

        self._answer_for(root, lambda path: claim(path, root, self.name, adopter))
        return all_known(root)

    def adopt(self, root: str) -> int:
        """Become the writer of a tree whose process has died, for another one that is to go on with it.

        Blocks. Returns the number of the last event in the history. Raises RunError.
        """
        from axe_lsp.hosting.history.run_claims import adopt

        return self._answer_for(root, lambda path: adopt(path, root, self.name))

    def handed_over(self, root: str) -> None:
        """Take note that another process writes the events of a tree which this one has adopted."""
        self._claimed.discard(root)

    def let_go(self, root: str) -> None:
        """Give back a claimed tree in which nothing has happened since. Blocks. Raises RunError."""
        from axe_lsp.hosting.history.run_claims import let_go

        if root in self._claimed:
            let_go(history_file(os.environ), root, self.name)
            self._claimed.discard(root)

    async def written(self, root: str) -> None:
        """Wait until all events and steps of a tree are in the history. Raises RunError if they don't get there."""
        await self.committed(root)
        if self.is_failing:
            raise RunError("the history can't be written")

    def _answer_for(self, root: str, take: Callable[[Path], _Taken]) -> _Taken:
        path = history_file(os.environ)
        if self._lock is None:
            self._lock = WriterLock(lock_folder(path), self.name)
        self._claimed.add(root)
        try:
            return take(path)
        except BaseException:
            self._claimed.discard(root)
            raise

    def _put(self, entry: _Entry, *, urgent: bool = False, can_wait: bool = False) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="history", daemon=True)
            self._thread.start()
        self._entries.put(entry, urgent, can_wait=can_wait)

    def close(self) -> None:
        """Wait until everything is written, but not for a disk that hangs."""
        self._entries.put(None, urgent=True)
        if self._thread is not None:
            self._thread.join(_LAST_SECONDS)
            if self._thread.is_alive():  # It ends with the process, whatever was said before.
                self.is_failing = True
                self._warn(
                    self._last_root,
                    f"this run is not stored in the history, and so can't be resumed: {_nothing_written(_LAST_SECONDS)}",
                )

    def _warn_if_slow(self) -> None:
        """Warn for the thread, which can't tell while it waits for the disk, or for another process."""
        since = self._writes_since
        if since is None or self._has_warned or time.monotonic() - since < _SLOW:
            return
        self._has_warned = True
        self._warn(
            self._last_root,
            f"this run is not stored at present: {_nothing_written(_SLOW)}",
        )

    # In the thread.

    def _work(self) -> None:
        more = True
        while more:
            entries, more = self._next()
            self._writes_since = time.monotonic()
            try:
                self._store(entries)
                self._tidy()
            except Exception:  # noqa: BLE001 - a bug costs a batch, and not the rest
                _log.exception("Some events are not stored")
            self._writes_since = None
            events = [entry.event for entry in entries if entry.event is not None]
            last = {event.params["rootRunId"]: event.params["seq"] for event in events}
            for root, seq in last.items():
                self._stored(root, seq)
            for entry in entries:
                if entry.on_disk is not None:
                    entry.on_disk()
        self._put_away()
        self._release_lock()

    def _next(self) -> tuple[list[_Entry], bool]:
        """Return all that waits, and whether more may come. Nothing if it is time to try again."""
        taken = self._entries.take(_MOST_AT_ONCE, _AGAIN if self._owed.events else None)
        entries = [entry for entry in taken if entry is not None]
        return entries, len(entries) == len(taken)

    def _store(self, entries: list[_Entry]) -> None:
        batch = self._batch(entries)
        if not (batch.events or batch.steps):
            return
        is_awaited = any(entry.on_disk is not None for entry in entries)
        try:
            self._write(batch, through=is_awaited)
            # The same run is not told again: what was lost stays lost.
            self._has_warned, self.is_failing = False, False
        except RunError as error:
            self.is_failing = True
            self._warn_once(batch, error)
            self._owed = self._rest(batch)

    def _rest(self, batch: Batch) -> Batch:
        """Write what a disk may still have room for; returns what is to be tried again."""
        least = batch.begins_and_ends()
        with suppress(RunError):
            self._write(least)
        return batch if batch.size < _MOST_OWED else least

    def _warn_once(self, batch: Batch, error: RunError) -> None:
        """Tell the user of a run; who has seen its end may not listen any more."""
        root = self._last_root
        if not self._has_warned and root != self._warned_last:
            self._has_warned, self._warned_last = self._books.has_under_way(root), root
            self._warn(
                root, f"this run is not stored in the history, and so can't be resumed: {error}"
            )

    def _batch(self, entries: list[_Entry]) -> Batch:
        batch, self._owed = self._owed, Batch()
        if any(entry.event is not None and _begins_tree(entry.event) for entry in entries):
            self._secrets = known_secrets(os.environ)
        for entry in entries:
            batch.steps.extend(entry.steps)
            if entry.event is not None and entry.origin is not None:
                self._books.add(batch, entry.event, entry.origin)
                if _begins_tree(entry.event):  # The books know it from now on.
                    self._claimed.discard(entry.event.params["rootRunId"])
        self._books.end_row(batch)
        while self._books.overfull:
            self._warn(
                self._books.overfull.pop(),
                f"the history keeps {MOST_KEPT:,} characters of a run, and this one has more: "
                "of the rest only the begins and ends of runs are stored",
            )
        return batch

    def _write(self, batch: Batch, *, through: bool = False) -> None:
        """Write a batch, `through` to the disk if that is worth a wait."""
        path = history_file(os.environ)
        try:
            with faults_named(path):
                self._write_into(path, batch, through)
        except RunError:
            self._put_away()
            raise

    def _write_into(self, path: Path, batch: Batch, through: bool) -> None:
        is_first = self._connection is None
        connection = self._connection = self._connection or open_history(path)
        if self._lock is None and not self._books.is_idle:
            self._lock = WriterLock(lock_folder(path), self.name)
        with written_through(connection) if through else nullcontext(), transaction(connection):
            write(connection, batch)
        self._is_tidy = self._is_tidy and not batch.completed  # Which takes room.
        if self._books.is_idle and not self._claimed:
            self._release_lock()
        if is_first:
            # Imported here, in the thread: nothing waits for it.
            from axe_lsp.hosting.history.dead_runs import end_runs_of_the_dead

            end_runs_of_the_dead(connection, lock_folder(path))

    def _tidy(self) -> None:
        """Forget what is expired or has no room, behind a batch that leaves time for it. What goes wrong waits for others."""
        if self._connection is None or self._is_tidy:
            return
        from axe_lsp.hosting.history.pruning import forget_expired, shrink_steps

        self._is_tidy = True
        with suppress(RunError), faults_named(history_file(os.environ)):
            self._is_tidy = all(
                tidy(self._connection, self._entries.is_empty)
                for tidy in (forget_expired, shrink_steps)
            )

    def _put_away(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _release_lock(self) -> None:
        if self._lock is not None:
            self._lock.end()
            self._lock = None

    def _clean(self, text: str) -> str:
        return redact(text, self._secrets)


def _nothing_written(seconds: float) -> str:
    return (
        f"nothing could be written to the history for {seconds:g} s; "
        "check whether its disk is slow or full, and end any process that locks it"
    )


def _begins_tree(event: Notification) -> bool:
    params = event.params
    return (
        params["depth"] == 0
        and event.method == "axe/agent"
        and params["kind"] in ("begin", "resume")
    )
