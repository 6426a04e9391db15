"""Whatever is formatted says what it said."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import spliced
from axe_lsp.agentfile.text.tree import walk
from axe_lsp.features.formatting import formatting
from support.any_text import TEXTS
from support.fixture import open_text
from support.toml_texts import DOCUMENTS

CORPUS = Path(__file__).parents[1] / "agentfile" / "text" / "toml_test_corpus.json"


def formatted(text: str, within: TextRange | None = None) -> str:
    return spliced(text, formatting(open_text(text), "  ", 2, within))


def said(text: str) -> Any:
    """Return the values; numbers with a point as they are written, since nan is not itself."""
    return tomli.loads(text.removeprefix("\ufeff"), parse_float=str)


def comments(text: str) -> list[str]:
    return [each.of(text).rstrip() for each in Parse(text).document.comments]


def keys(text: str) -> list[tuple[str, ...]]:
    return [item.path for item in walk(Parse(text).document)]


def check(text: str, result: str) -> None:
    assert said(result) == said(text)
    assert comments(result) == comments(text)
    assert keys(result) == keys(text)


@given(DOCUMENTS)
def test_values_comments_and_order_stay(text: str) -> None:
    result = formatted(f"\n{text}")
    assert not result.startswith("\n"), "it was not formatted"
    check(text, result)


@given(DOCUMENTS)
def test_what_is_formatted_stays_as_it_is(text: str) -> None:
    once = formatted(text)
    assert formatting(open_text(once), "  ", 2) == []


@given(DOCUMENTS)
def test_line_ends_make_no_difference(text: str) -> None:
    assert formatted(text.replace("\n", "\r\n")) == formatted(text).replace("\n", "\r\n")


@given(DOCUMENTS, st.data())
def test_a_part_is_formatted_on_the_way_to_the_whole(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    partly = formatted(text, TextRange(start, end))
    check(text, partly)
    assert formatted(partly) == formatted(text)


@given(DOCUMENTS)
def test_there_are_no_needless_blanks(text: str) -> None:
    result = formatted(text)
    parse = Parse(result)
    kept = [each.range for item in walk(parse.document) for each in [item.entry.value] if each]
    for match in re.finditer(r"[ \t]+$|\n\n\n|\A\n|\n\n\Z", result, re.MULTILINE):
        assert any(each.start <= match.start() < each.end for each in kept), match
    assert not result or result.endswith("\n")


@given(TEXTS)
def test_any_text(text: str) -> None:
    result = formatted(text)
    if Parse(text).problems:
        assert result == text
    else:
        check(text, result)


def valid_files() -> list[Any]:
    found = []
    for name, encoded in json.loads(CORPUS.read_text("utf-8"))["files"].items():
        try:
            text = base64.b64decode(encoded).decode("utf-8")
            tomli.loads(text.removeprefix("\ufeff"))
        except ValueError:  # Not text, or not TOML.
            continue
        found.append(pytest.param(text, id=name))
    return found


@pytest.mark.parametrize("text", valid_files())
def test_the_corpus(text: str) -> None:
    result = formatted(text)
    check(text, result)
    assert formatted(result) == result
