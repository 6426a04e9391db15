"""Check the values of a front matter against shapes: a type, words, a list or a table of shapes.

A shape yields a fault for each value that its program does not take. What follows from a fault, an agent that is dropped or a
key that is ignored, is decided by the check of the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import Entry, Value, ValueKind
from axe_lsp.agentfile.text.values import decode


class Field(Struct, frozen=True):
    """A value with the place to point at: itself, or its key if it begins in a line below the key.

    `key` is the range of its key, of an item of a list the range of the item. A mapping has `members`, a list `items`.
    """

    name: str
    key: TextRange
    range: TextRange
    kind: ValueKind
    value: Any
    members: Mapping[str, Field] | None = None
    items: tuple[Field, ...] | None = None

    @property
    def text(self) -> str | None:
        """The value, if it is a text."""
        return self.value if isinstance(self.value, str) else None


def fields_of(text: str, entries: tuple[Entry, ...]) -> dict[str, Field]:
    """Return the finished values of a table by their keys."""
    return {
        each.key.names[0]: _field(text, each.key.names[0], each.key.range, each.value)
        for each in entries
        if each.value is not None and each.key.names
    }


def _field(text: str, name: str, key: TextRange, value: Value) -> Field:
    is_below = value.range.start == value.range.end or "\n" in text[key.end : value.range.start]
    where = key if is_below else value.range
    return Field(
        name,
        key,
        where,
        value.kind,
        decode(text, value),
        fields_of(text, value.entries) if value.kind is ValueKind.INLINE_TABLE else None,
        tuple(_field(text, name, each.range, each) for each in value.items)
        if value.kind is ValueKind.ARRAY
        else None,
    )


def place_in(field: Field, start: int, end: int) -> TextRange:
    """Return the range of a part of a text; all of it where escapes or line breaks are in the way."""
    length = field.range.end - field.range.start
    quotes = length - len(field.text or "")
    if quotes not in (0, 2):
        return field.range
    first = field.range.start + quotes // 2
    return TextRange(first + start, first + end)


class Fault(NamedTuple):
    """A value that is not of its shape. `code` is that of the diagnostic, `message` goes on behind the key's name."""

    range: TextRange
    path: tuple[str, ...]
    message: str
    code: str = "wrong-type"


_LONGEST_SHOWN = 24
"""Characters of a text that is shown in a message."""

Shape = Callable[[Field, tuple[str, ...]], Iterator[Fault]]
"""Yields the faults of a value at a path."""


def anything(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    """Take every value."""
    return iter(())


def _typed(noun: str, *kinds: ValueKind) -> Shape:
    def check(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
        if field.kind not in kinds:
            yield Fault(field.range, path, f"must be {noun}, not {found(field)}")

    return check


text = _typed("a text", ValueKind.STRING)
boolean = _typed("true or false", ValueKind.BOOLEAN)
mapping = _typed("a table", ValueKind.INLINE_TABLE)
array = _typed("a list", ValueKind.ARRAY)


def nonempty_text(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    """Take a text with at least one character."""
    yield from text(field, path)
    if field.value == "":
        yield Fault(field.range, path, "must not be empty", "out-of-range")


def number(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    """Take a finite number."""
    is_number = field.kind in (ValueKind.INTEGER, ValueKind.FLOAT)
    if not is_number or field.value - field.value != 0:
        yield Fault(field.range, path, f"must be a number, not {found(field)}")


def positive(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    """Take a whole number above 0; 4.0 is one."""
    if field.kind not in (ValueKind.INTEGER, ValueKind.FLOAT) or field.value != field.value // 1:
        yield Fault(field.range, path, f"must be a whole number, not {found(field)}")
    elif field.value <= 0:
        yield Fault(field.range, path, "must be greater than 0", "out-of-range")


def words(choices: str, *, folds_case: bool = False, pattern: str = "") -> Shape:
    """Take one of some words, or a text that matches `pattern`."""
    known = choices.split()

    def check(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
        word = field.value
        if not isinstance(word, str):
            yield Fault(field.range, path, f"must be one of {', '.join(known)}, not {found(field)}")
        elif (word.lower() if folds_case else word) not in known and not (
            pattern and re.fullmatch(pattern, word)
        ):
            message = f"must be one of {', '.join(known)}; it is {quoted(word)}"
            yield Fault(field.range, path, message, "out-of-range")

    return check


def either(noun: str, *shapes: Shape) -> Shape:
    """Take what one of the shapes takes."""

    def check(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
        if all(any(shape(field, path)) for shape in shapes):
            yield Fault(field.range, path, f"must be {noun}, not {found(field)}")

    return check


def list_of(shape: Shape, *, is_empty: bool = True) -> Shape:
    """Take a list of values of a shape."""

    def check(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
        if field.items is None:
            yield Fault(field.range, path, f"must be a list, not {found(field)}")
            return
        if not field.items and not is_empty:
            yield Fault(field.range, path, "must not be empty", "out-of-range")
        for item in field.items:
            yield from shape(item, path)

    return check


def map_of(shape: Shape) -> Shape:
    """Take a table whose values have a shape, under any name."""

    def check(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
        if field.members is None:
            yield Fault(field.range, path, f"must be a table, not {found(field)}")
            return
        for name, member in field.members.items():
            yield from shape(member, (*path, name))

    return check


def table(
    keys: Mapping[str, Shape], required: tuple[str, ...] = (), *, rejects_unknown: bool = False
) -> Shape:
    """Take a table with some keys, of which others are free unless it `rejects_unknown` ones."""

    def check(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
        if field.members is None:
            yield Fault(field.range, path, f"must be a table, not {found(field)}")
            return
        for name in required:
            if name not in field.members:
                yield Fault(field.key, (*path, name), "is missing", "missing-key")
        for name, member in field.members.items():
            if name in keys:
                yield from keys[name](member, (*path, name))
            elif rejects_unknown:
                yield Fault(member.key, (*path, name), "is not a key here", "unknown-key")

    return check


def found(field: Field) -> str:
    """Return what a value is, for messages."""
    if field.kind is ValueKind.NULL:
        return "empty"
    if field.members is not None:
        return "a table"
    if field.items is not None:
        return "a list"
    if isinstance(field.value, str):
        # A long text may be a secret.
        return quoted(field.value) if len(field.value) <= _LONGEST_SHOWN else "a text"
    return {
        ValueKind.BOOLEAN: str(field.value).lower(),
        ValueKind.DATETIME: "a date",
    }.get(field.kind, f"the number {field.value}")
