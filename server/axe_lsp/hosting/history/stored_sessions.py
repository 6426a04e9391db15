"""Sessions in the history: conversations that a client of the Agent Client Protocol lists, and opens again.

The messages of a session are its root runs, in their order. All functions block and raise RunError or sqlite3.Error.
"""

from __future__ import annotations

import json
import sqlite3

from msgspec import Struct

from axe_lsp.hosting.history.rows import date_in, storable

SCHEMA = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    folder TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    effort TEXT NOT NULL,
    title TEXT NOT NULL,
    updated TEXT NOT NULL
);
CREATE INDEX sessions_by_time ON sessions (updated, number);
CREATE TABLE session_runs (
    root_run_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_of_sessions ON session_runs (session_id)
"""
"""The part of the history's schema that format 3 has added."""

_DAYS_WITHOUT_A_RUN = 1


class StoredSession(Struct, frozen=True):
    """A session. `agent`, `model` and `effort` are those of its next message; "" for the agent's own.

    The `title` is "" before the first message. `updated` is a time as those of events are, in UTC.
    """

    session_id: str
    folder: str
    agent: str
    model: str = ""
    effort: str = ""
    title: str = ""
    updated: str = ""


_SESSIONS = """
SELECT number, session_id, folder, agent, model, effort, title, updated FROM sessions
"""


def keep(connection: sqlite3.Connection, session: StoredSession, root: str = "") -> None:
    """Store a session as it is now, and that a `root` run begins as its next message."""
    now = date_in(0)
    values = (*_values(session)[:-1], now)
    connection.execute(
        "INSERT INTO sessions (session_id, folder, agent, model, effort, title, updated) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (session_id) DO UPDATE SET agent = excluded.agent, model = excluded.model, "
        "effort = excluded.effort, title = excluded.title, updated = excluded.updated",
        values,
    )
    if root:
        connection.execute(
            "INSERT OR REPLACE INTO session_runs VALUES (?, ?)", (root, session.session_id)
        )
    connection.execute(
        "DELETE FROM sessions WHERE updated < ? AND NOT EXISTS "
        "(SELECT 1 FROM session_runs WHERE session_runs.session_id = sessions.session_id)",
        (date_in(-_DAYS_WITHOUT_A_RUN),),
    )


def find(connection: sqlite3.Connection, session_id: str) -> StoredSession | None:
    """Return the session of an id."""
    found = connection.execute(
        f"{_SESSIONS} WHERE session_id = ?", (storable(session_id),)
    ).fetchone()
    return StoredSession(*found[1:]) if found is not None else None


def roots(connection: sqlite3.Connection, session_id: str) -> list[str]:
    """Return the root runs of a session that have begun and are remembered, oldest first."""
    found = connection.execute(
        "SELECT run_id FROM session_runs JOIN runs ON runs.run_id = session_runs.root_run_id "
        "WHERE session_id = ? ORDER BY began, number",
        (session_id,),
    )
    return [root for (root,) in found]


def last_kept(connection: sqlite3.Connection, session_id: str) -> str:
    """Return the newest root run of a session whose conversation can go on; "" for none."""
    found = connection.execute(
        "SELECT run_id FROM session_runs JOIN runs ON runs.run_id = session_runs.root_run_id "
        "WHERE session_id = ? AND EXISTS (SELECT 1 FROM steps WHERE steps.root_run_id = runs.run_id "
        "AND steps.run_id = runs.run_id AND turn = 0 AND call = '' AND kind = 'first') "
        "ORDER BY began DESC, number DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    return str(found[0]) if found is not None else ""


def more_folders(connection: sqlite3.Connection, session_id: str) -> list[str]:
    """Return the folders besides its own in which the tools of the newest message of a session may work."""
    found = connection.execute(
        "SELECT json_extract(data, '$.request.moreFolders') FROM steps "
        "JOIN session_runs ON session_runs.root_run_id = steps.root_run_id "
        "JOIN runs ON runs.run_id = steps.root_run_id "
        "WHERE session_id = ? AND steps.run_id = steps.root_run_id AND turn = 0 AND call = '' "
        "AND kind = 'order' ORDER BY began DESC, number DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    folders = json.loads(found[0]) if found is not None and found[0] else []
    return [each for each in folders if isinstance(each, str)]


def page(
    connection: sqlite3.Connection, folder: str | None, before: int | None, most: int
) -> tuple[list[StoredSession], int | None]:
    """Return at most `most` sessions that have a run, newest first, and the `before` of the next page.

    Only those of a `folder`, if it is named.
    """
    conditions, values = ["title <> ''"], []
    if folder is not None:
        conditions.append("folder = ?")
        values.append(storable(folder))
    if before is not None:
        conditions.append(
            "(updated, number) < (SELECT updated, number FROM sessions WHERE number = ?)"
        )
        values.append(before)
    found = connection.execute(
        f"{_SESSIONS} WHERE {' AND '.join(conditions)} ORDER BY updated DESC, number DESC LIMIT ?",
        (*values, most + 1),
    ).fetchall()
    rows = found[:most]
    sessions = [StoredSession(*row[1:]) for row in rows]
    return sessions, rows[-1][0] if len(found) > most else None


def forget(connection: sqlite3.Connection, session_id: str) -> None:
    """Delete a session. Its runs stay in the history."""
    connection.execute("DELETE FROM sessions WHERE session_id = ?", (session_id,))
    connection.execute("DELETE FROM session_runs WHERE session_id = ?", (session_id,))


def forget_run(connection: sqlite3.Connection, root: str) -> None:
    """Delete a root run from its session, and the session with its last one."""
    row = connection.execute(
        "SELECT session_id FROM session_runs WHERE root_run_id = ?", (root,)
    ).fetchone()
    if row is not None:
        connection.execute("DELETE FROM session_runs WHERE root_run_id = ?", (root,))
        connection.execute(
            "DELETE FROM sessions WHERE session_id = ? AND NOT EXISTS "
            "(SELECT 1 FROM session_runs WHERE session_id = ?)",
            (row[0], row[0]),
        )


def _values(session: StoredSession) -> tuple[object, ...]:
    return tuple(storable(getattr(session, name)) for name in StoredSession.__struct_fields__)
