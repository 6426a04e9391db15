"""Runs that are going on in any process of the user: found by the beginning of an id, and reached at their executor."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from axe_lsp.hosting.executors.connection import Connection, all_executors, connected
from axe_lsp.hosting.executors.peers import is_below_agent
from axe_lsp.hosting.history.database import HistoryError, history_file, lock_folder, pid_of_writer
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.queries import find_run, runs_below, writers_of_active_roots
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.runs import ID_LENGTH

_LOOKS = 40
_MOMENT = 0.05
"""Seconds between looks for a socket, which is there a moment after the first request of a run."""


class FoundRun(Struct, frozen=True):
    """A run with its root, its status, and the process that executes it, if that is known. Some are not stored."""

    run_id: str
    root: str
    status: str
    pid: int | None
    is_stored: bool = True

    @property
    def name(self) -> str:
        """The beginning of its id, as people see it."""
        return self.run_id[:ID_LENGTH]

    def require_active(self, next_step: str) -> None:
        """Raise ConfigError if it has ended."""
        if self.status != "running":
            raise ConfigError(f"run {self.name} has ended ({self.status}); {next_step}")


def refuse_below_agent(command: str) -> None:
    """Raise ConfigError in a command that an agent has started: it would answer and steer for the person."""
    if is_below_agent(os.environ):
        raise ConfigError(
            f"`axe-lsp {command}` can't be used by a command of an agent; "
            "`axe-lsp runs` and `axe-lsp history` can"
        )


def find(beginning: str) -> FoundRun:
    """Return the run whose id begins so. Raises RunError."""
    try:
        with opened_history() as connection:
            run_id, root = find_run(connection, beginning)
            rows = runs_below(connection, run_id, root)
            status = next(str(each["status"]) for each in rows if each["runId"] == run_id)
            writer = writers_of_active_roots(connection).get(root)
    except HistoryError as error:
        return _find_unstored(beginning, error)
    pid = pid_of_writer(_locks(), writer) if writer else None
    return FoundRun(run_id, root, status, pid)


def pids_of_active_roots() -> dict[str, int]:
    """Return the processes that execute stored root runs, by the ids of these. Raises RunError."""
    with opened_history() as connection:
        writers = writers_of_active_roots(connection)
    pids = {root: pid_of_writer(_locks(), writer) for root, writer in writers.items()}
    return {root: pid for root, pid in pids.items() if pid is not None}


def unstored_runs(stored: set[str]) -> Iterator[dict[str, Json]]:
    """Yield the active runs that no history has, as clients see runs."""
    for pid, runs in all_executors(os.environ).items():
        for each in runs:
            if each.run_id not in stored:
                yield {
                    "runId": each.run_id,
                    "rootRunId": each.run_id,
                    "agent": each.agent,
                    "depth": 0,
                    "status": "running",
                    "began": each.began,
                    "workspace": each.workspace,
                    "task": each.task,
                    "pid": pid,
                }


@contextmanager
def reached(run: FoundRun) -> Iterator[Connection]:
    """Provide a connection to the executor of a run that is going on. Raises RunError."""
    for _ in range(_LOOKS if run.pid is not None else 0):
        with connected(os.environ, run.pid or 0) as connection:
            if connection is not None:
                yield connection
                return
        time.sleep(_MOMENT)
    raise ConfigError(
        f"run {run.name} can't be reached: its process has no socket; "
        f"`axe-lsp history tail {run.name}` follows it"
    )


def _locks() -> Path:
    return lock_folder(history_file(os.environ))


def _find_unstored(beginning: str, error: HistoryError) -> FoundRun:
    rows = [each for each in unstored_runs(set()) if each["runId"].startswith(beginning)]
    if not beginning or len(rows) != 1:
        raise error
    return FoundRun(rows[0]["runId"], rows[0]["runId"], "running", rows[0]["pid"], is_stored=False)
