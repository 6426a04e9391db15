"""The runs of axe-lsp itself, from its history."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from axe_lsp.hosting.agent_runs.log_files import Record, moment
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog, shown_name
from axe_lsp.hosting.history.database import faults_named, open_history

_RUNS = """
SELECT runs.run_id, runs.agent, runs.workspace, runs.began, runs.status, begins.params, ends.params
FROM runs
LEFT JOIN events AS begins ON begins.root_run_id = runs.root_run_id AND begins.seq = runs.begin_seq
LEFT JOIN events AS ends ON ends.root_run_id = runs.root_run_id AND ends.seq = runs.end_seq
WHERE runs.began >= ?
"""
_CALLS = """
SELECT events.run_id, json_extract(params, '$.name'), json_extract(params, '$.isError'),
    json_extract(params, '$.content') LIKE 'Unknown tool: %'
FROM events JOIN runs ON runs.run_id = events.root_run_id
WHERE runs.began >= ? AND events.method = 'axe/tool' AND json_extract(params, '$.kind') = 'end'
"""


def read_own_history(path: Path, since: float) -> ReadLog:
    """Return the runs that began since a time. Raises HistoryError."""
    log = ReadLog("axe")
    if not path.exists():
        return log
    first = datetime.fromtimestamp(since, timezone.utc).replace(tzinfo=None)
    with faults_named(path), closing(open_history(path)) as connection:
        log.files, log.size = 1, path.stat().st_size
        _read(connection, first.isoformat(timespec="seconds"), log)
    return log


def _read(connection: sqlite3.Connection, since: str, log: ReadLog) -> None:
    runs: dict[str, LoggedRun] = {}
    for run_id, agent, workspace, began, status, begin, end in connection.execute(_RUNS, (since,)):
        run = _run(_record(begin), _record(end))
        run.agent, run.cwd, run.began = shown_name(agent), workspace, moment(began) or 0.0
        run.status = _status(status, _record(end))
        runs[run_id] = run
        log.runs.append(run)
    for run_id, name, is_error, is_missing in connection.execute(_CALLS, (since,)):
        if run_id in runs and isinstance(name, str):
            use = runs[run_id].use(name)
            use.calls += 1
            use.errors += bool(is_error)
            use.is_missing |= bool(is_missing)


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
    )


def _status(status: str, end: Record) -> str:
    if status in ("completed", "failed"):
        return status
    if status == "timeout" or end.text("reason") == "budget":
        return "failed"
    return "unfinished" if status == "running" else "stopped"
