"""Forgets runs: whole trees, each at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from axe_lsp.hosting.history.database import transaction
from axe_lsp.hosting.history.rows import date_in

_MOST_AT_ONCE = 50
"""Trees that a process forgets when it begins to write; the next one goes on."""


def forget_expired(connection: sqlite3.Connection) -> None:
    """Forget some of the runs whose time has come."""
    _forget(
        connection,
        "forget_after < ? ORDER BY forget_after LIMIT ?",
        (date_in(0), _MOST_AT_ONCE),
    )


def forget_older(connection: sqlite3.Connection, days: int) -> int:
    """Forget the runs that began more than so many days ago; returns how many there were."""
    forgotten = _forget(connection, "began < ?", (date_in(-days),))
    _shrink(connection)
    return forgotten


def forget_all_but(connection: sqlite3.Connection, count: int) -> int:
    """Forget all but so many of the newest runs; returns how many there were."""
    forgotten = _forget(connection, "1 ORDER BY began DESC LIMIT -1 OFFSET ?", (count,))
    _shrink(connection)
    return forgotten


def _forget(connection: sqlite3.Connection, which: str, values: Iterable[object]) -> int:
    """Forget roots with all below them. One that is under way stays."""
    found = connection.execute(
        f"SELECT run_id, status FROM runs WHERE depth = 0 AND {which}",  # noqa: S608 - our own words
        tuple(values),
    )
    roots = [run_id for run_id, status in found.fetchall() if status != "running"]
    for root in roots:
        with transaction(connection):
            connection.execute("DELETE FROM events WHERE root_run_id = ?", (root,))
            connection.execute("DELETE FROM runs WHERE root_run_id = ?", (root,))
    return len(roots)


def _shrink(connection: sqlite3.Connection) -> None:
    """Give the room back to the disk."""
    # `execute` would give back a single page.
    connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
