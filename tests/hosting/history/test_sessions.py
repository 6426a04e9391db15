"""Sessions in the history: listed, found again, and forgotten with their runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.history import sessions
from axe_lsp.hosting.history.pruning import forget_all_but
from axe_lsp.hosting.history.sessions import StoredSession
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
    sessions.keep(connection, stored("s", model="m", effort="high"), "b")
    sessions.keep(connection, stored("s", model="n", effort="high"), "a")
    sessions.keep(connection, stored("s", model="n", effort="high"), "never begun")
    found = sessions.find(connection, "s")
    assert found is not None
    assert replace(found, updated="") == stored("s", model="n", effort="high")
    assert sessions.roots(connection, "s") == ["a", "b"]
    assert sessions.find(connection, "t") is None
    assert sessions.last_kept(connection, "s") == ""


def test_pages_are_newest_first_and_have_only_sessions_with_a_message(
    connection: sqlite3.Connection,
) -> None:
    for name in "stu":
        sessions.keep(connection, stored(name))
    sessions.keep(connection, stored("empty", title=""))
    sessions.keep(connection, StoredSession("far", "/far", "lead", title="Far"))
    page, rest = sessions.page(connection, "/work", None, 2)
    assert [each.session_id for each in page] == ["u", "t"]
    page, rest = sessions.page(connection, "/work", rest, 2)
    assert ([each.session_id for each in page], rest) == (["s"], None)
    page, _ = sessions.page(connection, None, None, 9)
    assert [each.session_id for each in page] == ["far", "u", "t", "s"]


def test_a_session_goes_with_its_last_run(connection: sqlite3.Connection) -> None:
    sessions.keep(connection, stored("s"), "a")
    sessions.keep(connection, stored("s"), "b")
    forget_all_but(connection, 2)
    assert sessions.roots(connection, "s") == ["b"]
    forget_all_but(connection, 1)
    assert sessions.find(connection, "s") is None


def test_a_session_that_is_deleted_leaves_its_runs(connection: sqlite3.Connection) -> None:
    sessions.keep(connection, stored("s"), "a")
    sessions.forget(connection, "s")
    assert sessions.find(connection, "s") is None
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (3,)


def test_a_session_without_a_run_is_forgotten_after_a_day(connection: sqlite3.Connection) -> None:
    sessions.keep(connection, stored("old"))
    sessions.keep(connection, stored("kept"), "a")
    connection.execute("UPDATE sessions SET updated = '2020-01-01T00:00:00'")
    sessions.keep(connection, stored("new"))
    assert sessions.find(connection, "old") is None
    assert sessions.find(connection, "kept") is not None
