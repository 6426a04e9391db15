"""What the runs of an agent were like, as lenses, hovers and hints say it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.features.code_lens import LensKind, code_lenses
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.hover import hover
from axe_lsp.features.run_log import lens_title, run_markdown, tool_text
from axe_lsp.workspace.run_facts import (
    RunFacts,
    RunLogFacts,
    RunNumbers,
    ToolRuns,
    VersionChange,
)
from support.fixture import Fixture, open_fixture

NOW = datetime(2026, 11, 12, 12, 0).timestamp()  # noqa: DTZ001 - a Thursday, in local time
HOUR = 3_600.0
DAY = 24 * HOUR
TUESDAY = NOW - 2 * DAY + 2 * HOUR

SLOWER = VersionChange(TUESDAY, "seconds", "slower", 18, 24, 25.0, 41.0)


def facts(runs: int, **values: Any) -> RunFacts:
    return RunFacts(30, runs, **{"last": NOW, **values})


@pytest.mark.parametrize(
    ("known", "title"),
    [
        (facts(0), "no runs"),
        (facts(3), "3 runs · last today"),
        (facts(1, failed=1, last=TUESDAY), "1 run, failed · last on Tuesday"),
        (facts(3, failed=1), "3 runs, 1 failed · last today"),
        (facts(4, cost=3.0), "4 runs · last today"),
        (
            facts(12, failed=2, cost=0.08, last=NOW - DAY),
            "12 runs · 2 failed · $0.08 · last yesterday",
        ),
        (facts(12, cost=0.001), "12 runs · < $0.01 · last today"),
        (facts(12, cost=0.31, partly_priced=True), "12 runs · over $0.31 · last today"),
        (
            facts(42, failed=5, cost=0.31, last=TUESDAY),
            "42 runs · 5 failed (12 %) · $0.31 · last on Tuesday",
        ),
        (
            facts(42, failed=5, stopped=20, unfinished=2),
            "42 runs · 5 failed (25 %) · last today",
        ),
        (facts(19, failed=5), "19 runs · 5 failed · last today"),
        (
            facts(42, change=SLOWER),
            "42 runs · last today · slower since the edit of Tuesday",
        ),
        (facts(42, is_counting=True), "42 runs so far · last today"),
        (facts(3, failed=1, is_counting=True), "3 runs so far, 1 failed · last today"),
        (facts(12, last=NOW - 6 * DAY), "12 runs · last on Friday"),
        (facts(12, last=NOW - 9 * DAY), "12 runs · last on 2026-11-03"),
        (facts(1_200), "1,200 runs · last today"),
    ],
)
def test_title_of_the_lens(known: RunFacts, title: str) -> None:
    assert lens_title(known, NOW) == title


def test_hover_has_numbers_callers_tools_and_the_change() -> None:
    known = facts(
        42,
        failed=5,
        stopped=1,
        last=TUESDAY,
        programs=(("codex", 40), ("axe", 2)),
        typical=RunNumbers(25_000, 4, 12_400, 800, 0.007),
        nine_of_ten=RunNumbers(61_000, 9, 31_000, 2_100),
        at_list_prices=True,
        callers=(("lead", 30), ("", 12)),
        tools=(ToolRuns("read_file", 31, 88, 2), ToolRuns("grep", 12)),
        never_used=("write_file",),
        missing=(("web_search", 7),),
        change=SLOWER,
    )
    assert run_markdown(known, NOW).split("  \n") == [
        "**42 runs in 30 days** (Codex 40, axe 2): 5 failed, 1 stopped. Last: Tuesday 14:00.",
        "Typical: 25 s, 4 turns, 12,400 + 800 tokens, $0.007 at list prices; "
        "nine of ten: 61 s, 9 turns, 31,000 + 2,100 tokens.",
        "Called by: lead 30, the main conversation 12. "
        "Tools: read_file 31 runs, grep 12, **write_file never**.",
        "Asked for, but not available: web_search (7 runs).",
        "Since the edit of Tuesday (18 runs): slower, median 41 s, before 25 s (24 runs).",
    ]


def test_hover_leaves_out_lines_without_content() -> None:
    assert run_markdown(facts(0), NOW) == "**No runs in 30 days.**"
    known = facts(1, programs=(("axe", 1),))
    assert run_markdown(known, NOW) == "**1 run in 30 days** (axe 1). Last: today 12:00."


def test_change_of_the_model_is_not_compared() -> None:
    change = VersionChange(TUESDAY, "model", "model changed", 12, 12)
    known = facts(24, programs=(("axe", 24),), change=change)
    assert lens_title(known, NOW).endswith(" · model changed on Tuesday")
    assert run_markdown(known, NOW).endswith("Model changed on Tuesday.")


def test_names_from_logs_have_no_effect_in_markdown() -> None:
    known = facts(9, missing=(("[x](command:y)", 4),), callers=(("**lead**", 1),))
    assert "[x](" not in run_markdown(known, NOW)
    assert "**lead**" not in run_markdown(known, NOW).replace("\\*", "")


def with_runs(text: str, known: RunFacts) -> Fixture:
    opened = open_fixture(text)
    log = RunLogFacts({opened.file.uri: known})
    return replace(opened, snapshot=replace(opened.snapshot, run_log=log))


def hints(text: str, **values: Any) -> list[tuple[str, str, str]]:
    opened = with_runs(text, facts(**values))
    return [
        (each.code, opened.text[each.range.start : each.range.end], each.message)
        for each in diagnostics(opened.snapshot, opened.file)
        if each.code in ("never-called", "unused-tool", "missing-tool", "budget-hit")
    ]


AGENT = 'name = "main"\nmodel = "openai/m"\ntools = ["read_file", "url_fetch", "write_*"]\ntimeout = 9\n'


def test_agent_that_others_could_have_called_is_hinted_at() -> None:
    known = {"runs": 0, "age_days": 14, "other_runs": 57}
    message = "no run in 30 days; other agents of this workspace had 57."
    assert hints(AGENT, **known) == [("never-called", '"main"', message)]
    (offered,) = hints(AGENT, **known, offered=40)
    assert offered[2] == (
        "offered in 40 sessions and never called: its description may not say when to use it."
    )
    for other in (
        {"age_days": 13},
        {"other_runs": 19},
        {"runs": 1},
        {"is_started": True},
        {"is_counting": True},
    ):
        assert hints(AGENT, **{**known, **other}) == []


def test_tool_that_no_run_has_used_is_hinted_at() -> None:
    known = {"runs": 42, "version_runs": 42, "version_days": 7, "unused": ("url_fetch",)}
    assert hints(AGENT, **known) == [("unused-tool", "url_fetch", "not used in 42 runs.")]
    assert hints(AGENT, **{**known, "version_runs": 19}) == []
    assert hints(AGENT, **{**known, "version_days": 6}) == []


def test_tool_that_the_model_has_asked_for_is_hinted_at() -> None:
    message = "the model asked for web_search in 7 of 42 runs; the agent does not have it."
    known = {"runs": 42, "missing": (("web_search", 7), ("other", 2))}
    assert hints(AGENT, **known) == [("missing-tool", "tools", message)]
    assert hints(AGENT, runs=100, missing=(("web_search", 4),)) == []


def test_limit_that_is_used_up_often_is_hinted_at() -> None:
    known = {"runs": 42, "limits": {"timeout": 9, "budget.max_turns": 9}}
    assert hints(AGENT, **known) == [("budget-hit", "timeout", "used up in 9 of 42 runs.")]
    assert hints(AGENT, runs=91, limits={"timeout": 9}) == []
    assert hints(AGENT, runs=2, limits={"timeout": 2}) == []


def test_lens_stands_last_above_an_agent_with_facts() -> None:
    opened = with_runs(AGENT, facts(0))
    kinds = [each.kind for each in code_lenses(opened.snapshot, opened.file)]
    assert kinds[-1] is LensKind.RUNS
    assert LensKind.RUNS not in [
        each.kind for each in code_lenses(open_fixture(AGENT).snapshot, opened.file)
    ]


def test_hover_over_name_tool_and_limit_says_what_runs_were_like() -> None:
    known = facts(
        42,
        programs=(("axe", 42),),
        tools=(ToolRuns("read_file", 31, 88, 2),),
        typical=RunNumbers(25_000, 4, 1, 1),
        nine_of_ten=RunNumbers(61_000, 9, 1, 1),
        limits={"timeout": 3},
    )
    opened = with_runs(AGENT, known)

    def text(of: str) -> str:
        found = hover(opened.snapshot, opened.file, AGENT.index(of) + 1, NOW)
        return found.markdown.splitlines()[-1] if found is not None else ""

    assert text('"main"') == "Tools: read_file 31 runs."
    assert text("read_file") == "used in 31 of 42 runs, 88 calls, 2 failed"
    assert text("url_fetch") == "not used in 42 runs"
    assert text("timeout") == "typical 25 s, nine of ten at most 61 s; reached in 3 of 42 runs"
    assert tool_text(facts(0), "read_file") == ""
