"""The nodes of a TOML document, each with the range that it covers.

The tree describes what is written, finished or not: a value may be missing, a string or an array may
lack its end. A keystroke makes thousands of nodes: structs are made in a third of the time that named
tuples take, and as none leads back to itself the garbage collector need not know them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange


class ValueKind(Enum):
    """The TOML type of a value. The value of each member is the name that users see."""

    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATETIME = "date or time"
    ARRAY = "array"
    INLINE_TABLE = "inline table"
    INVALID = "invalid value"


class KeyPart(Struct, frozen=True, gc=False):
    """One part of a dotted key. `name` is unquoted."""

    range: TextRange
    name: str


class Key(Struct, frozen=True, gc=False):
    """A key as written, `a."b c".d`. An unfinished key keeps the parts that are there.

    `names` are those of the parts: a keystroke asks for them a dozen times.
    """

    range: TextRange
    parts: tuple[KeyPart, ...]
    names: tuple[str, ...]


class Value(Struct, frozen=True, gc=False):
    """A value. `items` are an array's, `entries` an inline table's; `complete` means closed."""

    range: TextRange
    kind: ValueKind
    complete: bool = True
    items: tuple[Value, ...] = ()
    entries: tuple[Entry, ...] = ()


class Entry(Struct, frozen=True, gc=False):
    """`key = value`. Without a value the entry is half-typed; `range` ends where it was left."""

    range: TextRange
    key: Key
    value: Value | None


class Table(Struct, frozen=True, gc=False):
    """A `[header]` and the entries below it. The first table of a document has no header.

    `range` runs from the header to the next header. An unfinished header has `complete` False.
    """

    range: TextRange
    header: Key | None
    header_range: TextRange
    is_array: bool
    complete: bool
    entries: tuple[Entry, ...]

    @property
    def path(self) -> tuple[str, ...]:
        return self.header.names if self.header is not None else ()


class Document(Struct, frozen=True, gc=False):
    """The tables in the order in which they are written; the first one is the root."""

    tables: tuple[Table, ...]
    comments: tuple[TextRange, ...]


class Located(Struct, frozen=True, gc=False):
    """An entry and the full path of its key, tables included.

    Keys inside arrays of tables carry the path without the index.
    """

    path: tuple[str, ...]
    entry: Entry
    table: Table


def walk(document: Document) -> Iterator[Located]:
    """Every entry with its path, in written order; entries of inline tables follow their table."""
    for table in document.tables:
        yield from _walk(table.path, table.entries, table)


def _walk(prefix: tuple[str, ...], entries: tuple[Entry, ...], table: Table) -> Iterator[Located]:
    for entry in entries:
        path = prefix + entry.key.names
        yield Located(path, entry, table)
        value = entry.value
        if value is None:
            continue
        if value.entries:
            yield from _walk(path, value.entries, table)
        for item in value.items:
            if item.entries:
                yield from _walk(path, item.entries, table)
