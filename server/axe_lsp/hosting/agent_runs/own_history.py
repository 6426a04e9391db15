"""The runs of axe-lsp itself, from its history. Of runs that have ended since they were read, nothing is read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from axe_lsp.hosting.agent_runs.index import RunIndex, Source
from axe_lsp.hosting.agent_runs.log_files import Record, moment
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog, shown_name
from axe_lsp.hosting.history.database import faults_named, open_history
from axe_lsp.runtime.json_data import json_text

_STATES = "SELECT run_id, status || ':' || coalesce(end_seq, 0) FROM runs WHERE began >= ?"
_RUNS = """
SELECT runs.run_id, runs.agent, runs.workspace, runs.began, runs.status, runs.definition, runs.source, begins.params,
    ends.params
FROM runs
LEFT JOIN events AS begins ON begins.root_run_id = runs.root_run_id AND begins.seq = runs.begin_seq
LEFT JOIN events AS ends ON ends.root_run_id = runs.root_run_id AND ends.seq = runs.end_seq
WHERE runs.run_id IN (SELECT value FROM json_each(?))
"""
_CALLS = """
SELECT events.run_id, json_extract(params, '$.name'), json_extract(params, '$.isError'),
    json_extract(params, '$.content') LIKE 'Unknown tool: %'
FROM events WHERE root_run_id IN (
    SELECT DISTINCT root_run_id FROM runs WHERE run_id IN (SELECT value FROM json_each(?))
) AND method = 'axe/tool' AND json_extract(params, '$.kind') = 'end'
"""
_TOGETHER = 500
"""Runs that are read at a time."""


def read_own_history(path: Path, since: float, log: ReadLog, index: RunIndex) -> None:
    """Read the runs that began since a time. Raises HistoryError."""
    if not path.exists():
        return
    first = datetime.fromtimestamp(since, timezone.utc).replace(tzinfo=None)
    with faults_named(path), closing(open_history(path)) as connection:
        log.files, log.size = 1, path.stat().st_size
        started = connection.execute("SELECT DISTINCT agent FROM runs WHERE depth = 0")
        log.started = {shown_name(agent) for (agent,) in started}
        _read(connection, first.isoformat(timespec="seconds"), log, index)


def _read(connection: sqlite3.Connection, since: str, log: ReadLog, index: RunIndex) -> None:
    new: dict[str, str] = {}
    for run_id, state in connection.execute(f"{_STATES} ORDER BY began DESC", (since,)):
        kept = index.source(f"axe#{run_id}")
        if kept is not None and kept.head == state:
            with suppress(msgspec.MsgspecError):
                log.runs.append(msgspec.json.decode(kept.state, type=LoggedRun))
                index.retain(f"axe#{run_id}")
                continue
        new[run_id] = state
    ids = list(new)
    for start in range(0, len(ids), _TOGETHER):
        for run in _runs(connection, ids[start : start + _TOGETHER]):
            log.runs.append(run)
            if run.status != "unfinished":
                state = msgspec.json.encode(run)
                index.keep(f"axe#{run.key}", Source(head=new[run.key], state=state))


def _runs(connection: sqlite3.Connection, ids: Sequence[str]) -> Sequence[LoggedRun]:
    runs: dict[str, LoggedRun] = {}
    rows = connection.execute(_RUNS, (json_text(list(ids)),))
    for run_id, agent, workspace, began, status, definition, source, begin, end in rows:
        run = runs[run_id] = _run(_record(begin), _record(end))
        run.key, run.agent, run.cwd = run_id, shown_name(agent), workspace
        run.began, run.source = moment(began) or 0.0, source or ""
        run.definitions = frozenset([definition] if definition else ())
        run.status = _status(status, _record(end))
    for run_id, name, is_error, is_missing in connection.execute(_CALLS, (json_text(list(ids)),)):
        if run_id in runs and isinstance(name, str):
            use = runs[run_id].use(name)
            use.calls += 1
            use.errors += bool(is_error)
            use.is_missing |= bool(is_missing)
    return list(runs.values())


def _record(text: str | None) -> Record:
    return Record(msgspec.json.decode(text) if text else None)


def _run(begin: Record, end: Record) -> LoggedRun:
    cached, written = end.number("cacheReadTokens"), end.number("cacheWriteTokens")
    cost: Any = end.at("cost")
    return LoggedRun(
        program="axe",
        agent="",
        cwd="",
        began=0.0,
        parent=shown_name(begin.text("parentAgent")),
        model=shown_name(begin.text("model")),
        input_tokens=max(0, end.number("inputTokens") - cached - written),
        output_tokens=end.number("outputTokens"),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        cost=cost if isinstance(cost, (int, float)) else None,
        duration_ms=end.number("durationMs"),
        turns=end.number("turns"),
        limit="timeout" if end.text("status") == "timeout" else shown_name(end.text("limit")),
    )


def _status(status: str, end: Record) -> str:
    if status in ("completed", "failed"):
        return status
    if status == "timeout" or end.text("reason") == "budget":
        return "failed"
    return "unfinished" if status == "running" else "stopped"
