"""All that the history knows of a tree, for a process that goes on with it."""

from __future__ import annotations

import sqlite3

from axe_lsp.hosting.history.steps import SIZE, milliseconds
from axe_lsp.runtime.run_log import Begun, Known


def known_steps(connection: sqlite3.Connection, root: str) -> Known:
    """All that is known of a tree, for a process that goes on with it."""
    found = connection.execute(
        "SELECT run_id, turn, call, kind, data FROM steps WHERE root_run_id = ? AND kind <> ?",
        (root, SIZE),
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
