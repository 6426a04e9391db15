"""Who may go on with a run: one process at a time, and only with a run that can end otherwise."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.hosting.history.database import faults_named, open_history, transaction
from axe_lsp.hosting.history.writer_lock import lock_folder
from axe_lsp.runtime.errors import ConfigError

Reason = Literal["unknown", "running", "completed", "nothingKept", "newerFormat", "final"]
"""Why a run can't be resumed, for programs."""


class NotResumableError(ConfigError):
    """A run that can't be resumed, and the reason."""

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason = reason


def claim(path: Path, root: str, writer: str) -> None:
    """Make `writer` the process that executes a root run. Raises NotResumableError or HistoryError.

    The sign of life of the writer has to be there already.
    """
    # Imported late, with what it takes to read events.
    from axe_lsp.hosting.history.dead_runs import end_runs_of_the_dead

    with faults_named(path), closing(open_history(path)) as connection:
        end_runs_of_the_dead(connection, lock_folder(path))
        with transaction(connection):
            require_resumable(connection, root)
            connection.execute(
                "UPDATE runs SET writer = ?, status = 'running', end_seq = NULL WHERE run_id = ?",
                (writer, root),
            )


def require_resumable(connection: sqlite3.Connection, root: str) -> None:
    """Raises NotResumableError for a root run that nobody can go on with."""
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


def require_continuable(connection: sqlite3.Connection, root: str, agent: str) -> None:
    """Raises ConfigError for a root run whose conversation can't go on with this agent."""
    found = connection.execute(
        "SELECT status, agent, "
        "EXISTS (SELECT 1 FROM steps WHERE steps.root_run_id = runs.run_id AND kind = 'first') "
        "FROM runs WHERE run_id = ?",
        (root,),
    ).fetchone()
    if found is None:
        raise ConfigError(f"no run {root!r} is stored")
    status, whose, is_kept = found
    name = f"run {root[:8]}"
    if whose != agent:
        raise ConfigError(f"{name} is one of agent {quoted(whose)}, not of {quoted(agent)}")
    if status == "running":
        raise ConfigError(f"{name} is still being executed")
    if status != "completed":
        raise ConfigError(f"{name} is not completed; resume it first: axe-lsp resume {root[:8]}")
    if not is_kept:
        raise ConfigError(f"the conversation of {name} is not kept")
