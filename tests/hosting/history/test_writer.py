"""The thread that writes, at moments that real hosts rarely give it."""

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.history import writer as writer_module
from axe_lsp.hosting.history.database import history_file, lock_folder, open_history
from axe_lsp.hosting.history.queries import Wanted, past_runs, tree_events
from axe_lsp.hosting.history.tree_text import draw
from axe_lsp.hosting.history.writer import HistoryWriter
from support.past import HERE, Tale, put
from support.waiting import wait_until


def test_what_is_expired_goes_though_there_was_more_to_write_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = history_file(os.environ)
    put(path, Tale("old").begin("a").end(), origin=replace(HERE, keep_days=-1))
    begin, *later = Tale("new").begin("b").turn("It is done.").end().events
    warnings: list[str] = []
    writer = HistoryWriter(lambda _root, text: warnings.append(text))

    with closing(open_history(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer.keep_event(begin, HERE)
        wait_until(lambda: lock_folder(path).is_dir())  # It is about to write the first event.
        for event in later:
            writer.keep_event(event, HERE)
        other.execute("ROLLBACK")
    writer.close()

    with closing(open_history(path)) as connection:
        assert [run["runId"] for run in past_runs(connection, Wanted())] == ["new"]
    assert warnings == []


def test_a_history_that_takes_nothing_for_seconds_is_worth_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(writer_module, "_SLOW", 0.05)
    events = Tale("new").begin("b").turn("It is done.").end().events
    answers = threading.Event()

    def open_slowly(path: Path) -> sqlite3.Connection:
        answers.wait()
        return open_history(path)

    monkeypatch.setattr(writer_module, "open_history", open_slowly)
    warnings: list[str] = []
    writer = HistoryWriter(lambda root, text: warnings.append(f"{root}: {text}"))

    def warned() -> bool:
        writer.keep_event(events[0], HERE)
        return bool(warnings)

    wait_until(warned)
    assert warned()
    answers.set()
    writer.close()

    (warning,) = warnings
    assert warning.startswith("new: this run is not stored at present: ")
    with closing(open_history(history_file(os.environ))) as connection:
        assert [run["runId"] for run in past_runs(connection, Wanted())] == ["new"]


def test_of_a_run_that_never_stops_talking_no_more_is_kept_than_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("axe_lsp.hosting.history.rows.MOST_KEPT", 5_000)
    tale = Tale("long").begin("b")
    for _ in range(100):
        tale.turn("x" * 1_000)
    warnings: list[str] = []
    writer = HistoryWriter(lambda root, text: warnings.append(f"{root}: {text}"))
    for event in tale.end().events:
        writer.keep_event(event, HERE)
    writer.close()

    (warning,) = warnings
    assert warning.startswith("long: the history keeps ")
    with closing(open_history(history_file(os.environ))) as connection:
        (run,) = past_runs(connection, Wanted())
        assert run["status"] == "completed", "how a run ended is kept in any case"
        (size,) = connection.execute("SELECT sum(length(params)) FROM events").fetchone()
        assert 2_000 < size < 6_000
        turns = connection.execute("SELECT count(*) FROM events WHERE method = 'axe/turn'")
        (stored,) = turns.fetchone()
        end = [*tree_events(connection, "long")][-1]
        assert end.params["notStored"] == 100 - stored
        tree = draw(tree_events(connection, "long"))
    assert f", {100 - stored} events not stored" in tree
