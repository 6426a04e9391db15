"""The outline of a file: tables, keys, and what they are set to in short."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from axe_lsp.agentfile.check.secret_values import without_secret_values
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Entry, Value, ValueKind
from axe_lsp.agentfile.text.values import content_range
from axe_lsp.features.sections import Section, sections
from axe_lsp.workspace.agent_file import AgentFile

_LINE = re.compile(r"\S[^\r\n]*")

_WIDTH = 60
"""Characters of a value that an outline has room for."""

_MOST_ELEMENTS = 100
"""Elements of one array that are worth a line each."""

_DEEPEST = 16
"""Values nested deeper have no lines of their own; editors walk outlines recursively."""


class SymbolKind(Enum):
    """The kind of a line of the outline; editors show an icon for it."""

    TABLE = "table"
    ARRAY = "array"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    KEY = "key"
    """Without a value that could be told."""


class Symbol(Struct, frozen=True):
    """A line of the outline. `selection` is the name in the text, `range` all that belongs to it."""

    name: str
    kind: SymbolKind
    detail: str
    range: TextRange
    selection: TextRange
    children: tuple[Symbol, ...] = ()


def document_symbols(file: AgentFile) -> tuple[Symbol, ...]:
    """Return the outline of an open file."""
    if file.open is None:
        return ()
    text, document = without_secret_values(file.open), file.open.parse.document
    keys = _of_entries(text, document.tables[0].entries, depth=0)
    return (*keys, *(_of_section(text, each) for each in sections(document, text)))


def _of_section(text: str, section: Section) -> Symbol:
    table = section.table
    selection = table.header_range
    if table.header is not None and table.header.parts:
        selection = table.header.range
    return Symbol(
        section.name,
        SymbolKind.TABLE,
        _first_value(text, table.entries) if table.is_array else "",
        section.range,
        selection,
        (
            *_of_entries(text, table.entries, depth=0),
            *(_of_section(text, each) for each in section.children),
        ),
    )


def _of_entries(text: str, entries: Iterable[Entry], depth: int) -> Iterator[Symbol]:
    for entry in entries:
        name = entry.key.range.of(text)
        if name:  # Half-typed entries may have none, and editors drop outlines that hold one.
            said = _of_value(text, entry.value)
            yield Symbol(
                name, *said, entry.range, entry.key.range, _parts(text, entry.value, depth)
            )


def _of_value(text: str, value: Value | None) -> tuple[SymbolKind, str]:
    return (_KINDS[value.kind], _short(text, value)) if value is not None else (SymbolKind.KEY, "")


def _parts(text: str, value: Value | None, depth: int) -> tuple[Symbol, ...]:
    if value is None or depth == _DEEPEST:
        return ()
    elements = enumerate(value.items[:_MOST_ELEMENTS])
    return (
        *_of_entries(text, value.entries, depth + 1),
        *(_of_element(text, index, item, depth + 1) for index, item in elements),
    )


def _of_element(text: str, index: int, item: Value, depth: int) -> Symbol:
    name = _content(text, item) if item.kind is ValueKind.STRING else ""
    if name:
        return Symbol(name, SymbolKind.STRING, "", item.range, item.range)
    said = _of_value(text, item)
    return Symbol(f"[{index}]", *said, item.range, item.range, _parts(text, item, depth))


_KINDS = {
    ValueKind.STRING: SymbolKind.STRING,
    ValueKind.INTEGER: SymbolKind.NUMBER,
    ValueKind.FLOAT: SymbolKind.NUMBER,
    ValueKind.BOOLEAN: SymbolKind.BOOLEAN,
    ValueKind.DATETIME: SymbolKind.STRING,
    ValueKind.ARRAY: SymbolKind.ARRAY,
    ValueKind.INLINE_TABLE: SymbolKind.TABLE,
    ValueKind.NULL: SymbolKind.KEY,
    ValueKind.INVALID: SymbolKind.KEY,
}


def _first_value(text: str, entries: tuple[Entry, ...]) -> str:
    """Return the label of an element of an array, mostly a name."""
    value = entries[0].value if entries else None
    return _short(text, value) if value is not None else ""


def _short(text: str, value: Value) -> str:
    if value.kind is ValueKind.STRING:
        return _content(text, value)
    if value.kind is ValueKind.ARRAY:
        return _list_of(text, value.items)
    if value.kind is ValueKind.INLINE_TABLE:
        return ""  # Its keys are lines of their own.
    return _cut(value.range.of(text))


def _list_of(text: str, items: tuple[Value, ...]) -> str:
    """Return the elements, or how many there are where that takes too long to say."""
    shown = [_short(text, item) or "…" for item in items[:_MOST_ELEMENTS]]
    listed = ", ".join(shown)
    return listed if len(items) == len(shown) and len(listed) <= _WIDTH else f"{len(items)} items"


def _content(text: str, value: Value) -> str:
    """Return the first line of a string that says something."""
    match = _LINE.search(text, *content_range(text, value))
    return _cut(match.group().rstrip()) if match is not None else ""


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1].rstrip() + "…"
