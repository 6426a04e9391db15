"""The steps of runs in the history: what another process needs to go on with a run.

A new kind of step is a word more in `runtime/run_log.py` and, if it is not needed once its root is
`completed`, in `_OF_UNFINISHED`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from axe_lsp.runtime.run_log import Known, Step

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

INSERT = "INSERT OR REPLACE INTO steps (root_run_id, run_id, turn, call, kind, data) VALUES"

_OF_UNFINISHED = ("begun", "allow", "asked")
"""The kinds that only a run needs that is not completed."""

_SIZE = "size"
"""The kind of what is no step, but says how many characters those of a completed root have."""


class StepRow(NamedTuple):
    """A step as it is kept."""

    root_run_id: str
    run_id: str
    turn: int
    call: str
    kind: str
    data: str


def row_of(step: Step) -> StepRow:
    """The row of a step."""
    return StepRow(step.root_run_id, step.run_id, step.turn, step.call, step.kind, step.data)


def has_steps(connection: sqlite3.Connection, root: str) -> bool:
    """Whether a tree has something to go on with."""
    found = connection.execute("SELECT 1 FROM steps WHERE root_run_id = ? LIMIT 1", (root,))
    return found.fetchone() is not None


def settle(connection: sqlite3.Connection, root: str) -> None:
    """Of a tree whose root is completed, keep what continue, fork and undo need."""
    connection.executemany(
        "DELETE FROM steps WHERE root_run_id = ? AND kind = ?",
        [(root, kind) for kind in _OF_UNFINISHED],
    )
    connection.execute(
        "INSERT OR REPLACE INTO steps SELECT root_run_id, root_run_id, 0, '', ?, sum(length(data)) "
        "FROM steps WHERE root_run_id = ? GROUP BY root_run_id",
        (_SIZE, root),
    )


def sizes(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """The completed roots, newest first, with the characters that their steps have."""
    found = connection.execute(
        "SELECT run_id, coalesce((SELECT CAST(data AS INTEGER) FROM steps "
        "WHERE root_run_id = runs.run_id AND steps.run_id = runs.run_id AND turn = 0 AND call = '' "
        "AND kind = ?), "
        "(SELECT sum(length(data)) FROM steps WHERE root_run_id = runs.run_id), 0) "
        "FROM runs WHERE depth = 0 AND status = 'completed' ORDER BY began DESC, number DESC",
        (_SIZE,),
    )
    return found.fetchall()


def files_before(
    connection: sqlite3.Connection, root: str
) -> Iterator[tuple[tuple[str, int, str], str]]:
    """What is kept of the files that a tree has changed, by run, turn and call: `SavedFile` as text."""
    found = connection.execute(
        "SELECT run_id, turn, call, data FROM steps WHERE root_run_id = ? AND kind = 'saved'",
        (root,),
    )
    for run_id, turn, call, data in found:
        yield (run_id, turn, call), data


def make_final(connection: sqlite3.Connection, root: str) -> None:
    """Make a tree one that can't be resumed, as some of its steps could not be written."""
    connection.execute("DELETE FROM steps WHERE root_run_id = ? AND kind = 'order'", (root,))


def forget(connection: sqlite3.Connection, root: str) -> None:
    """Delete the steps of a tree."""
    connection.execute("DELETE FROM steps WHERE root_run_id = ?", (root,))


def known_steps(connection: sqlite3.Connection, root: str) -> Known:
    """All that is known of a tree, for a process that goes on with it."""
    # Imported late, with the agents that it knows: reading the history needs none.
    from axe_lsp.runtime.run_log import Begun, Known  # noqa: PLC0415

    found = connection.execute(
        "SELECT run_id, turn, call, kind, data FROM steps WHERE root_run_id = ? AND kind <> ?",
        (root, _SIZE),
    )
    steps = {(run_id, turn, call, kind): data for run_id, turn, call, kind, data in found}
    runs = connection.execute("SELECT run_id, began FROM runs WHERE root_run_id = ?", (root,))
    used, asked = _used_ms(connection, root), _asked_ms(connection, root)
    begun = {
        run_id: Begun(began, used.get(run_id, 0), asked.get(run_id, 0)) for run_id, began in runs
    }
    (after,) = connection.execute(
        "SELECT coalesce(max(seq), 0) FROM events WHERE root_run_id = ?", (root,)
    ).fetchone()
    return Known(steps, begun, after)


def _used_ms(connection: sqlite3.Connection, root: str) -> dict[str, int]:
    """For how long the runs of a tree have run; one that has not ended, until the last event of the tree."""
    time = connection.execute(
        "SELECT json_extract(params, '$.time') FROM events WHERE root_run_id = ? ORDER BY seq DESC LIMIT 1",
        (root,),
    ).fetchone()
    found = connection.execute(
        "SELECT run_id, json_extract(params, '$.kind'), json_extract(params, '$.time'), "
        "coalesce(json_extract(params, '$.durationMs'), json_extract(params, '$.saved.durationMs'), 0) "
        "FROM events WHERE root_run_id = ? AND method = 'axe/agent' ORDER BY seq",
        (root,),
    )
    return {  # The last of a run counts.
        run_id: known if kind == "end" else known + milliseconds(since, time[0])
        for run_id, kind, since, known in found
    }


def _asked_ms(connection: sqlite3.Connection, root: str) -> dict[str, int]:
    """For how long questions were open, by the run that has asked and those above it.

    One without an answer was open until the last event of its process.
    """
    questions = connection.execute(
        "SELECT run_id, call, json_extract(data, '$.until') FROM steps "
        "WHERE root_run_id = ? AND kind = 'asked' ORDER BY call",
        (root,),
    ).fetchall()
    if not questions:
        return {}
    parents = dict(
        connection.execute("SELECT run_id, parent_run_id FROM runs WHERE root_run_id = ?", (root,))
    )
    asked: dict[str, int] = {}
    counted: dict[str, str] = {}
    for run_id, since, until in questions:
        end = until or _end_of_process(connection, root, since)
        above: str | None = run_id
        while above is not None:
            begin = max(since, counted.get(above, since))
            asked[above] = asked.get(above, 0) + max(0, milliseconds(begin, end))
            counted[above] = max(begin, end)
            above = parents.get(above)
    return asked


def _end_of_process(connection: sqlite3.Connection, root: str, time: str) -> str:
    """The time of the last event of the process that executed a root run at that time."""
    (end,) = connection.execute(
        "SELECT json_extract(params, '$.time') FROM events WHERE root_run_id = :root AND seq < coalesce("
        "(SELECT min(seq) FROM events WHERE root_run_id = :root AND run_id = :root AND method = 'axe/agent' "
        "AND json_extract(params, '$.kind') = 'resume' AND json_extract(params, '$.time') >= :time), "
        "9223372036854775807) ORDER BY seq DESC LIMIT 1",
        {"root": root, "time": time},
    ).fetchone()
    return str(end)


def milliseconds(begin: str, end: str) -> int:
    """How long it is from one time to another, both as events have them."""
    moments = [datetime.fromisoformat(time.replace("Z", "+00:00")) for time in (begin, end)]
    return round((moments[1] - moments[0]).total_seconds() * 1000)
