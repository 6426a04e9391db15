"""The runs of opencode's agents, from its database. Recorded with opencode 1.18.33."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct, field

from axe_lsp.agentfile.schema.markdown_keys import OPENCODE_BUILT_IN
from axe_lsp.hosting.agent_runs.index import RunIndex, Source
from axe_lsp.hosting.agent_runs.log_files import (
    LogFiles,
    open_database,
    rows,
    value_at,
    whole_number,
)
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog, shown_name
from axe_lsp.runtime.json_data import json_text

_SESSIONS = """
SELECT id, parent_id, directory, agent, model, cost, tokens_input, tokens_output, tokens_cache_read, tokens_cache_write,
    time_created, time_updated, version
FROM session WHERE time_updated >= ?
"""
_CHANGED = """
SELECT session_id, max(time_updated) FROM message WHERE time_updated >= ? GROUP BY session_id
UNION ALL SELECT session_id, max(time_updated) FROM part WHERE time_updated >= ? GROUP BY session_id
"""
_ANSWERS = """
SELECT session_id, json_extract(data, '$.error') IS NOT NULL, json_extract(data, '$.error.name'),
    json_extract(data, '$.time.completed') IS NOT NULL OR json_extract(data, '$.finish') IS NOT NULL
FROM message WHERE session_id IN (SELECT value FROM json_each(?))
    AND json_valid(data) AND json_extract(data, '$.role') = 'assistant'
ORDER BY time_created, id
"""
_CALLS = """
SELECT session_id, json_extract(data, '$.tool'), json_extract(data, '$.state.status'),
    CASE WHEN json_extract(data, '$.tool') = 'task' THEN substr(json_extract(data, '$.state.error'), 1, 300) END
FROM part WHERE session_id IN (SELECT value FROM json_each(?))
    AND json_valid(data) AND json_extract(data, '$.type') = 'tool'
"""
_UNKNOWN = re.compile(r"Unknown agent type: (\S+)")


class _Session(Struct):
    """What the messages of a session say: its run, and the calls of agents that do not exist, by name."""

    run: LoggedRun
    unknown: dict[str, int] = field(default_factory=dict)


class Opencode:
    """One pass over the database of opencode: only sessions are read in which something is new."""

    def __init__(self, folder: Path, since: float, log: ReadLog, index: RunIndex) -> None:
        self._path, self._since, self._log, self._index = folder / "opencode.db", since, log, index
        self._files = LogFiles(folder, log, index)

    def read(self) -> None:
        """Read the runs that began since the time."""
        status = self._files.status(self._path)
        if status is None:
            return
        self._log.files, self._log.size = 1, status.st_size
        with suppress(sqlite3.Error), open_database(self._path) as connection:
            self._read(connection, status.st_ino)

    def _read(self, connection: sqlite3.Connection, inode: int) -> None:
        found = rows(connection, _SESSIONS, self._since * 1000)
        sessions = {row[0]: row for row in found if isinstance(row[0], str)}
        for row in sessions.values():
            self._log.see_version(_text(row[12]))
        changed = {key: whole_number(row[11]) for key, row in sessions.items()}
        since = self._since * 1000
        for session, time in rows(connection, _CHANGED, since, since):
            if session in changed:
                changed[session] = max(changed[session], whole_number(time))
        known: dict[str, _Session] = {}
        new: list[str] = []
        for key, time in changed.items():
            kept = self._kept(key, inode, time)
            if kept is None:
                new.append(key)
            else:
                self._index.retain(self._name(key))
            known[key] = kept or _Session(_run(sessions[key], sessions))
        _read_messages(connection, known, new)
        for key in new:
            state = msgspec.json.encode(known[key])
            self._index.keep(self._name(key), Source(inode, modified=changed[key], state=state))
        for session in known.values():
            for name, calls in session.unknown.items():
                self._log.unknown[session.run.cwd, name] += calls
            if session.run.agent:
                self._log.runs.append(session.run)

    def _name(self, session: str) -> str:
        return f"{self._path}#{session}"

    def _kept(self, session: str, inode: int, time: int) -> _Session | None:
        """Return what the index has of a session, if nothing in it is newer."""
        kept = self._index.source(self._name(session))
        if kept is not None and (kept.inode, kept.modified) == (inode, time):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(kept.state, type=_Session)
        return None


def _read_messages(
    connection: sqlite3.Connection, sessions: dict[str, _Session], new: Iterable[str]
) -> None:
    keys = json_text(list(new))
    for session, is_failed, error, is_finished in rows(connection, _ANSWERS, keys):
        run = sessions[session].run
        run.turns += 1
        failed = "stopped" if error == "MessageAbortedError" else "failed"
        run.status = failed if is_failed else "completed" if is_finished else "unfinished"
    for session, tool, status, error in rows(connection, _CALLS, keys):
        if isinstance(tool, str):
            use = sessions[session].run.use(tool)
            use.calls += 1
            use.errors += status == "error"
        unknown = _UNKNOWN.match(error) if isinstance(error, str) else None
        if unknown is not None:
            counts, name = sessions[session].unknown, shown_name(unknown[1])
            counts[name] = counts.get(name, 0) + 1


def _run(row: tuple[object, ...], sessions: dict[str, tuple[object, ...]]) -> LoggedRun:
    cost = row[5]
    return LoggedRun(
        program="opencode",
        agent=shown_name(_text(row[3])),
        cwd=_text(row[2]),
        began=whole_number(row[10]) / 1000,
        parent=_name_of_caller(sessions.get(_text(row[1]))),
        model=_model(row[4]),
        cost=float(cost) if isinstance(cost, (int, float)) and cost > 0 else None,
        input_tokens=whole_number(row[6]),
        output_tokens=whole_number(row[7]),
        cache_read_tokens=whole_number(row[8]),
        cache_write_tokens=whole_number(row[9]),
        duration_ms=max(0, whole_number(row[11]) - whole_number(row[10])),
        key=shown_name(_text(row[0])),
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
