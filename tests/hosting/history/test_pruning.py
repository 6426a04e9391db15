"""Runs that are forgotten are forgotten as a whole, and those under way never."""

import sqlite3
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.history.former_runs import known_steps
from axe_lsp.hosting.history.pruning import (
    forget_all_but,
    forget_expired,
    forget_older,
    shrink_steps,
)
from axe_lsp.hosting.history.queries import Wanted, past_runs
from axe_lsp.hosting.history.steps import INSERT, settle
from support.past import HERE, Tale, history, put


def days_ago(days: int) -> str:
    return (datetime.now(timezone.utc) - timedelta(days=days)).strftime("%Y-%m-%d")


def tale(name: str, days: int) -> Tale:
    told = Tale(name, days_ago(days)).begin(name)
    return told.begin("child", f"{name}-child", parent=name).end(f"{name}-child").end()


def left(connection: sqlite3.Connection) -> list[str]:
    roots = [run["runId"] for run in past_runs(connection, Wanted())]
    for table in ("runs", "events"):
        found = connection.execute(f"SELECT DISTINCT root_run_id FROM {table}").fetchall()
        assert {root for (root,) in found} == set(roots)
    return roots


def test_what_is_older_goes(tmp_path: Path) -> None:
    with history(tmp_path / "history.db", tale("old", 10), tale("young", 1)) as connection:
        assert forget_older(connection, 20) == 0
        assert forget_older(connection, 5) == 1
        assert left(connection) == ["young"]


@pytest.mark.parametrize("days", [400_000, 800_000, 2**63 - 1])
def test_nothing_is_older_than_the_calendar(tmp_path: Path, days: int) -> None:
    """The first is in the year 931, whose text is no longer below those of other years without a zero."""
    with history(tmp_path / "history.db", tale("old", 10)) as connection:
        assert forget_older(connection, days) == 0
        assert left(connection) == ["old"]


def test_the_newest_stay(tmp_path: Path) -> None:
    tales = [tale(f"r{days}", days) for days in (1, 2, 3)]
    with history(tmp_path / "history.db", *tales) as connection:
        assert forget_all_but(connection, 2) == 1
        assert left(connection) == ["r1", "r2"]


@pytest.mark.parametrize("forget", [forget_older, forget_all_but])
def test_a_run_that_is_under_way_stays(tmp_path: Path, forget: object) -> None:
    going = Tale("going", days_ago(9)).begin("a")
    with history(tmp_path / "history.db", going, tale("over", 8)) as connection:
        assert forget(connection, 0) == 1  # type: ignore[operator]  # both take the same
        assert left(connection) == ["going"]


def test_each_run_is_kept_as_long_as_its_process_said(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    put(path, tale("brief", 3), origin=replace(HERE, keep_days=-1))
    put(path, tale("long", 3), origin=replace(HERE, keep_days=10**9))
    with history(path, tale("usual", 300)) as connection:
        assert forget_expired(connection, lambda: True)

        assert left(connection) == ["long", "usual"]


def test_what_is_expired_can_wait(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    put(path, tale("a", 3), tale("b", 2), tale("c", 1), origin=replace(HERE, keep_days=-1))
    with history(path) as connection:
        answers = iter([True, False])
        assert not forget_expired(connection, lambda: next(answers))

        assert left(connection) == ["c", "b"]


def test_what_is_forgotten_makes_room_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with history(path, Tale("long").begin("a").turn("x" * 1_000_000).end()) as connection:
        before = path.stat().st_size
        forget_all_but(connection, 0)

        assert path.stat().st_size < before / 10


def test_the_steps_of_the_oldest_completed_runs_go_first(tmp_path: Path) -> None:
    killed = Tale("killed", days_ago(9)).begin("a").end(status="killed")
    tales = [killed, *(tale(f"r{days}", days) for days in (3, 2, 1))]
    with history(tmp_path / "history.db", *tales) as connection:
        for root in ("killed", "r3", "r2", "r1"):
            for turn in range(4):
                row = (root, f"{root}-child", turn, "", "answer", "x" * 250)
                connection.execute(f"{INSERT} (?, ?, ?, ?, ?, ?)", row)
        settle(connection, "r1")
        connection.commit()

        assert shrink_steps(connection, lambda: True, most=2500)
        assert with_steps(connection) == {"killed", "r1", "r2"}
        assert len(past_runs(connection, Wanted())) == 4

        assert not shrink_steps(connection, lambda: False, most=1500)
        assert shrink_steps(connection, lambda: True, most=1500)
        assert with_steps(connection) == {"killed", "r1"}
        assert shrink_steps(connection, lambda: True, most=1000)
        assert with_steps(connection) == {"killed", "r1"}
        assert len(known_steps(connection, "r1").steps) == 4


def with_steps(connection: sqlite3.Connection) -> set[str]:
    """Return the roots whose steps are kept."""
    return {root for (root,) in connection.execute("SELECT DISTINCT root_run_id FROM steps")}
