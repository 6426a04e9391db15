"""Files in Markdown on the way to and from a conversion: front matter, comments and the text below."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.convert.intermediate import ConversionError
from axe_lsp.agentfile.convert.output_file import OutputFile, read_markdown, write_markdown
from axe_lsp.agentfile.text.front_matter import (
    CLAUDE_SYNTAX,
    COPILOT_SYNTAX,
    GEMINI_SYNTAX,
    OPENCODE_SYNTAX,
    Syntax,
)

TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(":#'\"\\\n -[]{}"))
)
VALUES = st.dictionaries(
    st.from_regex(r"[a-z][a-z_-]{0,8}", fullmatch=True),
    st.one_of(
        TEXT,
        st.booleans(),
        st.integers(-(10**6), 10**6),
        st.lists(TEXT, max_size=3),
        st.dictionaries(TEXT.filter(bool), TEXT, min_size=1, max_size=2),
        st.lists(st.dictionaries(st.just("k"), TEXT, min_size=1), min_size=1, max_size=2),
    ),
    min_size=1,
    max_size=4,
)


SYNTAXES = (COPILOT_SYNTAX, GEMINI_SYNTAX, OPENCODE_SYNTAX)
"""Those of Claude Code end at `---` anywhere, also in a value."""


@given(VALUES)
@example({"a": "yes"})
@example({"a": "1"})
@example({"a": "\x85"})
@example({"a": "~"})
@example({"a": " b "})
@example({"a": "\U0001f600"})
def test_written_front_matter_is_read_by_each_program_and_by_a_yaml_library(
    values: dict[str, Any],
) -> None:
    text = write_markdown(OutputFile(values, [], "The body."))
    front, body = text.removeprefix("---\n").rsplit("---\n\n", 1)
    assert body == "The body."
    assert (yaml.safe_load(front) or {}) == values
    for syntax in SYNTAXES:
        assert read_markdown(text, syntax) == OutputFile(values, [], "The body.")


@pytest.mark.parametrize("syntax", [CLAUDE_SYNTAX, COPILOT_SYNTAX, GEMINI_SYNTAX])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("d: Use it when: asked", "Use it when: asked"),
        ("d: @me", "@me"),
        ("d: [file] [line]", "[file] [line]"),
        ("d: 2026-01-31", "2026-01-31"),
    ],
)
def test_values_that_are_no_yaml_are_read_as_they_are_meant(
    syntax: Syntax, text: str, value: object
) -> None:
    assert read_markdown(f"---\n{text}\n---\n", syntax).values == {"d": value}


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: b\njust words", 3), ("a: 'b", 2), ('a: "\\q"', 2)],
)
def test_fault_in_front_matter_has_its_line(text: str, line: int) -> None:
    with pytest.raises(ConversionError) as caught:
        read_markdown(f"---\n{text}\n---\n", COPILOT_SYNTAX)
    assert caught.value.line == line


def test_front_matter_without_an_end_is_refused() -> None:
    with pytest.raises(ConversionError, match="never closed") as caught:
        read_markdown("---\na: b\n", CLAUDE_SYNTAX)
    assert caught.value.line == 1


def test_comments_belong_to_the_key_below_or_beside() -> None:
    text = "---\n# one\na: b # two\nc:\n  # three\n  - d\n# four\n---\n"
    assert read_markdown(text, CLAUDE_SYNTAX).comments == [
        ("a", "# one"),
        ("a", "# two"),
        ("c", "# three"),
        ("", "# four"),
    ]
