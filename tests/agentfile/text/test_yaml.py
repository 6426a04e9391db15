"""Front matter is read as the YAML library of each program reads it; recorded verdicts are in `tests/recorded/yaml`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Value
from axe_lsp.agentfile.text.yaml import (
    BUN,
    JS_YAML_3,
    JS_YAML_4,
    YAML_1_1,
    Flavor,
    Second,
    Timestamp,
    Tree,
    parse_yaml,
)
from support.growth import calls_of
from support.recorded_checks import RECORDED, load_cases

FLAVORS = {"bun": BUN, "js-yaml 3": JS_YAML_3, "js-yaml 4": JS_YAML_4, "yaml": YAML_1_1}
TEXTS = load_cases(RECORDED / "yaml" / "texts.json.xz")


def parsed(text: str, flavor: Flavor = YAML_1_1, second: Second | None = None) -> Tree:
    return parse_yaml(text, TextRange(0, len(text)), flavor, second or Second())


def value(text: str, flavor: Flavor = YAML_1_1) -> Any:
    tree = parsed(text, flavor)
    assert not tree.problems
    assert tree.root is not None
    return tree.root.decoded


@pytest.mark.parametrize("library", FLAVORS)
def test_random_text_is_read_as_the_library_reads_it(library: str) -> None:
    deviations = [each["text"] for each in TEXTS if not _agrees(each, library)]
    assert deviations == []


def _agrees(recorded: Mapping[str, Any], library: str) -> bool:
    tree, verdict = parsed(recorded["text"], FLAVORS[library]), recorded[library]
    if verdict is None or tree.problems:
        return verdict is None and bool(tree.problems)
    read = tree.root.decoded if tree.root is not None else None
    return _as_json(read) == _as_json(verdict[0])


def _as_json(read: Any) -> str:
    return json.dumps(read, sort_keys=True, default=lambda date: date.text)


_TEXT = st.text(
    alphabet=st.characters(
        codec="utf-8", categories=("L", "N", "P", "S"), include_characters=" \n"
    ),
    max_size=30,
)
_NO_NUMBER = _TEXT.filter(lambda text: not re.match(r"[-+.\d]", text))
"""PyYAML knows YAML 1.1, and leaves a number of YAML 1.2 without quotes: `0E0`."""
_VALUES = st.recursive(
    st.one_of(_NO_NUMBER, st.integers(-(10**9), 10**9), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), inner, max_size=3),
    ),
    max_leaves=8,
)


_KEYS = st.from_regex(r"[a-z]{3,8}", fullmatch=True)
_WRITTEN = st.one_of(
    st.tuples(st.dictionaries(_KEYS, _VALUES, min_size=1, max_size=4), st.none()),
    st.tuples(st.dictionaries(_KEYS, _TEXT, min_size=1, max_size=4), st.sampled_from(["'", '"'])),
)
"""Values, and the style of their texts."""


@given(_WRITTEN, st.sampled_from([None, True, False]), st.sampled_from(list(FLAVORS)))
def test_what_pyyaml_writes_is_read_as_it_was(
    written: tuple[dict[str, Any], str | None], flow: bool | None, library: str
) -> None:
    values, style = written
    text = yaml.safe_dump(
        values, default_flow_style=flow, default_style=style, allow_unicode=True, width=10_000
    )
    assert value(text, FLAVORS[library]) == yaml.safe_load(text) == values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 'it''s'", {"a": "it's"}),
        ('a: "x\\ty"', {"a": "x\ty"}),
        ("a: |\n  b\n  c\n\n", {"a": "b\nc\n"}),
        ("a: >-\n  b\n  c\n\n  d\n", {"a": "b c\nd"}),
        ("a: |+\n  b\n\n", {"a": "b\n\n"}),
        ("a:\n- b\n- c: d\n  e: f", {"a": ["b", {"c": "d", "e": "f"}]}),
        ("a: b\n  c\n\n  d", {"a": "b c\nd"}),
        ("a: [b, c d, {e: f}]", {"a": ["b", "c d", {"e": "f"}]}),
        ("a: &x b\nc: *x", {"a": "b", "c": "b"}),
        ("a: &x {b: c}\nd:\n  <<: *x\n  e: f", {"a": {"b": "c"}, "d": {"b": "c", "e": "f"}}),
        (
            "a: 0x1F\nb: 1e3\nc: yes\nd: ~\ne: True",
            {"a": 31, "b": 1000.0, "c": "yes", "d": None, "e": True},
        ),
        ("a: !!str 42", {"a": "42"}),
        ("a: b # c\nd: e#f", {"a": "b", "d": "e#f"}),
        ("\"a b\": c\n'd': e", {"a b": "c", "d": "e"}),
    ],
)
def test_value_is_what_yaml_says(text: str, expected: object) -> None:
    assert value(text) == expected


def test_infinity_and_nan_are_numbers() -> None:
    read = value("a: -.inf\nb: .nan")
    assert read["a"] == -math.inf
    assert math.isnan(read["b"])


@pytest.mark.parametrize(
    ("text", "where", "word"),
    [
        ("a: b: c", "b: c", "another key"),
        ("a: @b", "@b", "quotes"),
        ("a: 'b", "'b", "no end"),
        ("a: [b", "[b", "no `]`"),
        ('a: "b" c', " c", "behind a finished value"),
        ("a\nb: c", "a", "`:`"),
        ("a: b\n\tc: d", "c: d", "tab"),
        ("a: x\n - b", " - b", ""),
        ("a: *b", "*b", "names that nothing has"),
        ("a: b\na: c", "a", "there already"),
    ],
)
def test_fault_is_at_its_place_and_the_rest_is_read(text: str, where: str, word: str) -> None:
    tree = parsed(f"{text}\nlast: z")
    assert tree.problems or not word
    if word:
        assert any(where.strip() in each.range.of(text) for each in tree.problems)
    assert tree.root is not None
    assert "last" in tree.root.decoded


def test_aliases_that_would_repeat_billions_of_values_are_a_fault() -> None:
    lines = ["a0: &a0 [b, b, b, b, b, b, b, b, b]"]
    for number in range(1, 12):
        items = ", ".join([f"*a{number - 1}"] * 9)
        lines.append(f"a{number}: &a{number} [{items}]")
    tree = parsed("\n".join([*lines, "last: z"]))
    assert any("aliases repeat" in each.message for each in tree.problems)
    assert tree.root is not None
    assert "last" in tree.root.decoded


@pytest.mark.parametrize("line", ["key{}: b", "key{}: &x{} b", "key{}"])
def test_work_for_a_mapping_grows_with_its_lines(line: str) -> None:
    def calls(count: int) -> int:
        text = "\n".join(["a: b", *(line.replace("{}", str(each)) for each in range(count))])
        return calls_of(lambda: parsed(text))

    assert calls(2_000) < 2.5 * calls(1_000)


def test_flavors_differ_where_their_libraries_do() -> None:
    assert value("a: b\na: c", BUN) == {"a": "c"}
    assert value("a: 2026-01-31", JS_YAML_4) == {"a": Timestamp("2026-01-31")}
    assert value("a: 010", JS_YAML_3) == {"a": 8}
    assert value("\ta: b", JS_YAML_3) == {"a": "b"}
    assert value("a: 'b\nc'", JS_YAML_4) == {"a": "b c"}
    assert parsed("a: !b c", JS_YAML_4).problems


def test_second_try_takes_values_as_they_stand() -> None:
    text = "a: b: \\c\n  d\ne: f"
    assert parsed(text, BUN, Second({3: 8}, deep=True)).root is not None
    tree = parsed(text, BUN, Second({3: 8}, deep=True))
    assert tree.problems == ()
    assert tree.root is not None
    assert tree.root.decoded == {"a": "b: \\c\n  d", "e": "f"}


_PIECES = [
    *"[]{}:,#\"'\\-|>?&*!%@` \t\n",
    *(
        "\r\n",
        "a",
        "b: c",
        "- d",
        "name",
        ": ",
        "  ",
        "\n  ",
        "é",
        "😀",
        "\x00",
        "<<: *a",
        "&a ",
        "0",
        "true",
        "|\n",
        "'x'",
    ),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join), st.sampled_from(list(FLAVORS)))
def test_any_text_has_a_tree_within_it(text: str, library: str) -> None:
    tree = parsed(text, FLAVORS[library])
    for problem in tree.problems:
        assert 0 <= problem.range.start <= problem.range.end <= len(text)
    for each in _values(tree.root):
        assert 0 <= each.range.start <= each.range.end <= len(text)


def _values(root: Value | None) -> Iterator[Value]:
    if root is not None:
        yield root
        for entry in root.entries:
            yield from _values(entry.value)
        for item in root.items:
            yield from _values(item)
