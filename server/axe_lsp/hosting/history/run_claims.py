"""Claims of runs: one process at a time may continue a run, and only a run that can end otherwise."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.hosting.history.database import (
    faults_named,
    is_locked,
    lock_folder,
    open_history,
    transaction,
    written_history,
)
from axe_lsp.runtime.errors import ConfigError

Reason = Literal[
    "unknown",
    "running",
    "completed",
    "nothingKept",
    "newerFormat",
    "final",
    "notCompleted",
    "agent",
]
"""Why a run can't be resumed, continued or forked, for programs."""


class NotResumableError(ConfigError):
    """A run that can't be resumed, continued or forked, and the reason."""

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason = reason


def claim(path: Path, root: str, writer: str, adopter: str = "") -> None:
    """Make `writer` the process that executes a root run. Raises NotResumableError or HistoryError.

    The sign of life of the writer has to be there already. If a `adopter` has adopted the run, it is taken from
    that writer and nobody else.
    """
    # Imported late, with what it takes to read events.
    from axe_lsp.hosting.history.dead_runs import end_runs_of_the_dead

    with faults_named(path), closing(open_history(path)) as connection:
        end_runs_of_the_dead(connection, lock_folder(path))
        with transaction(connection):
            if not (adopter and _take_running(connection, root, writer, adopter)):
                _take_ended(connection, root, writer)


def adopt(path: Path, root: str, writer: str) -> int:
    """Make `writer` answer for a root run whose process has died, so that nobody ends the run.

    Returns the number of its last event in the history, 0 if the run is not there. Raises NotResumableError or
    HistoryError. The sign of life of the writer has to be there already.
    """
    with written_history(path) as connection:
        found = connection.execute("SELECT writer FROM runs WHERE run_id = ?", (root,)).fetchone()
        if found is None:
            return 0
        (former,) = found
        is_dead = not is_locked(lock_folder(path), former)
        if not (is_dead and _take_running(connection, root, writer, former)):
            _take_ended(connection, root, writer)  # Another process has read the history meanwhile.
        (last,) = connection.execute(
            "SELECT max(seq) FROM events WHERE root_run_id = ?", (root,)
        ).fetchone()
        return int(last or 0)


def let_go(path: Path, root: str, writer: str) -> None:
    """Give back a root run that `writer` has claimed and that did not go on. Raises HistoryError."""
    # Imported late, with what it takes to read events.
    from axe_lsp.hosting.history.dead_runs import release

    with written_history(path) as connection:
        release(connection, root, writer)


def _take_running(connection: sqlite3.Connection, root: str, writer: str, former: str) -> bool:
    """Take what is running of a tree from another writer; whether its root was."""
    taken = connection.execute(
        "UPDATE runs SET writer = ? WHERE run_id = ? AND status = 'running' AND writer = ?",
        (writer, root, former),
    )
    if not taken.rowcount:
        return False
    connection.execute(
        "UPDATE runs SET writer = ? WHERE root_run_id = ? AND status = 'running'", (writer, root)
    )
    return True


def _take_ended(connection: sqlite3.Connection, root: str, writer: str) -> None:
    """Take a root run that has ended. Raises NotResumableError."""
    require_resumable(connection, root)
    connection.execute(
        "UPDATE runs SET writer = ?, status = 'running', end_seq = NULL WHERE run_id = ?",
        (writer, root),
    )


def require_resumable(connection: sqlite3.Connection, root: str) -> None:
    """Raise NotResumableError for a root run that nobody can go on with."""
    found = connection.execute(
        "SELECT status, agent, json_extract(ends.params, '$.reason'), "
        "EXISTS (SELECT 1 FROM steps WHERE steps.root_run_id = runs.run_id AND kind = 'order') "
        "FROM runs LEFT JOIN events AS ends "
        "ON ends.root_run_id = runs.root_run_id AND ends.seq = runs.end_seq WHERE runs.run_id = ?",
        (root,),
    ).fetchone()
    if found is None:
        raise NotResumableError(f"no run {root!r} is stored", "unknown")
    status, agent, reason, is_kept = found
    name = f"run {root[:8]} of {agent}"
    if status == "running":
        raise NotResumableError(
            f"{name} is being executed by another process; `axe-lsp history tail {root[:8]}` follows it",
            "running",
        )
    if status == "completed":
        raise NotResumableError(f"{name} is completed; there is nothing to resume", "completed")
    if not is_kept:
        raise NotResumableError(
            f"nothing is kept that {name} could be resumed with; run the agent again", "nothingKept"
        )
    if reason == "final":
        raise NotResumableError(
            f"{name} would end in the same way again; `axe-lsp history show {root[:8]}` shows why",
            "final",
        )


def require_continuable(connection: sqlite3.Connection, root: str, agent: str = "") -> None:
    """Raise NotResumableError for a root run whose conversation can't go on, or not with this agent."""
    found = _at_rest(connection, root)
    if agent and found.agent != agent:
        whose, other = quoted(found.agent), quoted(agent)
        raise NotResumableError(f"run {root[:8]} is one of agent {whose}, not of {other}", "agent")
    if found.status != "completed":
        raise NotResumableError(
            f"run {root[:8]} is not completed; resume it first: axe-lsp resume {root[:8]}",
            "notCompleted",
        )


def require_kept(connection: sqlite3.Connection, root: str) -> None:
    """Raise NotResumableError for a root run that is still being executed, or whose conversation is not kept."""
    _at_rest(connection, root)


class _AtRest(NamedTuple):
    status: str
    agent: str


def _at_rest(connection: sqlite3.Connection, root: str) -> _AtRest:
    """Return a root run that no process executes, and whose conversation is kept. Raises NotResumableError."""
    found = connection.execute(
        "SELECT status, agent, EXISTS (SELECT 1 FROM steps WHERE root_run_id = runs.run_id "
        "AND steps.run_id = runs.run_id AND turn = 0 AND call = '' AND kind = 'first') "
        "FROM runs WHERE run_id = ?",
        (root,),
    ).fetchone()
    if found is None:
        raise NotResumableError(f"no run {root!r} is stored", "unknown")
    status, agent, is_kept = found
    if status == "running":
        raise NotResumableError(f"run {root[:8]} is still being executed", "running")
    if not is_kept:
        raise NotResumableError(f"the conversation of run {root[:8]} is not kept", "nothingKept")
    return _AtRest(status, agent)
