"""Queries about past runs, and about active runs of any process."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.hosting.history.database import HistoryError
from axe_lsp.hosting.history.rows import events_in, storable
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.json_data import Json

_RUNS = """
SELECT runs.run_id, runs.root_run_id, runs.parent_run_id, runs.agent, runs.depth, runs.status, runs.began,
    runs.workspace, begins.params, ends.params,
    EXISTS (SELECT 1 FROM steps WHERE steps.root_run_id = runs.run_id
        AND steps.run_id = runs.run_id AND turn = 0 AND call = '' AND kind = 'order'),
    runs.status = 'running' AND EXISTS (SELECT 1 FROM steps AS asked INDEXED BY questions
        WHERE asked.root_run_id = runs.root_run_id AND asked.kind = 'asked'
        AND (runs.depth = 0 OR asked.run_id = runs.run_id)
        AND json_extract(asked.data, '$.until') IS NULL
        AND asked.call >= (SELECT max(json_extract(params, '$.time'))
            FROM events INDEXED BY begins_and_ends
            WHERE events.root_run_id = asked.root_run_id AND events.run_id = asked.run_id
            AND method = 'axe/agent')),
    runs.status = 'running' AND (SELECT method = 'axe/agent' AND json_extract(params, '$.kind') = 'idle'
        FROM events WHERE events.root_run_id = runs.root_run_id AND events.run_id = runs.run_id
        AND (method <> 'axe/message' OR json_extract(params, '$.kind') = 'given')
        ORDER BY seq DESC LIMIT 1),
    (SELECT count(*) FROM steps AS message WHERE message.root_run_id = runs.root_run_id
        AND message.run_id = runs.run_id AND message.turn = 0 AND message.kind = 'message'
        AND json_extract(message.data, '$.isRemoved') IS NULL
        AND NOT EXISTS (SELECT 1 FROM steps AS given, json_each(given.data, '$.messageIds') AS id
            WHERE given.root_run_id = message.root_run_id AND given.run_id = message.run_id
            AND given.kind = 'gave' AND id.value = message.call))
FROM runs
LEFT JOIN events AS begins
    ON begins.root_run_id = runs.root_run_id AND begins.seq = runs.begin_seq
LEFT JOIN events AS ends
    ON ends.root_run_id = runs.root_run_id AND ends.seq = runs.end_seq
"""

"""The runs as they are. A question without an answer is open if its run has neither ended nor begun anew since.
The questions of a tree are its root's, too."""

_IN_FOLDER = "runs.workspace = ? OR substr(runs.workspace, 1, ?) = ?"

_LAST_CHARACTER = chr(sys.maxunicode)

_TIME = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?)?")
"""The beginning of a time as the history has it; a blank is easier to type than the T."""

_SEARCHED = 1_000
"""The newest runs of a folder, among which one is looked for."""

_FIRST_TIME = "0001-01-01T00:00:00"

_OF_THE_EVENT = ("seq", "time", "kind")


class Wanted(Struct, frozen=True):
    """Which runs: the newest `limit` roots, or runs of `agent` at any depth.

    `before` is the id of a run or a time; what began then or later is left out. `folders` are paths:
    only runs that took place in one of them, or below it. `since` is a time: only runs that began then or later.
    """

    agent: str | None = None
    status: str | None = None
    before: str | None = None
    limit: int = 50
    folders: tuple[str, ...] = ()
    since: str | None = None


def past_runs(connection: sqlite3.Connection, wanted: Wanted) -> list[dict[str, Json]]:
    """Return runs as clients see them, newest first. Raises HistoryError if `before` is unknown."""
    conditions: list[str] = []
    values: list[object] = []
    if wanted.agent is None:
        conditions.append("runs.depth = 0")
    else:
        conditions.append("runs.agent = ?")
        values.append(wanted.agent)
    if wanted.status is not None:
        conditions.append("runs.status = ?")
        values.append(wanted.status)
    if wanted.before is not None:
        conditions.append("(runs.began, runs.number) < (?, ?)")
        values.extend(_moment(connection, wanted.before))
    if wanted.since is not None:
        conditions.append("runs.began >= ?")
        values.append(_checked_time(wanted.since))
    if wanted.folders:
        conditions.append(f"({' OR '.join([_IN_FOLDER] * len(wanted.folders))})")
        values.extend(value for folder in wanted.folders for value in _in_folder(folder))
    where = " AND ".join(conditions)
    found = connection.execute(
        f"{_RUNS} WHERE {where} ORDER BY runs.began DESC, runs.number DESC LIMIT ?",
        (*map(storable, values), wanted.limit),
    )
    return [_run(row) for row in found]


