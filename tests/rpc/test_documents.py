"""The text of open documents after any edits, in every encoding, with LSP's idea of a line."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding
from axe_lsp.rpc.documents import Document, Documents, EditedText, NotOpenError
from axe_lsp.rpc.lsp_json import read_params

ENCODINGS: list[PositionEncoding] = ["utf-8", "utf-16", "utf-32"]
UNIT_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

# Everything that somebody may take for the end of a line, and characters of every width.
texts = st.text(st.sampled_from("ab\n\r\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1eé€😀\ufeff"))
short_texts = st.text(st.sampled_from("a\n\r\u2028"), max_size=12)
positions = st.tuples(st.integers(0, 8), st.integers(0, 12))


def opened(text: str) -> Documents:
    documents = Documents()
    item = {"uri": "u", "languageId": "toml", "version": 1, "text": text}
    documents.open(read_params("textDocument/didOpen", {"textDocument": item}))
    return documents


def change(
    documents: Documents, *changes: dict[str, Any], encoding: PositionEncoding = "utf-16"
) -> Document:
    params = {"textDocument": {"uri": "u", "version": 2}, "contentChanges": list(changes)}
    return documents.change(read_params("textDocument/didChange", params), encoding)


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    names = ("line", "character")
    return {
        "range": {
            "start": dict(zip(names, start, strict=True)),
            "end": dict(zip(names, end, strict=True)),
        },
        "text": text,
    }


def after(text: str, *changes: dict[str, Any], encoding: PositionEncoding = "utf-16") -> str:
    return change(opened(text), *changes, encoding=encoding).text


def naive_offset(text: str, position: tuple[int, int], encoding: PositionEncoding) -> int:
    """Return where a position lies, found the slow way: line by line, character by character."""
    line, column = position
    lines = re.split(r"(\r\n|\n|\r)", text)
    if 2 * line >= len(lines):
        return len(text)
    offset = sum(map(len, lines[: 2 * line]))
    codec, width = UNIT_BYTES[encoding]
    for character in lines[2 * line]:
        column -= len(character.encode(codec)) // width
        if column < 0:
            break
        offset += 1
    return offset


@given(texts, st.lists(st.tuples(positions, positions, texts)), st.sampled_from(ENCODINGS))
def test_any_edits_give_what_applying_them_naively_gives(
    text: str,
    edits: list[tuple[tuple[int, int], tuple[int, int], str]],
    encoding: PositionEncoding,
) -> None:
    expected = text
    for start, end, new in edits:
        first, last = sorted(naive_offset(expected, at, encoding) for at in (start, end))
        expected = expected[:first] + new + expected[last:]
    assert after(text, *(edit(*one) for one in edits), encoding=encoding) == expected


def test_column_behind_the_end_of_the_last_line_means_its_end() -> None:
    assert after("a = 1\nb = 22", edit((1, 99), (1, 99), "X")) == "a = 1\nb = 22X"


def test_column_behind_the_end_of_a_line_stays_before_its_line_end() -> None:
    assert after("a\r\nb", edit((0, 99), (0, 99), "X")) == "aX\r\nb"
    assert after("a\rb", edit((0, 99), (0, 99), "X")) == "aX\rb"


def test_line_behind_the_last_one_means_the_end() -> None:
    assert after("a\n", edit((7, 3), (9, 0), "X")) == "a\nX"


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_only_cr_and_lf_end_a_line(separator: str) -> None:
    text = f'a = "x{separator}y"\nb = 1\n'
    assert after(text, edit((1, 4), (1, 5), "2")) == f'a = "x{separator}y"\nb = 2\n'


def test_lone_cr_ends_a_line() -> None:
    assert after("a = 1\rb = 1\r", edit((1, 4), (1, 5), "2")) == "a = 1\rb = 2\r"


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_columns_count_units_of_the_encoding(encoding: PositionEncoding, column: int) -> None:
    assert after("😀b", edit((0, column), (0, column), "X"), encoding=encoding) == "😀Xb"


def test_column_inside_a_surrogate_pair_means_its_start() -> None:
    assert after("😀", edit((0, 1), (0, 1), "X")) == "X😀"


def test_range_that_runs_backwards_is_turned_round() -> None:
    assert after("abcd", edit((0, 3), (0, 1), "X")) == "aXd"


def test_changes_of_a_batch_follow_one_upon_the_other() -> None:
    first, second = edit((0, 0), (0, 0), "one\n"), edit((1, 0), (1, 3), "two")
    assert after("abc", first, second) == "one\ntwo"
    assert after("abc", first, {"text": "new"}, edit((0, 3), (0, 3), "er")) == "newer"


def test_range_that_is_null_means_the_whole_text() -> None:
    assert after("abc", {"range": None, "text": "new"}) == "new"


def test_document_keeps_its_language_and_takes_the_version_of_the_change() -> None:
    documents = opened("abc")
    changed = change(documents, {"text": "new"})
    assert changed == Document("u", "toml", 2, "new")
    assert documents.get("u") is changed
    assert list(documents) == [changed]


def test_closed_document_is_gone() -> None:
    documents = opened("abc")
    params = read_params("textDocument/didClose", {"textDocument": {"uri": "u"}})
    assert documents.close(params).text == "abc"
    assert documents.get("u") is None


def test_change_of_a_document_that_is_not_open_names_it() -> None:
    with pytest.raises(NotOpenError, match=r"^u is not open$"):
        change(Documents(), {"text": "new"})


@given(short_texts, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), short_texts)))
@example("a\rb", [(2, 2, "\n")])
@example("a\r\nb", [(2, 2, "x")])
@example("a\r\n\nb", [(2, 3, "")])
def test_lines_begin_where_they_would_in_a_new_text(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    edited = EditedText(text)
    for start, end, new in edits:
        first, last = sorted(min(each, len(edited.text)) for each in (start, end))
        expected = edited.text[:first] + new + edited.text[last:]
        edited.replace(first, last, new)
        assert edited.text == expected
        fresh = LineIndex(expected)
        lines = range(len(fresh.starts) + 1)
        assert [edited.offset(n, 0, "utf-16") for n in lines] == [
            fresh.offset(n, 0, "utf-16") for n in lines
        ]


def test_a_document_is_found_under_another_spelling_of_its_uri() -> None:
    documents = Documents(str.lower)
    item = {"uri": "file:///A", "languageId": "toml", "version": 1, "text": "x"}
    documents.open(read_params("textDocument/didOpen", {"textDocument": item}))
    closed = documents.close(
        read_params("textDocument/didClose", {"textDocument": {"uri": "file:///a"}})
    )
    assert closed.uri == "file:///A"
    assert list(documents) == []


@pytest.mark.parametrize("order", [1, -1])
def test_many_edits_in_their_order_move_each_line_once(
    order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = 0
    original = EditedText._move_until

    def counting(text: EditedText, line: int) -> None:
        nonlocal moved
        moved += abs(min(line, len(text._starts)) - text._first_unmoved)
        original(text, line)

    monkeypatch.setattr(EditedText, "_move_until", counting)
    text = EditedText("key = 1\n" * 1_000)
    for line in range(1_000)[::order]:
        start = text.offset(line, 0, "utf-16")
        text.replace(start, start + 3, "other")
    assert text.text == "other = 1\n" * 1_000
    assert moved < 5_000
