"""Offsets, lines and columns, against a slow and obvious reference."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding

ENCODINGS: tuple[PositionEncoding, ...] = ("utf-8", "utf-16", "utf-32")
TEXTS = st.text(alphabet="ab \r\n\t\u2028\x85\x0cé😀", max_size=40)


def units(text: str, encoding: PositionEncoding) -> int:
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode(encoding + ("-le" if encoding != "utf-8" else ""))) // width


@given(TEXTS)
def test_lines_end_at_lf_cr_and_crlf_and_nowhere_else(text: str) -> None:
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    assert LineIndex(text).starts == starts


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_a_position_leads_back_to_its_offset(text: str, encoding: PositionEncoding) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        line, column = index.position(offset, encoding)
        assert column == units(text[index.starts[line] : offset], encoding)
        if offset <= index.line_range(line).end:
            assert index.offset(line, column, encoding) == offset


@pytest.mark.parametrize(
    ("line", "column", "offset"),
    [(0, 99, 2), (1, 99, 5), (7, 0, 5), (-1, 3, 0), (0, -1, 0)],
)
def test_positions_outside_the_text_are_clamped(line: int, column: int, offset: int) -> None:
    assert LineIndex("ab\ncd").offset(line, column, "utf-16") == offset


def test_a_column_inside_a_character_means_its_start() -> None:
    assert LineIndex("a😀b").offset(0, 2, "utf-16") == 1
    assert LineIndex("aéb").offset(0, 2, "utf-8") == 1


def test_a_column_never_lands_behind_the_end_of_line_characters() -> None:
    assert LineIndex("ab\r\ncd").offset(0, 3, "utf-16") == 2
