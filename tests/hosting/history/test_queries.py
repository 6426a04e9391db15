"""What is found in the history."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

from axe_lsp.hosting.history.database import HistoryError
from axe_lsp.hosting.history.queries import (
    Wanted,
    events_below,
    find_run,
    past_runs,
    tree_events,
)
from axe_lsp.hosting.history.steps import INSERT
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.run_steps import Step
from support.past import Tale, history

OLD = Tale("aa01", "2026-05-01").begin("lead", task="first").turn("Done.").end()
TEAM = (
    Tale("aa02", "2026-05-02")
    .begin("lead", task="second")
    .begin("left", "bb01", parent="aa02")
    .begin("deep", "bb02", parent="bb01")
    .turn("deep down", "bb02")
    .end("bb02")
    .end("bb01")
    .begin("right", "bb03", parent="aa02")
    .end("bb03", "failed", error="boom")
    .end(inputTokens=7)
)
ALONE = Tale("cc01", "2026-05-03").begin("solo").end(status="cancelled")


def ids(path: Path, **wanted: object) -> list[str]:
    with history(path, OLD, TEAM, ALONE) as connection:
        return [run["runId"] for run in past_runs(connection, Wanted(**wanted))]  # type: ignore[arg-type]  # as given


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["cc01", "aa02", "aa01"]),
        ({"limit": 1}, ["cc01"]),
        ({"agent": "lead"}, ["aa02", "aa01"]),
        ({"agent": "deep"}, ["bb02"]),
        ({"agent": "nobody"}, []),
        ({"status": "cancelled"}, ["cc01"]),
        ({"status": "failed"}, []),
        ({"status": "failed", "agent": "right"}, ["bb03"]),
        ({"before": "cc01"}, ["aa02", "aa01"]),
        ({"before": "aa01"}, []),
        ({"before": "2026-05-02"}, ["aa01"]),
        ({"before": "2026-05-02T10:00:01.001Z"}, ["aa02", "aa01"]),
        ({"before": "2026-05-02 10:01"}, ["aa02", "aa01"]),
        ({"before": "2026-05"}, []),
        ({"folders": ("/work/here",)}, ["cc01", "aa02", "aa01"]),
        ({"folders": ("/elsewhere", "/work")}, ["cc01", "aa02", "aa01"]),
        ({"folders": ("/",), "agent": "deep"}, ["bb02"]),
        ({"folders": ("/work/he", "/work/here/below", "here")}, []),
    ],
)
def test_runs_are_found_newest_first(
    tmp_path: Path, wanted: dict[str, object], found: list[str]
) -> None:
    assert ids(tmp_path / "history.db", **wanted) == found


@pytest.mark.req("002-3")
@pytest.mark.parametrize(
    ("messages", "is_idle"), [((), True), (("queued",), True), (("queued", "given"), False)]
)
def test_run_that_waits_for_side_runs_is_idle_until_something_is_given(
    tmp_path: Path, messages: tuple[str, ...], is_idle: bool
) -> None:
    tale = Tale("aa01").begin("lead").tell("axe/agent", kind="idle", turn=2, sideRuns=["lint-1"])
    for kind in messages:
        tale.tell("axe/message", kind=kind)
    with history(tmp_path / "history.db", tale) as connection:
        (run,) = past_runs(connection, Wanted())
    assert ("idle" in run) is is_idle


def test_a_run_is_told_with_its_task_and_what_it_came_to(tmp_path: Path) -> None:
    with history(tmp_path / "history.db", TEAM) as connection:
        (run,) = past_runs(connection, Wanted())
        (failed,) = past_runs(connection, Wanted(agent="right"))

    assert run == {
        "runId": "aa02",
        "rootRunId": "aa02",
        "agent": "lead",
        "depth": 0,
        "status": "completed",
        "began": "2026-05-02T10:00:01.000Z",
        "ended": "2026-05-02T10:00:09.000Z",
        "workspace": "/work/here",
        "task": "second",
        "model": "ollama/m",
        "durationMs": 1500,
        "inputTokens": 7,
        "outputTokens": 5,
        "turns": 1,
        "toolCalls": 0,
        "contentLength": 4,
    }
    assert (failed["parentRunId"], failed["parentAgent"], failed["error"]) == (
        "aa02",
        "lead",
        "boom",
    )


def test_runs_that_began_in_the_same_moment_are_found_page_by_page(tmp_path: Path) -> None:
    tales = [Tale(f"d{number}").begin("twin").end() for number in range(5)]
    found: list[str] = []
    with history(tmp_path / "history.db", *tales) as connection:
        while page := past_runs(connection, Wanted(before=found[-1] if found else None, limit=2)):
            found += [run["runId"] for run in page]

    assert found == ["d4", "d3", "d2", "d1", "d0"]


def test_the_events_of_a_child_are_those_of_all_below_it(tmp_path: Path) -> None:
    with history(tmp_path / "history.db", TEAM, ALONE) as connection:
        of_child = [event.params["seq"] for event in events_below(connection, "bb01", "aa02")]
        of_root = list(events_below(connection, "aa02", "aa02"))
        late = [event.params["seq"] for event in events_below(connection, "aa02", "aa02", after=7)]

    assert of_child == [2, 3, 4, 5, 6]
    assert of_root == TEAM.events
    assert late == [8, 9]


def test_pieces_of_a_text_share_rows_and_are_read_as_they_were(tmp_path: Path) -> None:
    """A row for each piece would take up a hundred times the size of the text."""
    tale = Tale("r").begin("lead").begin("child", "c", parent="r")
    for word in ("of", "four", "words", "here"):
        tale.text(word)
    tale.text("below", "c").text("again").thought("hm").thought("so")
    with history(tmp_path / "h.db", tale) as connection:
        rows = connection.execute("SELECT seq FROM events WHERE method = 'axe/text'").fetchall()
        assert rows == [(6,), (7,), (8,)]
        for after in range(11):
            found = list(tree_events(connection, "r", after))
            assert [(each.method, _timeless(each)) for each in found] == [
                (each.method, _timeless(each)) for each in tale.events[after:]
            ]
    assert len(tale.events) == 10


def _timeless(event: Notification) -> dict[str, Any]:
    """Pieces that were stored together have the time of the first one."""
    return {name: value for name, value in event.params.items() if name != "time"}


def test_a_run_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    with history(tmp_path / "history.db", OLD, TEAM, Tale("a").begin("short")) as connection:
        assert find_run(connection, "bb02") == ("bb02", "aa02")
        assert find_run(connection, "aa01") == ("aa01", "aa01")
        assert find_run(connection, "a") == ("a", "a"), "a whole id is no beginning of others"
        with pytest.raises(HistoryError, match="several runs begin with 'aa'"):
            find_run(connection, "aa")
        for unknown in ("x", "aa03", ""):
            with pytest.raises(HistoryError, match=f"no run '{unknown}' is stored"):
                find_run(connection, unknown)


def test_whether_a_run_waits_is_found_without_a_look_at_all_that_it_has_done(
    tmp_path: Path,
) -> None:
    def work_of(events: int) -> int:
        """Return how much SQLite does to list a run that has done so much and waits for an answer."""
        tale = Tale("r1").begin("lead")
        for _ in range(events):
            tale.tell("axe/tool", kind="begin", turn=1, callId="c", name="t", arguments={})
        with history(tmp_path / f"{events}.db", tale) as connection:
            asked = Step("r1", "r1", "asked", call="2026-05-02", data="{}")
            begun = [Step("r1", "r1", "begun", turn) for turn in range(events)]
            rows = map(astuple, [asked, *begun])
            connection.executemany(f"{INSERT} (?, ?, ?, ?, ?, ?)", rows)
            steps = 0

            def count() -> int:
                nonlocal steps
                steps += 1
                return 0

            connection.set_progress_handler(count, 10)
            assert [run.get("waits") for run in past_runs(connection, Wanted())] == [True]
            return steps

    assert work_of(1_000) <= work_of(1) + 2
