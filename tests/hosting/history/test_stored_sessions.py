"""Sessions in the history: listed, found again, and forgotten with their runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.history import stored_sessions
from axe_lsp.hosting.history.pruning import forget_all_but
from axe_lsp.hosting.history.stored_sessions import StoredSession
from support.past import Tale, history


def stored(name: str, **members: str) -> StoredSession:
    return StoredSession(name, "/work", "lead", **{"title": f"About {name}", **members})


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    tales = [Tale(name, f"2026-11-2{day}").begin(name).end() for day, name in enumerate("abc", 1)]
    with history(tmp_path / "history.db", *tales) as connection:
        yield connection


def test_a_session_is_found_again_with_its_runs_in_their_order(
    connection: sqlite3.Connection,
) -> None:
    stored_sessions.keep(connection, stored("s", model="m", effort="high"), "b")
    stored_sessions.keep(connection, stored("s", model="n", effort="high"), "a")
    stored_sessions.keep(connection, stored("s", model="n", effort="high"), "never begun")
    found = stored_sessions.find(connection, "s")
    assert found is not None
    assert replace(found, updated="") == stored("s", model="n", effort="high")
    assert stored_sessions.roots(connection, "s") == ["a", "b"]
    assert stored_sessions.find(connection, "t") is None
    assert stored_sessions.last_kept(connection, "s") == ""


def test_pages_are_newest_first_and_have_only_sessions_with_a_message(
    connection: sqlite3.Connection,
) -> None:
    for name in "stu":
        stored_sessions.keep(connection, stored(name))
    stored_sessions.keep(connection, stored("empty", title=""))
    stored_sessions.keep(connection, StoredSession("far", "/far", "lead", title="Far"))
    page, rest = stored_sessions.page(connection, "/work", None, 2)
    assert [each.session_id for each in page] == ["u", "t"]
    page, rest = stored_sessions.page(connection, "/work", rest, 2)
    assert ([each.session_id for each in page], rest) == (["s"], None)
    page, _ = stored_sessions.page(connection, None, None, 9)
    assert [each.session_id for each in page] == ["far", "u", "t", "s"]


def test_a_session_goes_with_its_last_run(connection: sqlite3.Connection) -> None:
    stored_sessions.keep(connection, stored("s"), "a")
    stored_sessions.keep(connection, stored("s"), "b")
    forget_all_but(connection, 2)
    assert stored_sessions.roots(connection, "s") == ["b"]
    forget_all_but(connection, 1)
    assert stored_sessions.find(connection, "s") is None


def test_a_session_that_is_deleted_leaves_its_runs(connection: sqlite3.Connection) -> None:
    stored_sessions.keep(connection, stored("s"), "a")
    stored_sessions.forget(connection, "s")
    assert stored_sessions.find(connection, "s") is None
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (3,)


def test_a_session_without_a_run_is_forgotten_after_a_day(connection: sqlite3.Connection) -> None:
    stored_sessions.keep(connection, stored("old"))
    stored_sessions.keep(connection, stored("kept"), "a")
    connection.execute("UPDATE sessions SET updated = '2020-01-01T00:00:00'")
    stored_sessions.keep(connection, stored("new"))
    assert stored_sessions.find(connection, "old") is None
    assert stored_sessions.find(connection, "kept") is not None
