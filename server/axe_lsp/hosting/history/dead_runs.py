"""The history as it lies on this machine, opened and mended: runs of processes that died are ended as these would have done.

That includes what agents have remembered for the time of their run.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from axe_lsp.hosting.history.database import (
    WriterLock,
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
from axe_lsp.runtime.files.opening import opened_folder
from axe_lsp.runtime.journal import timestamp
from axe_lsp.runtime.memory import forget_run

_ERROR = "the process that executed this run has died, and the run with it. Run the agent again"

_UNDO = "undo-"
"""The beginning of the name of the sign of a process that undoes a run."""

_RESUMABLE = "the process that executed this run has died; `axe-lsp resume {run:.8}` continues it"


@contextmanager
def opened_history() -> Iterator[sqlite3.Connection]:
    """Provide the history, in which no run is called running that isn't. Raises RunError."""
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
    """See to it that every run that is shown as running is. `folder` holds the signs of life.

    Temporary files that dead processes have left in place of files of runs are removed.
    """
    _clean_up_after_undo(connection, folder)
    writers = connection.execute("SELECT DISTINCT writer FROM runs WHERE status = 'running'")
    for (writer,) in writers.fetchall():
        if not is_locked(folder, writer):
            ended: list[str] = []
            with transaction(connection):
                # It may have gone and come back. Then its sign was there before it wrote again.
                if not is_locked(folder, writer):
                    ended = _end_runs_of(connection, writer)
            for root in ended:
                _remove_temporary_files(connection, root)
            remove_lock(folder, writer)


def _end_runs_of(connection: sqlite3.Connection, writer: str) -> list[str]:
    """End the runs of a writer. Return the ids of their roots."""
    rows = connection.execute(
        "SELECT DISTINCT root_run_id FROM runs WHERE status = 'running' AND writer = ?", (writer,)
    )
    roots = [root for (root,) in rows.fetchall()]
    for root in roots:
        _end_tree(connection, root)
        release(connection, root, writer)
    return roots


@contextmanager
def sign_of_undo(root: str) -> Iterator[None]:
    """Hold a sign that the files of a root run are being put back. If the process dies, the next reader cleans up."""
    lock = None
    with suppress(OSError):  # Without a sign, only the next change of the same file cleans up.
        lock = WriterLock(lock_folder(history_file(os.environ)), f"{_UNDO}{root}")
    try:
        yield
    finally:
        if lock is not None:
            lock.end()


def _clean_up_after_undo(connection: sqlite3.Connection, folder: Path) -> None:
    for sign in sorted(folder.glob(f"{_UNDO}*")):
        if not is_locked(folder, sign.name):
            _remove_temporary_files(connection, sign.name.removeprefix(_UNDO))
            remove_lock(folder, sign.name)


def _remove_temporary_files(connection: sqlite3.Connection, root: str) -> None:
    """Remove the temporary files that a dead process has left beside the files that a root run has changed."""
    paths = connection.execute(
        "SELECT DISTINCT json_extract(data, '$.path') FROM steps WHERE root_run_id = ? AND kind = 'saved'",
        (root,),
    )
    for (path,) in paths.fetchall():
        place = Path(path)
        with suppress(OSError, ValueError), opened_folder(place.parent) as folder:
            folder.remove_abandoned(place.name)


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


def tree_of(connection: sqlite3.Connection, root: str) -> RunTree:
    """Return the runs of a tree that have begun and not ended."""
    tree = RunTree()
    for event in tree_events(connection, root):
        if event.params["runId"] in tree or event.params.get("kind") in ("begin", "resume"):
            tree.follow(event)
    return tree


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
