"""The history as it lies on this machine, looked at once: opened, mended, read, closed. Blocks."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from axe_lsp.hosting.history.database import (
    empty_history,
    fault,
    faults_named,
    history_file,
    open_history,
)
from axe_lsp.hosting.history.dead_runs import end_runs_of_the_dead
from axe_lsp.hosting.history.queries import Wanted, events_below, find_run, past_runs
from axe_lsp.hosting.history.writer_lock import lock_folder
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.json_data import Json


@contextmanager
def opened_history() -> Iterator[sqlite3.Connection]:
    """The history, in which no run is called running that isn't. Raises RunError."""
    path = history_file(os.environ)
    with faults_named(path):
        connection = open_history(path) if path.exists() else empty_history()
    with closing(connection):
        try:
            end_runs_of_the_dead(connection, lock_folder(path))
            yield connection
        except sqlite3.Error as error:
            raise fault(path, error) from error


def runs(wanted: Wanted) -> list[dict[str, Json]]:
    """The result of `past_runs`."""
    with opened_history() as connection:
        return past_runs(connection, wanted)


def events(run_id: str, after: int) -> list[Notification]:
    """The events of a run and its sub-agents."""
    with opened_history() as connection:
        return list(events_below(connection, *find_run(connection, run_id), after))
