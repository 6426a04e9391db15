"""For how long a person was asked in a run that is resumed: that time is not the run's."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from msgspec.structs import astuple

from axe_lsp.hosting.history.former_runs import known_steps
from axe_lsp.hosting.history.steps import INSERT
from axe_lsp.runtime.run_log import Asked, encoded
from axe_lsp.runtime.run_steps import Step
from support.past import Tale, history

SAVED = {"turns": 0, "toolCalls": 0, "inputTokens": 0, "outputTokens": 0, "durationMs": 3000}


def at(second: int) -> str:
    return f"2026-05-01T10:00:{second:02}.000Z"


def ask(connection: sqlite3.Connection, run: str, since: int, until: int = 0) -> None:
    asked = Asked(at(until) if until else "")
    step = Step("root", run, "asked", call=at(since), data=encoded(asked))
    connection.execute(f"{INSERT} (?, ?, ?, ?, ?, ?)", astuple(step))


def asked_of(connection: sqlite3.Connection) -> dict[str, int]:
    known = known_steps(connection, "root")
    return {run_id: begun.asked_ms for run_id, begun in known.runs.items()}


def tale() -> Tale:
    """Return a root with two children, of 9 seconds."""
    tale = Tale("root").begin("lead").begin("a", "left", parent="root")
    tale.begin("b", "right", parent="root")
    for _ in range(6):
        tale.turn("It goes on.", "right")
    return tale


def test_questions_count_for_the_run_and_those_above_and_only_once(tmp_path: Path) -> None:
    with history(tmp_path / "history.db", tale()) as connection:
        ask(connection, "left", 3, 5)
        ask(connection, "right", 4, 6)
        ask(connection, "left", 7, 8)

        assert asked_of(connection) == {"root": 4000, "left": 3000, "right": 2000}


def test_an_open_question_was_open_until_the_end_of_its_process(tmp_path: Path) -> None:
    with history(tmp_path / "history.db", tale()) as connection:
        ask(connection, "left", 5)

        assert asked_of(connection) == {"root": 4000, "left": 4000, "right": 0}


def test_an_open_question_of_a_process_before_the_last_was_not_open_since(tmp_path: Path) -> None:
    resumed = tale().tell("axe/agent", kind="resume", task="go", model="m", turn=1, saved=SAVED)
    resumed.tell("axe/turn", kind="begin", turn=1, messages=1, pendingToolCalls=0)
    with history(tmp_path / "history.db", resumed) as connection:
        ask(connection, "left", 5)
        ask(connection, "root", 11)

        assert asked_of(connection) == {"root": 4000, "left": 4000, "right": 0}
