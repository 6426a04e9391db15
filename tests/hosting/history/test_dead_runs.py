"""Runs whose process died are ended by whoever looks next."""

import sqlite3
from pathlib import Path

from axe_lsp.hosting.history.database import WriterLock, is_locked, lock_folder
from axe_lsp.hosting.history.dead_runs import end_runs_of_the_dead
from axe_lsp.hosting.history.queries import Wanted, past_runs, tree_events
from axe_lsp.hosting.history.run_claims import claim
from support.past import Tale, history

HALF_DONE = (
    Tale("root")
    .begin("lead")
    .turn("I ask one.")
    .begin("left", "child", parent="root")
    .text("Half an", "child")
)


def statuses(connection: sqlite3.Connection) -> list[str]:
    return [run["status"] for run in past_runs(connection, Wanted())]


def test_runs_of_a_dead_process_are_killed_children_first(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with history(path, HALF_DONE) as connection:
        assert statuses(connection) == ["running"]

        end_runs_of_the_dead(connection, lock_folder(path))

        events = list(tree_events(connection, "root"))
        told = [(event.params["agent"], event.params["seq"]) for event in events[4:]]
        assert events[:4] == HALF_DONE.events
        assert told == [("left", 5), ("lead", 6)]
        assert {event.params["status"] for event in events[4:]} == {"killed"}
        assert [event.params["durationMs"] for event in events[4:]] == [1000, 3000]
        assert events[-1].params["inputTokens"] == 10
        assert "Run the agent again" in events[-1].params["error"]
        assert statuses(connection) == ["killed"]


def test_nothing_is_ended_twice(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with history(path, HALF_DONE) as connection:
        for _ in range(2):
            end_runs_of_the_dead(connection, lock_folder(path))

        assert len(list(tree_events(connection, "root"))) == 6


def test_runs_of_a_process_that_lives_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with history(path, HALF_DONE) as connection:
        life = WriterLock(lock_folder(path), "somebody")

        end_runs_of_the_dead(connection, lock_folder(path))

        assert statuses(connection) == ["running"]
        life.end()
        end_runs_of_the_dead(connection, lock_folder(path))
        assert statuses(connection) == ["killed"]


def test_a_sign_of_life_ends_with_its_owner_and_leaves_nothing(tmp_path: Path) -> None:
    life = WriterLock(tmp_path, "me")
    assert is_locked(tmp_path, "me")

    life.end()

    assert not is_locked(tmp_path, "me")
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_claimed_by_a_process_that_died_at_once_can_be_claimed_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "history.db"
    with history(path, HALF_DONE) as connection:
        end_runs_of_the_dead(connection, lock_folder(path))
        (killed,) = past_runs(connection, Wanted())
        connection.execute(
            "INSERT INTO steps (root_run_id, run_id, turn, call, kind, data) "
            "VALUES ('root', 'root', 0, '', 'order', '{}')"
        )
        claim(path, "root", "dead")
        assert statuses(connection) == ["running"]

        end_runs_of_the_dead(connection, lock_folder(path))

        (again,) = past_runs(connection, Wanted())
        assert again == {**killed, "resumable": True, "kept": True}
        claim(path, "root", "heir")
