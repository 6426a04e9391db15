"""What is measured is what is meant: agent files without a problem, until one character changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.workspace import Change, Workspace
from benchmarks.agents import (
    BOOLEAN,
    DIGIT,
    HELPERS,
    agent_text,
    make_markdown_workspace,
    make_workspace,
    replacement,
    reviewer_text,
)

FOLDER = "file:///axe/agents"
AROUND = {f"{FOLDER}/{name}.toml": agent_text(1_000, name) for name in HELPERS}


def problems(texts: dict[str, str]) -> list[str]:
    workspace = Workspace(Places())
    workspace.apply([Change(uri, text) for uri, text in texts.items()], complete=True)
    files = workspace.snapshot.files()
    return [found.code for file in files for found in diagnostics(workspace.snapshot, file)]


def test_agents_in_markdown_have_no_problem_until_a_character_changes(tmp_path: Path) -> None:
    texts = make_markdown_workspace(tmp_path, 12).texts()
    assert {len(each) for each in texts.values()} <= set(range(980, 1_010))
    assert problems(texts) == []
    wrong = {uri: text.replace(f"{BOOLEAN}t", f"{BOOLEAN}x") for uri, text in texts.items()}
    assert problems(wrong) == ["wrong-type"] * 12


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_a_file_has_the_size_that_was_asked_for_and_no_problem(size: int) -> None:
    text = reviewer_text(size)
    assert len(text) == pytest.approx(size, rel=0.01)
    assert problems({**AROUND, f"{FOLDER}/reviewer.toml": text}) == []


def test_a_workspace_is_one_tree_without_a_problem(tmp_path: Path) -> None:
    texts = make_workspace(tmp_path, 30).texts()
    assert len(texts) == 31
    assert problems(texts) == []


def test_changed_digit_changes_the_diagnostics() -> None:
    text = reviewer_text(1_000)
    change = replacement(text, DIGIT, "9")
    lines = text.split("\n")
    start, end = change["range"]["start"], change["range"]["end"]
    line = lines[start["line"]]
    assert line[start["character"] : end["character"]] == "3"
    lines[start["line"]] = line[: start["character"]] + change["text"] + line[end["character"] :]
    changed = {f"{FOLDER}/reviewer.toml": "\n".join(lines)}
    assert problems({**AROUND, **changed}) == ["max-depth"]
