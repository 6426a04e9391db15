"""Agents by what somebody types of their names, the likely one first."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.features.completion.fuzzy import Fit, Matcher
from axe_lsp.features.workspace_symbol import MOST, workspace_symbols
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from support.fixture import FOLDER, PLACES, USER_FOLDER, open_fixture


def snapshot_of(*names: str) -> Snapshot:
    workspace = Workspace(PLACES)
    uris = (name if ":" in name else f"{FOLDER}/{name}.toml" for name in names)
    return workspace.apply([Change(uri, "") for uri in uris], complete=True).snapshot


def found(query: str, *names: str) -> list[str]:
    return [each.place.stem for each in workspace_symbols(snapshot_of(*names), query)]


@pytest.mark.parametrize(
    ("query", "name", "fit"),
    [
        ("lint", "lint", Fit.EXACT),
        ("LINT", "lint", Fit.EXACT),
        ("codereviewer", "code-reviewer", Fit.EXACT),
        ("code reviewer", "code_reviewer", Fit.EXACT),
        ("code", "code-reviewer", Fit.PREFIX),
        ("code-rev", "code.reviewer", Fit.PREFIX),
        ("reviewer", "code-reviewer", Fit.WORD_STARTS),
        ("rev", "codeReviewer", Fit.WORD_STARTS),
        ("cr", "code-reviewer", Fit.WORD_STARTS),
        ("codrev", "code-api-reviewer", Fit.WORD_STARTS),
        ("v2", "reviewer-v2", Fit.WORD_STARTS),
        ("12", "agent12", Fit.WORD_STARTS),
        ("hs", "HTTPServer", Fit.WORD_STARTS),
        ("srv", "HTTPServer", Fit.SUBSEQUENCE),
        ("ödie", "mélödie", Fit.SUBSEQUENCE),
        ("viewer", "code-reviewer", Fit.SUBSEQUENCE),
        ("cdrvwr", "code-reviewer", Fit.SUBSEQUENCE),
        ("", "anything", Fit.PREFIX),
        ("-", "anything", Fit.PREFIX),
    ],
)
def test_how_a_name_fits(query: str, name: str, fit: Fit) -> None:
    score = Matcher(query).score(name)
    assert score is not None
    assert score.fit is fit


@pytest.mark.parametrize(("query", "name"), [("x", "lint"), ("tnil", "lint"), ("lintt", "lint")])
def test_letters_that_are_not_there_in_that_order_do_not_fit(query: str, name: str) -> None:
    assert Matcher(query).score(name) is None


def test_the_better_the_fit_the_higher_the_rank() -> None:
    names = ["are-very-late", "code-review", "rev", "review-all", "review", "rather-even-vague"]
    assert found("rev", *names) == [
        "rev",
        "review",
        "review-all",
        "code-review",
        "rather-even-vague",
        "are-very-late",
    ]


def test_letters_that_stand_together_come_before_those_apart() -> None:
    assert found("iew", "is-even-wider-x", "review") == ["is-even-wider-x", "review"]
    assert found("vie", "overlines", "reviewers") == ["reviewers", "overlines"]


def test_an_empty_query_finds_all_agents() -> None:
    assert found("", "b", "a") == ["a", "b"]


def test_agents_of_one_name_are_all_found_those_of_the_workspace_first() -> None:
    snapshot = snapshot_of(f"{USER_FOLDER}/lint.toml", "lint")
    assert [each.uri for each in workspace_symbols(snapshot, "lint")] == [
        f"{FOLDER}/lint.toml",
        f"{USER_FOLDER}/lint.toml",
    ]


@given(st.text(max_size=8), st.text(max_size=12))
def test_any_query_on_any_name(query: str, name: str) -> None:
    score = Matcher(query).score(name)
    letters = [letter for letter in query if letter.isalnum()]
    if not letters:
        assert score is not None
    if score is not None:
        assert len("".join(letters).casefold()) <= len(name.casefold())


@given(st.text("ab-", max_size=12))
def test_a_name_fits_itself(name: str) -> None:
    score = Matcher(name).score(name)
    assert score is not None
    assert score.fit is Fit.EXACT


def test_ten_thousand_agents_and_queries_made_to_be_slow() -> None:
    names = [f"{'a-' * 20}{number}" for number in range(10_000)]
    snapshot = snapshot_of(*names)
    started = time.perf_counter()
    for query in ("", "a" * 20, "a" * 19 + "b", "9", "a9"):
        assert len(workspace_symbols(snapshot, query)) in (0, MOST)
    assert time.perf_counter() - started < 20


def test_agents_of_all_programs_are_found_by_their_names() -> None:
    fixture = open_fixture(
        "--- /project/axe/agents: lint.toml\n"
        "--- /project/.codex/agents: lint-codex.toml\nname = 'lint-codex'\n"
        "--- /project/.claude/agents: y.md\n---\nname: lint-claude\ndescription: d\n---\nGo.\n"
        "--- /project/.opencode/agents/team: lint.md\n---\ndescription: d\n---\nGo.\n"
    )
    called = [each.called for each in workspace_symbols(fixture.snapshot, "lint")]
    assert sorted(called) == ["lint", "lint-claude", "lint-codex", "team/lint"]


def test_readme_in_a_folder_of_agents_is_found_where_the_program_takes_it_for_an_agent() -> None:
    fixture = open_fixture(
        "--- /project/.claude/agents: README.md\n# Agents\n"
        "--- /project/.cursor/agents: README.md\n# Agents\n"
        "--- /project/.opencode/agents: README.md\n# Agents\n"
    )
    programs = [each.schema.program for each in workspace_symbols(fixture.snapshot, "read")]
    assert programs == ["opencode"]
