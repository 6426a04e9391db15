"""The history as it lies on this machine, opened and mended: runs of processes that died are ended as these would have done.

That includes what agents have remembered for the time of their run.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec.structs import replace

from axe_lsp.hosting.history.database import (
    empty_history,
    fault,
    faults_named,
    history_file,
    is_locked,
    lock_folder,
    open_history,
    remove_lock,
    transaction,
)
from axe_lsp.hosting.history.queries import tree_events
from axe_lsp.hosting.history.rows import Batch, Bookkeeping, Origin, write
from axe_lsp.hosting.history.steps import has_steps, milliseconds
from axe_lsp.hosting.notifications import notification
from axe_lsp.hosting.run_tree import RunTree
from axe_lsp.runtime.journal import timestamp
from axe_lsp.runtime.memory import forget_run

_ERROR = "the process that executed this run has died, and the run with it. Run the agent again"

_RESUMABLE = "the process that executed this run has died; `axe-lsp resume {run:.8}` continues it"


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


def end_runs_of_the_dead(connection: sqlite3.Connection, folder: Path) -> None:
    """See to it that every run that is shown as running is. `folder` holds the signs of life."""
    writers = connection.execute("SELECT DISTINCT writer FROM runs WHERE status = 'running'")
    for (writer,) in writers.fetchall():
        if not is_locked(folder, writer):
            with transaction(connection):
                # It may have gone and come back. Then its sign was there before it wrote again.
                if not is_locked(folder, writer):
                    _end_runs_of(connection, writer)
            remove_lock(folder, writer)


def _end_runs_of(connection: sqlite3.Connection, writer: str) -> None:
    roots = connection.execute(
        "SELECT DISTINCT root_run_id FROM runs WHERE status = 'running' AND writer = ?", (writer,)
    )
    for (root,) in roots.fetchall():
        _end_tree(connection, root)
        release(connection, root, writer)


def _end_tree(connection: sqlite3.Connection, root: str) -> None:
    tree, last = RunTree(), ""
    began: dict[str, tuple[str, int]] = {}
    for event in tree_events(connection, root):
        run_id, last = event.params["runId"], event.params["time"]
        kind = event.params.get("kind")
        if kind == "resume":
            began[run_id] = last, event.params["saved"]["durationMs"]
        began.setdefault(run_id, (last, 0))
        if run_id in tree or kind in ("begin", "resume"):
            tree.follow(event)
    batch, books = Batch(), Bookkeeping("", str)
    is_kept = has_steps(connection, root)
    error = _RESUMABLE.format(run=root) if is_kept else _ERROR
    for end in tree.end("killed", error, timestamp())[0]:
        since, before = began[end.run.run_id]
        lasted = replace(end, duration_ms=before + milliseconds(since, last), reason="host")
        books.add(batch, notification(lasted), Origin("", 0))
    write(connection, batch)
    if not is_kept:  # Else the run may be resumed.
        forget_run(root, os.environ)


def release(connection: sqlite3.Connection, root: str, writer: str) -> None:
    """Give a tree back that was claimed and in which nothing has happened since. Inside of a transaction."""
    connection.execute(
        "UPDATE runs SET (status, end_seq) = (SELECT json_extract(params, '$.status'), seq FROM events "
        "WHERE events.root_run_id = runs.root_run_id AND events.run_id = runs.run_id "
        "AND method = 'axe/agent' AND json_extract(params, '$.kind') = 'end' "
        "ORDER BY seq DESC LIMIT 1) "
        "WHERE run_id = ? AND status = 'running' AND writer = ?",
        (root, writer),
    )
