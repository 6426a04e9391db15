"""The steps of runs in the history: what another process needs to go on with a run.

A new kind of step is a word more in `runtime/run_steps.py` and, if it is not needed once its root is
`completed`, in `_OF_UNFINISHED`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime

import msgspec

from axe_lsp.runtime.messages import Image
from axe_lsp.runtime.run_steps import Step

SCHEMA = """
CREATE TABLE steps (
    root_run_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    call TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (root_run_id, run_id, turn, call, kind)
) WITHOUT ROWID;
"""
"""The part of the history's schema that format 2 has added."""

INSERT = f"INSERT OR REPLACE INTO steps ({', '.join(Step.__struct_fields__)}) VALUES"

_OF_UNFINISHED = ("begun", "allow", "asked", "message")
"""The kinds that only a run needs that is not completed."""

SIZE = "size"
"""The kind of what is no step, but says how many characters those of a completed root have."""


def has_steps(connection: sqlite3.Connection, root: str) -> bool:
    """Return whether a tree has something to go on with."""
    found = connection.execute("SELECT 1 FROM steps WHERE root_run_id = ? LIMIT 1", (root,))
    return found.fetchone() is not None


def settle(connection: sqlite3.Connection, root: str) -> None:
    """Keep, of a tree whose root is completed, the steps that continuing, forking and undoing need."""
    connection.execute(
        "DELETE FROM steps WHERE root_run_id = ? AND kind IN (SELECT value FROM json_each(?))",
        (root, json.dumps(_OF_UNFINISHED)),
    )
    connection.execute(
        "INSERT OR REPLACE INTO steps SELECT root_run_id, root_run_id, 0, '', ?, sum(length(data)) "
        "FROM steps WHERE root_run_id = ? GROUP BY root_run_id",
        (SIZE, root),
    )


def sizes(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return the completed roots, newest first, with the characters that their steps have."""
    found = connection.execute(
        "SELECT run_id, coalesce((SELECT CAST(data AS INTEGER) FROM steps "
        "WHERE root_run_id = runs.run_id AND steps.run_id = runs.run_id AND turn = 0 AND call = '' "
        "AND kind = ?), "
        "(SELECT sum(length(data)) FROM steps WHERE root_run_id = runs.run_id), 0) "
        "FROM runs WHERE depth = 0 AND status = 'completed' ORDER BY began DESC, number DESC",
        (SIZE,),
    )
    return found.fetchall()


def files_before(
    connection: sqlite3.Connection, root: str
) -> Iterator[tuple[tuple[str, int, str], str]]:
    """Yield the former content of the files that a tree has changed, by run, turn and call: `SavedFile` as text."""
    found = connection.execute(
        "SELECT run_id, turn, call, data FROM steps WHERE root_run_id = ? AND kind = 'saved'",
        (root,),
    )
    for run_id, turn, call, data in found:
        yield (run_id, turn, call), data


def images_of_task(connection: sqlite3.Connection, root: str) -> tuple[Image, ...]:
    """Return the pictures that went with the task of a root run. Raises ValueError if they can't be read."""
    found = connection.execute(
        "SELECT json_extract(data, '$.request.images') FROM steps "
        "WHERE root_run_id = ? AND run_id = ? AND kind = 'order'",
        (root, root),
    ).fetchone()
    return msgspec.convert(json.loads((found and found[0]) or "[]"), tuple[Image, ...])


def make_final(connection: sqlite3.Connection, root: str) -> None:
    """Make a tree one that can't be resumed, as some of its steps could not be written."""
    connection.execute("DELETE FROM steps WHERE root_run_id = ? AND kind = 'order'", (root,))


def forget(connection: sqlite3.Connection, root: str) -> None:
    """Delete the steps of a tree."""
    connection.execute("DELETE FROM steps WHERE root_run_id = ?", (root,))


def milliseconds(begin: str, end: str) -> int:
    """Return how long it is from one time to another, both as events have them."""
    moments = [datetime.fromisoformat(time.replace("Z", "+00:00")) for time in (begin, end)]
    return round((moments[1] - moments[0]).total_seconds() * 1000)
