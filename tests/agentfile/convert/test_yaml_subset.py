"""The YAML of front matter: what a real parser reads is read alike, and the rest as it is meant."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.convert.intermediate import ConversionError
from axe_lsp.agentfile.convert.yaml_subset import read_yaml, yaml_lines

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
    max_size=4,
)


@given(VALUES)
@example({"a": "yes"})
@example({"a": "1"})
@example({"a": "\x85"})
@example({"a": "~"})
@example({"a": " b "})
@example({"a": "\U0001f600"})
def test_what_is_written_is_read_by_us_and_by_a_real_parser(values: dict[str, Any]) -> None:
    text = "\n".join(line for key, value in values.items() for line in yaml_lines(key, value))
    assert (yaml.safe_load(text) or {}) == values
    assert read_yaml(text).values == values


@pytest.mark.parametrize(
    "text",
    [
        "a: b c\nd: 'it''s'\ne: \"x\\ty\"",
        "a: |\n  one\n   two\n\n  three\nb: 1",
        "a: |-\n  one\n\nb: 1.5",
        "a: |+\n  one\n\nb: true",
        "a: >\n  one\n  two\n\n  three\nb: null",
        "a: >-\n  one\n  two",
        "a: |2\n    indented\n  less\n",
        "a:\n  - one\n  - two: 2\n    three: [x, 'y', {z: 1}]\n  -\n    - nested",
        "a:\n- one\n- two\nb: c",
        "a: one\n  two\n\n  three # no\nb: c",
        'a: "one\n  two"\nb: c',
        "a: [\n  one,\n  two\n]",
        "a: {b: c, d: [e]}",
        "a:\nb: c",
        "a: -1\nb: http://x:80/#y",
        "# above\na: b # beside\n",
        "a: []\nb: {}\nc: ''",
    ],
)
def test_valid_yaml_means_what_it_means_elsewhere(text: str) -> None:
    assert read_yaml(text).values == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            r"d: Use it when: a\n<example>user: 'hi'</example>",
            r"Use it when: a\n<example>user: 'hi'</example>",
        ),
        ("d: *", "*"),
        ("d: @me", "@me"),
        ("d: [file] [line]", "[file] [line]"),
        ("d: [Bash(git log, git diff), Read]", ["Bash(git log, git diff)", "Read"]),
    ],
)
def test_what_is_not_valid_is_read_as_it_is_meant(text: str, value: object) -> None:
    assert read_yaml(text).values == {"d": value}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: b\njust words", 2, "neither `key: value`"),
        ("a: b\na: c", 2, "second time"),
        ("a: 'b", 1, "never closed"),
        ("x: y\na: [b", 2, "never closed"),
        ('a: "\\q"', 1, "not an escape"),
        ("a:\n\t- b", 2, "tab"),
        ("a: 'b' c", 1, "behind the closing quote"),
        ("  a: b", 1, "indented"),
        ("a: " + "[" * 3000, 1, "too deep"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(3000)), 52, "too deep"),
        ("a:\n" + "- " * 3000, 2, "too deep"),
    ],
)
def test_a_fault_has_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ConversionError, match=message) as caught:
        read_yaml(text)
    assert caught.value.line == line


def test_comments_belong_to_the_key_below_or_beside() -> None:
    front = read_yaml("# one\na: b # two\nc:\n  # three\n  - d\n# four")
    assert front.comments == [("a", "# one"), ("a", "# two"), ("c", "# three"), ("", "# four")]
