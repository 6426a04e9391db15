"""Structs become JSON and structs again, and what does not fit is rejected."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from axe_lsp.runtime.json_data import (
    JsonStruct,
    decoded,
    decoder_of,
    from_json,
    json_text,
    to_json,
    written,
)


class Item(JsonStruct, frozen=True):
    item_number: int


class Box(JsonStruct, frozen=True):
    items: tuple[Item, ...] = ()
    how_many: int = written(0)
    label: str | None = None
    folder: Path = Path("/")


def test_structs_in_a_tuple_arrive_as_structs() -> None:
    box = Box((Item(1), Item(2)), 3, "b", Path("/x"))

    assert from_json(Box, to_json(box)) == box


@pytest.mark.parametrize(
    "value",
    [{"howMany": "not a number"}, {"items": [{}]}, {"items": [{"itemNumber": None}]}, [], None],
    ids=repr,
)
def test_what_does_not_fit_is_rejected(value: object) -> None:
    with pytest.raises(ValueError, match=r"Expected|missing"):
        from_json(Box, value)


@pytest.mark.parametrize("brackets", [b'{"x":' * 200_000, b'{"x":' + b"[" * 200_000])
def test_a_line_that_no_reader_can_follow_is_rejected(brackets: bytes) -> None:
    with pytest.raises(ValueError, match=r"nested|Expecting"):
        decoded(brackets, decoder_of(Box))


def test_what_is_none_is_left_out_and_a_written_default_is_not() -> None:
    assert to_json(Box()) == {"howMany": 0}
    assert json_text(Box(label="half: \ud83d")) == '{"howMany":0,"label":"half: ?"}'


def test_members_that_the_struct_lacks_are_passed_over() -> None:
    assert from_json(Box, {"howMany": 1, "ofALaterVersion": True}) == Box(how_many=1)


@pytest.mark.parametrize(("number", "text"), [(math.nan, "NaN"), (-math.inf, "-Infinity")])
def test_numbers_that_json_lacks_are_written_as_python_does(number: float, text: str) -> None:
    assert json_text({"a": number}) == f'{{"a":{text}}}'
