"""Statistics of an agent's runs since the last edit of its file, compared with those before."""

from __future__ import annotations

from typing import Any, cast

import pytest

from axe_lsp.hosting.agent_runs.changes import changes, fisher, mann_whitney
from axe_lsp.hosting.agent_runs.index import FileVersion
from axe_lsp.hosting.agent_runs.runs import LoggedRun
from axe_lsp.hosting.agent_runs.statistics import DefinedIn, statistics

EDIT = 1_000.0


def runs(count: int, failed: int = 0, *, after: bool = False, **values: Any) -> list[LoggedRun]:
    """Return runs before the edit or after it; their durations differ a little."""
    began = EDIT + 1 if after else EDIT - 1
    members = {"model": "m", "duration_ms": 10_000, "output_tokens": 100, **values}
    duration = members.pop("duration_ms")
    return [
        LoggedRun(
            "axe",
            "a",
            "",
            began,
            status="failed" if number < failed else "completed",
            duration_ms=duration + number,
            **members,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("table", "chance"),
    [((8, 2, 1, 5), 0.034965034965), ((2, 22, 11, 7), 0.000459806245), ((0, 10, 0, 10), 1.0)],
)
def test_fisher_is_that_of_scipy(table: tuple[int, int, int, int], chance: float) -> None:
    assert fisher(*table) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "chance"),
    [
        ([19, 22, 16, 29, 24], [20, 11, 17, 12], 0.111346886533),
        ([1, 2, 2, 3, 5, 5, 8, 9, 9, 12], [2, 3, 5, 8, 8, 9, 12, 12, 15, 20], 0.127524489024),
        ([1] * 5, [1] * 5, 1.0),
    ],
)
def test_mann_whitney_with_ties_is_that_of_scipy(
    first: list[float], second: list[float], chance: float
) -> None:
    assert mann_whitney(first, second) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize(
    ("before", "after", "texts"),
    [
        (runs(24, 2), runs(18, 11), ["fails more often"]),
        (runs(18, 11), runs(24, 2), ["fails less often"]),
        (runs(20), runs(20, duration_ms=20_000), ["slower"]),
        (runs(20, duration_ms=20_000), runs(20), ["faster"]),
        (runs(20), runs(20, output_tokens=200), ["longer answers"]),
        (runs(20, cost=0.01), runs(20, cost=0.02), ["dearer"]),
        (runs(20, cost=0.02), runs(20, cost=0.01), ["cheaper"]),
        (runs(20), runs(20, 15, duration_ms=20_000), ["fails more often", "slower"]),
        (runs(20), runs(20, duration_ms=12_000), []),
        (runs(20), runs(9, duration_ms=90_000), []),
        (runs(20), runs(20, model="n", duration_ms=90_000), ["model changed"]),
        (runs(20), [], []),
        ([], runs(20), []),
        (runs(200, 100), runs(200, 90), []),
    ],
)
def test_difference_is_reported_if_it_is_certain_and_large(
    before: list[LoggedRun], after: list[LoggedRun], texts: list[str]
) -> None:
    assert [each.text for each in changes(before, after)] == texts


def test_runs_that_have_not_finished_are_not_compared() -> None:
    stopped = [LoggedRun("axe", "a", "", 0.0, status="stopped", model="m", duration_ms=90_000)] * 20
    assert changes(runs(20), stopped) == []


def test_run_without_a_hash_belongs_to_the_version_of_its_time() -> None:
    file = DefinedIn("/a.toml", versions=[FileVersion(EDIT), FileVersion(EDIT - 100)])
    found = statistics("a", "axe", file, [*runs(20), *runs(12, 1, after=True, duration_ms=50_000)])
    assert found["versions"] == [
        {"since": "1970-01-01T00:16:40Z", "runs": 12, "failed": 1},
        {"since": "1970-01-01T00:15:00Z", "runs": 20, "failed": 0},
    ]
    (change,) = cast("list[dict[str, Any]]", found["changes"])
    assert (change["measure"], change["text"]) == ("seconds", "slower")
    assert (change["runsBefore"], change["runs"]) == (20, 12)


def test_run_with_the_hash_of_the_present_prompt_belongs_to_it_whenever_it_began() -> None:
    file = DefinedIn("/a.toml", versions=[FileVersion(EDIT, "new")])
    found = statistics(
        "a",
        "claude",
        file,
        [
            *runs(3, definitions=frozenset(["new", "other"])),
            *runs(2, after=True, definitions=frozenset(["old"])),
            *runs(1, after=True),
            *runs(5),
        ],
    )
    versions = cast("list[dict[str, Any]]", found["versions"])
    assert [each["runs"] for each in versions] == [4, 2]
