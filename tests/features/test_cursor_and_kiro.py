"""Agents of Cursor and Kiro, of which only the documentation is known: nothing is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.features.code_lens import code_lenses
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import Severity
from axe_lsp.features.hover import hover
from axe_lsp.features.workspace_symbol import workspace_symbols
from support.fixture import open_fixture

CURSOR, KIRO = "/project/.cursor/agents", "/project/.kiro/agents"
HEAD = "---\nname: verifier\ndescription: Checks finished work.\n"


def reported(text: str, folder: str = CURSOR, name: str = "verifier.md") -> list[tuple[str, str]]:
    """Return the codes and marked texts of the diagnostics, all of which are warnings."""
    fixture = open_fixture(f"--- {folder}: {name}\n{text}")
    found = list(diagnostics(fixture.snapshot, fixture.file))
    assert [each for each in found if each.severity is not Severity.WARNING] == []
    return [(each.code, each.range.of(fixture.text)) for each in found]


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        (CURSOR, f"{HEAD}model: inherit\nreadonly: true\nis_background: false\n---\nCheck it.\n"),
        (CURSOR, f"{HEAD}---\n"),
        (CURSOR, "---\ndescription: Use when: asked\n---\nBody.\n"),
        (CURSOR, f"{HEAD}color: blue\n---\nBody.\n"),
        (KIRO, f"{HEAD}tools: [read, '@git', '*']\nallowedTools: ['git_*']\n---\nBody.\n"),
        (KIRO, f"{HEAD}permissions:\n  - capability: write\n    effect: deny\n---\nBody.\n"),
        (KIRO, f"{HEAD}tools: read\nhooks:\n  stop:\n    - command: ls\n---\nBody.\n"),
    ],
)
def test_documented_agent_is_silent(folder: str, text: str) -> None:
    assert reported(text, folder) == []


def test_readme_without_front_matter_is_silent() -> None:
    assert reported("# Agents\n\nThose of this project.\n", name="README.md") == []


@pytest.mark.parametrize(
    ("folder", "line", "code", "marked"),
    [
        (CURSOR, "tools: Read", "unknown-key", "tools"),
        (CURSOR, "readonly: 'yes'", "wrong-type", "'yes'"),
        (CURSOR, "readOnly: true", "unknown-key", "readOnly"),
        (CURSOR, "model: [fast]", "wrong-type", "[fast]"),
        (KIRO, "includeMcpJson: 'no'", "wrong-type", "'no'"),
        (KIRO, "allowedTool: [read]", "unknown-key", "allowedTool"),
    ],
)
def test_contradiction_of_documentation_is_warned_of(
    folder: str, line: str, code: str, marked: str
) -> None:
    assert reported(f"{HEAD}{line}\n---\nBody.\n", folder) == [(code, marked)]


def test_fault_of_yaml_is_a_warning() -> None:
    assert [code for code, _ in reported(f'{HEAD}model: "fast\n---\nBody.\n')] == ["syntax"]


def test_lost_front_matter_is_warned_of() -> None:
    assert reported(f"\n{HEAD}---\nBody.\n") == [("no-effect", "---")]


@pytest.mark.parametrize(("folder", "key"), [(CURSOR, "readonly"), (KIRO, "allowedTools")])
def test_keys_are_offered_and_explained(folder: str, key: str) -> None:
    fixture = open_fixture(f"--- {folder}: a.md\n{HEAD}<|>\n---\n")
    offered = completion(fixture.snapshot, fixture.file, fixture.offset)
    assert key in [each.label for each in offered]
    fixture = open_fixture(f"--- {folder}: a.md\n{HEAD}{key[:3]}<|>{key[3:]}: x\n---\n")
    found = hover(fixture.snapshot, fixture.file, fixture.offset)
    assert found is not None
    assert key in found.markdown


def test_agent_is_found_by_its_name_and_not_run() -> None:
    fixture = open_fixture(f"--- {CURSOR}: file.md\n{HEAD}---\nBody.\n")
    assert fixture.file.called == "verifier"
    assert [each.called for each in workspace_symbols(fixture.snapshot, "verif")] == ["verifier"]
    assert code_lenses(fixture.snapshot, fixture.file) == []


def test_agent_of_cursor_has_no_twins() -> None:
    fixture = open_fixture(
        f"--- {CURSOR}: a.md\n{HEAD}---\nBody.\n"
        f"--- /project/.claude/agents: b.md\n{HEAD}---\nOther.\n"
    )
    assert [fixture.snapshot.twins(each) for each in fixture.snapshot.files()] == [[], []]


@given(st.text(alphabet="-:#[]{}'\"|> \n\tabnt", max_size=80))
def test_no_text_is_an_error(text: str) -> None:
    for folder in (CURSOR, KIRO):
        fixture = open_fixture(f"--- {folder}: a.md\n---\n{text}")
        found = diagnostics(fixture.snapshot, fixture.file)
        assert [each for each in found if each.severity is Severity.ERROR] == []
