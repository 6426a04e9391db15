"""Deletes runs from the history: whole trees, each at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence

from axe_lsp.hosting.history import stored_sessions
from axe_lsp.hosting.history.database import transaction
from axe_lsp.hosting.history.rows import date_in
from axe_lsp.hosting.history.steps import forget, sizes
from axe_lsp.runtime.memory import forget_run

_MOST_AT_ONCE = 50
"""Trees that a process forgets; the next one goes on."""

_RUNS = "SELECT run_id, status FROM runs"

MOST_STEPS = 256 * 1024 * 1024
"""Characters that the steps of all completed runs may have together."""


def forget_expired(connection: sqlite3.Connection, may_go_on: Callable[[], bool]) -> bool:
    """Forget some of the runs whose time has come, as long as there is nothing better to do; whether there was time."""
    which = "WHERE depth = 0 AND forget_after < ? ORDER BY forget_after LIMIT ?"
    for root in _roots(connection, which, (date_in(0), _MOST_AT_ONCE)):
        if not may_go_on():
            return False
        _forget(connection, root)
    return True


def shrink_steps(
    connection: sqlite3.Connection, may_go_on: Callable[[], bool], most: int = MOST_STEPS
) -> bool:
    """Forget the steps of the oldest completed roots that have no room; whether there was time.

    What of a run is shown does not change, but it can't be continued, forked or undone any more.
    """
    room, has_shrunk = most, False
    for root, size in sizes(connection):
        room -= size
        if room >= 0 or not size:
            continue
        if not may_go_on():
            return False
        with transaction(connection):
            forget(connection, root)
        has_shrunk = True
    if has_shrunk:  # `execute` would give back a single page.
        connection.executescript("PRAGMA incremental_vacuum;")
    return True


def forget_older(connection: sqlite3.Connection, days: int) -> int:
    """Forget the runs that began more than so many days ago; returns how many there were."""
    return _forget_all(
        connection, _roots(connection, "WHERE depth = 0 AND began < ?", (date_in(-days),))
    )


def forget_all_but(connection: sqlite3.Connection, count: int) -> int:
    """Forget all but so many of the newest runs; returns how many there were."""
    which = "WHERE depth = 0 ORDER BY began DESC LIMIT -1 OFFSET ?"
    return _forget_all(connection, _roots(connection, which, (count,)))


def _roots(connection: sqlite3.Connection, which: str, values: tuple[object, ...]) -> list[str]:
    """Return the root runs that can be deleted, which are not running."""
    found = connection.execute(f"{_RUNS} {which}", values)
    return [run_id for run_id, status in found if status != "running"]


def _forget_all(connection: sqlite3.Connection, roots: Sequence[str]) -> int:
    """Forget trees, and give the room back to the disk."""
    for root in roots:
        _forget(connection, root)
    # `execute` would give back a single page.
    connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
    return len(roots)


def _forget(connection: sqlite3.Connection, root: str) -> None:
    with transaction(connection):
        connection.execute("DELETE FROM events WHERE root_run_id = ?", (root,))
        forget(connection, root)
        connection.execute("DELETE FROM runs WHERE root_run_id = ?", (root,))
        stored_sessions.forget_run(connection, root)
    forget_run(root, os.environ)