def writers_of_active_roots(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the writers of the root runs that are being executed, by the ids of these."""
    found = connection.execute(
        "SELECT run_id, writer FROM runs WHERE status = 'running' AND depth = 0"
    )
    return dict(found.fetchall())


def newest_in(
    connection: sqlite3.Connection, folders: tuple[str, ...], mark: str, agent: str | None = None
) -> str:
    """Return the newest root that took place in one of the folders and is so marked. Raises HistoryError.

    `mark` is "resumable", "continuable", "kept", or "runId" for any.
    """
    for run in past_runs(connection, Wanted(limit=_SEARCHED, folders=folders)):
        if run.get(mark) and run["workspace"] in folders and agent in (None, run["agent"]):
            root: str = run["runId"]
            return root
    if mark == "resumable":
        raise HistoryError(
            "no run of this folder can be resumed; `axe-lsp history list` marks those that can with ↻"
        )
    if mark in ("runId", "kept"):
        of_agent = f" of agent {quoted(agent)}" if agent else ""
        raise HistoryError(
            f"no run{of_agent} in this folder is stored; `axe-lsp history list` lists the runs of all folders"
        )
    raise HistoryError(f"no completed run of agent {quoted(agent or '')} in this folder is kept")


def runs_below(connection: sqlite3.Connection, run_id: str, root: str) -> list[dict[str, Json]]:
    """Return a run and those below it as clients see them, in the order in which they began."""
    found = connection.execute(
        f"{_RUNS} WHERE runs.root_run_id = ? ORDER BY runs.begin_seq", (root,)
    )
    wanted = _ids_below(connection, run_id, root)
    return [run for run in map(_run, found) if run["runId"] in wanted]


def all_roots(connection: sqlite3.Connection) -> list[str]:
    """Return all that is remembered, oldest first."""
    found = connection.execute("SELECT run_id FROM runs WHERE depth = 0 ORDER BY began, number")
    return [root for (root,) in found]


class Progress(Struct):
    """The progress of a follower: the last event of each active root, and the newest run."""

    seen: dict[str, int]
    newest: int


def progress_of_roots(connection: sqlite3.Connection, known: Progress | None = None) -> Progress:
    """Return the active runs with their state so far; or the known runs, and those that began since."""
    (newest,) = connection.execute("SELECT coalesce(max(number), 0) FROM runs").fetchone()
    if known is not None:
        begun = connection.execute(
            "SELECT run_id FROM runs WHERE depth = 0 AND number > ?", (known.newest,)
        )
        return Progress({**known.seen, **{root: 0 for (root,) in begun}}, newest)
    going = connection.execute(
        "SELECT run_id, (SELECT max(seq) FROM events WHERE root_run_id = run_id) "
        "FROM runs WHERE depth = 0 AND status = 'running'"
    )
    return Progress(dict(going.fetchall()), newest)


def find_run(connection: sqlite3.Connection, beginning: str) -> tuple[str, str]:
    """Return the ids of the run whose id begins so, and of its root. Raises HistoryError."""
    found = connection.execute(
        "SELECT run_id, root_run_id FROM runs WHERE run_id >= ? AND run_id < ? "
        "ORDER BY run_id LIMIT 2",
        (storable(beginning), storable(beginning) + _LAST_CHARACTER),
    ).fetchall()
    if not found or not beginning:
        raise HistoryError(f"no run {beginning!r} is stored; `axe-lsp history list` lists the runs")
    if len(found) > 1 and found[0][0] != beginning:
        raise HistoryError(f"several runs begin with {beginning!r}; give more of the id")
    run_id, root = found[0]
    return run_id, root


def named_or_newest(
    connection: sqlite3.Connection,
    beginning: str | None,
    folders: tuple[str, ...],
    mark: str = "runId",
    agent: str | None = None,
) -> tuple[str, str]:
    """Return the ids of the run whose id begins so and of its root, or of the newest of `folders` if none is named.

    Raises HistoryError.
    """
    if beginning:
        return find_run(connection, beginning)
    root = newest_in(connection, folders, mark, agent)
    return root, root


def events_below(
    connection: sqlite3.Connection, run_id: str, root: str, after: int = 0
) -> Iterator[Notification]:
    """Yield the events of a run and its sub-agents, from the event after that number on."""
    wanted = _ids_below(connection, run_id, root)
    for event in tree_events(connection, root, after):
        if run_id == root or event.params["runId"] in wanted:
            yield event


def tree_events(
    connection: sqlite3.Connection, root: str, after: int = 0
) -> Iterator[Notification]:
    """Yield the events of a whole tree, in order."""
    found = connection.execute(
        "SELECT method, params FROM events WHERE root_run_id = ? AND seq > ? ORDER BY seq",
        (root, after),
    )
    for method, params in found:
        for event in events_in(method, json.loads(params)):
            if event.params["seq"] > after:
                yield event


def _ids_below(connection: sqlite3.Connection, run_id: str, root: str) -> set[str]:
    """Return a run and all below it. A parent begins before its children."""
    ids = {run_id}
    runs = connection.execute(
        "SELECT run_id, parent_run_id FROM runs WHERE root_run_id = ? ORDER BY begin_seq", (root,)
    )
    for child, parent in runs:
        if parent in ids:
            ids.add(child)
    return ids


def _in_folder(folder: str) -> tuple[object, ...]:
    below = folder.rstrip(os.sep) + os.sep
    return folder, len(below), below


def _moment(connection: sqlite3.Connection, before: str) -> tuple[str, int]:
    if _TIME.fullmatch(before):
        return _checked_time(before.replace(" ", "T")), 0
    if not re.fullmatch(r"[0-9a-f]+", before):
        raise HistoryError(
            f"{before!r} is neither the id of a run nor a time such as 2026-11-21 "
            "or 2026-11-21T09:30"
        )
    run_id, _ = find_run(connection, before)
    began, number = connection.execute(
        "SELECT began, number FROM runs WHERE run_id = ?", (run_id,)
    ).fetchone()
    return began, number


def _checked_time(beginning: str) -> str:
    """Return the beginning of a time that there is. Raises HistoryError."""
    seconds = beginning.removesuffix("Z").partition(".")[0]
    try:
        datetime.fromisoformat(seconds + _FIRST_TIME[len(seconds) :])
    except ValueError as error:
        raise HistoryError(f"{beginning!r} is not a time: {error}") from None
    return beginning


def is_resumable(status: str, reason: str | None) -> bool:
    """Return whether a run whose steps are kept may end otherwise."""
    return status not in ("running", "completed") and reason != "final"


def _run(row: tuple[Json, ...]) -> dict[str, Json]:
    *own, begin, end, is_kept, waits, is_idle, queued = row
    run_id, root, parent, agent, depth, status, began, workspace = own
    told = {**json.loads(begin or "{}"), **json.loads(end or "{}")}
    ended = told["time"] if end else None
    for name in _OF_THE_EVENT:
        told.pop(name, None)
    known = {
        "runId": run_id,
        "rootRunId": root,
        "parentRunId": parent,
        "agent": agent,
        "depth": depth,
        "status": status,
        "began": began,
        "ended": ended,
        "workspace": workspace,
        "resumable": (is_kept and is_resumable(status, told.get("reason"))) or None,
        "continuable": (is_kept and status == "completed") or None,
        "kept": (is_kept and status != "running") or None,
        "waits": bool(waits) or None,
        "idle": bool(is_idle) or None,
        "queued": (status != "completed" and queued) or None,
    }
    return {**{key: value for key, value in known.items() if value is not None}, **told}
