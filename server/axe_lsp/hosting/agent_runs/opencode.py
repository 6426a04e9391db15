"""The runs of opencode's agents, from its database. Recorded with opencode 1.18.33."""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from pathlib import Path

import msgspec

from axe_lsp.agentfile.schema.markdown_keys import OPENCODE_BUILT_IN
from axe_lsp.hosting.agent_runs.log_files import (
    LogFiles,
    open_database,
    rows,
    value_at,
    whole_number,
)
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog, shown_name

_SESSIONS = """
SELECT id, parent_id, directory, agent, model, cost, tokens_input, tokens_output, tokens_cache_read, tokens_cache_write,
    time_created, time_updated
FROM session WHERE time_updated >= ?
"""
_ANSWERS = """
SELECT session_id, json_extract(data, '$.error') IS NOT NULL, json_extract(data, '$.error.name'),
    json_extract(data, '$.time.completed') IS NOT NULL OR json_extract(data, '$.finish') IS NOT NULL
FROM message WHERE time_updated >= ? AND json_valid(data) AND json_extract(data, '$.role') = 'assistant'
ORDER BY time_created, id
"""
_CALLS = """
SELECT session_id, json_extract(data, '$.tool'), json_extract(data, '$.state.status'),
    CASE WHEN json_extract(data, '$.tool') = 'task' THEN substr(json_extract(data, '$.state.error'), 1, 300) END
FROM part WHERE time_updated >= ? AND json_valid(data) AND json_extract(data, '$.type') = 'tool'
"""
_UNKNOWN = re.compile(r"Unknown agent type: (\S+)")


def read_opencode(folder: Path, since: float) -> ReadLog:
    """Return the runs that began since a time."""
    log = ReadLog("opencode")
    path = folder / "opencode.db"
    status = LogFiles(folder, log).status(path)
    if status is None:
        return log
    log.files, log.size = 1, status.st_size
    with suppress(sqlite3.Error), open_database(path) as connection:
        _read(connection, since * 1000, log)
    return log


def _read(connection: sqlite3.Connection, since: float, log: ReadLog) -> None:
    sessions = {row[0]: row for row in rows(connection, _SESSIONS, since)}
    runs = {
        key: _run(row, sessions)
        for key, row in sessions.items()
        if isinstance(row[3], str) and row[3]
    }
    for session, is_failed, error, is_finished in rows(connection, _ANSWERS, since):
        if (run := runs.get(session)) is not None:
            run.turns += 1
            failed = "stopped" if error == "MessageAbortedError" else "failed"
            run.status = failed if is_failed else "completed" if is_finished else "unfinished"
    for session, tool, status, error in rows(connection, _CALLS, since):
        if (run := runs.get(session)) is not None and isinstance(tool, str):
            use = run.use(tool)
            use.calls += 1
            use.errors += status == "error"
        unknown = _UNKNOWN.match(error) if isinstance(error, str) else None
        if unknown is not None and session in sessions:
            log.unknown[_text(sessions[session][2]), shown_name(unknown[1])] += 1
    log.runs = list(runs.values())


def _run(row: tuple[object, ...], sessions: dict[object, tuple[object, ...]]) -> LoggedRun:
    cost = row[5]
    return LoggedRun(
        program="opencode",
        agent=shown_name(_text(row[3])),
        cwd=_text(row[2]),
        began=whole_number(row[10]) / 1000,
        parent=_name_of_caller(sessions.get(row[1])),
        model=_model(row[4]),
        cost=float(cost) if isinstance(cost, (int, float)) and cost > 0 else None,
        input_tokens=whole_number(row[6]),
        output_tokens=whole_number(row[7]),
        cache_read_tokens=whole_number(row[8]),
        cache_write_tokens=whole_number(row[9]),
        duration_ms=max(0, whole_number(row[11]) - whole_number(row[10])),
    )


def _name_of_caller(session: tuple[object, ...] | None) -> str:
    """Return the agent that has called, "" for a main conversation with an agent of opencode's own."""
    name = _text(session[3]) if session is not None else ""
    is_main = session is not None and session[1] is None and name in OPENCODE_BUILT_IN
    return "" if is_main else shown_name(name)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _model(value: object) -> str:
    with suppress(msgspec.MsgspecError, ValueError):
        return shown_name(_text(value_at(msgspec.json.decode(_text(value)), "id")))
    return ""
