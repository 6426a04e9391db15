"""Agents in Markdown: offers, explanations, fixes, and no feature that fails on half-typed text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.code_lens import LensKind, code_lenses
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.document_symbol import document_symbols
from axe_lsp.features.folding_range import folding
from axe_lsp.features.formatting import formatting
from axe_lsp.features.hover import hover
from axe_lsp.features.inlay_hint import inlay_hints
from axe_lsp.features.references import references
from axe_lsp.features.selection_range import selections
from axe_lsp.features.semantic_tokens import semantic_tokens
from support.actions import Offered, context
from support.fixture import Fixture, open_fixture

FOLDERS = {
    "claude": "/project/.claude/agents",
    "copilot": "/project/.github/agents",
    "opencode": "/project/.opencode/agents",
    "gemini": "/project/.gemini/agents",
    "cursor": "/project/.cursor/agents",
    "kiro": "/project/.kiro/agents",
}
NOT_RUN = ("cursor", "kiro")
HEAD = "---\nname: a\ndescription: Reads.\n"


def opened(text: str, program: str = "claude") -> Fixture:
    return open_fixture(f"--- {FOLDERS[program]}: a.md\n{text}")


def labels(text: str, program: str = "claude") -> list[str]:
    fixture = opened(text, program)
    return [each.label for each in completion(fixture.snapshot, fixture.file, fixture.offset)]


def test_keys_are_offered_at_the_start_of_a_line_without_those_that_are_there() -> None:
    offered = labels(f"{HEAD}to<|>\n---\nBody.")
    assert {"tools", "model", "permissionMode"} <= set(offered)
    assert not {"name", "description"} & set(offered)


def test_words_are_offered_behind_a_key() -> None:
    assert "acceptEdits" in labels(f"{HEAD}permissionMode: <|>\n---\n")
    assert labels(f"{HEAD}background: <|>\n---\n") == ["true", "false"]
    assert "subagent" in labels("---\nmode: <|>\n---\n", "opencode")


@pytest.mark.parametrize(
    "tools", ["tools: Read, <|>", "tools: [Read, <|>]", "tools:\n  - Read\n  - <|>"]
)
def test_tools_are_offered_in_every_form_of_a_list(tools: str) -> None:
    assert "Grep" in labels(f"{HEAD}{tools}\n---\n")


@pytest.mark.parametrize(
    "text", [f"{HEAD}---\nto<|>", "to<|>", f"{HEAD}description: |\n  to<|>\n---\n"]
)
def test_nothing_is_offered_in_prose(text: str) -> None:
    assert labels(text) == []


def test_key_replaces_the_word_that_is_typed() -> None:
    fixture = opened(f"{HEAD}mod<|>el\n---\n")
    (model,) = [
        each
        for each in completion(fixture.snapshot, fixture.file, fixture.offset)
        if each.label == "model"
    ]
    assert model.replace.of(fixture.text) == "model"
    assert model.text == "model: "


def test_key_and_value_are_explained() -> None:
    for text in (f"{HEAD}max<|>Turns: 3\n---\n", f"{HEAD}maxTurns: <|>3\n---\n"):
        fixture = opened(text)
        found = hover(fixture.snapshot, fixture.file, fixture.offset)
        assert found is not None
        assert "turns" in found.markdown


def test_unknown_key_has_a_fix_that_respells_it() -> None:
    offered = Offered(
        f"--- {FOLDERS['claude']}: a.md\n{HEAD}permission<|>mode: plan\n---\n", "quickfix"
    )
    assert offered.titles == ["Write `permissionMode`"]
    assert "permissionMode: plan" in offered.taken("Write `permissionMode`")


def test_formatting_leaves_markdown_as_it_is() -> None:
    fixture = opened("---\nname:   a\n---\n")
    assert formatting(fixture.file, "  ", 2) == []


def test_outline_has_the_keys_of_the_front_matter() -> None:
    fixture = opened(f"{HEAD}hooks:\n  Stop:\n    - hooks: []\n---\n")
    assert [each.name for each in document_symbols(fixture.file)] == [
        "name",
        "description",
        "hooks",
    ]


_PIECES = [
    *(
        "---\n",
        "name: a\n",
        "description: x\n",
        "tools:\n",
        "  - Read\n",
        "model: ",
        "hooks:\n  Stop:\n",
        "\n",
        "- ",
    ),
    *(
        "mcpServers:\n",
        "  - docs:\n",
        "permission:\n",
        "  bash: ask\n",
        "handoffs:\n  - label: x\n",
        "[",
        "]",
        "{",
        "}",
    ),
    *(
        "|\n",
        "  text\n",
        "'",
        '"',
        ": ",
        " #c\n",
        "\r\n",
        "é",
        "\ufeff",
        "&a ",
        "*a",
        "Body.\n",
        "42",
        "true\n",
    ),
]


@pytest.mark.parametrize("program", list(FOLDERS))
def test_outline_has_a_key_without_a_value(program: str) -> None:
    names = [each.name for each in document_symbols(opened("---\ntools:\n---\n", program).file)]
    assert "tools" in names


@given(
    st.lists(st.sampled_from(_PIECES), max_size=25).map("".join),
    st.sampled_from(list(FOLDERS)),
    st.data(),
)
def test_no_feature_fails_on_any_text(text: str, program: str, data: Any) -> None:
    fixture = opened(f"---\n{text}", program)
    file, snapshot, length = fixture.file, fixture.snapshot, len(fixture.text)
    offset = data.draw(st.integers(0, length))
    for finding in diagnostics(snapshot, file):
        assert 0 <= finding.range.start <= finding.range.end <= length
    for item in completion(snapshot, file, offset):
        assert item.replace.touches(offset)
    for token in semantic_tokens(file):
        assert 0 <= token.range.start < token.range.end <= length
    assert selections(file, offset)[-1] == TextRange(0, length)
    assert inlay_hints(file, TextRange(0, length)) == []
    lenses = [each.kind for each in code_lenses(snapshot, file)][:2]
    assert lenses == ([] if program in NOT_RUN else [LensKind.RUN, LensKind.PREVIEW])
    hover(snapshot, file, offset)
    document_symbols(file)
    folding(file)
    references(snapshot, file, offset, include_declaration=True)
    code_actions(context(snapshot, {}), file, TextRange(0, length))
