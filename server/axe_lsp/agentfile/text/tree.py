"""The nodes of a TOML document, each with the range that it covers.

The tree describes what is written, finished or not: a value may be missing, a string or an array may
lack its end. A keystroke makes thousands of nodes: structs are made in a third of the time that named
tuples take, and as none leads back to itself the garbage collector need not know them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from msgspec import UNSET, Struct

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
    NULL = "null"
    """Only in YAML."""
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
    """A value. `items` are an array's, `entries` an inline table's; `complete` means closed.

    `decoded` is what it means, in YAML; TOML's is read from the text when it is needed. The mappings of YAML are inline
    tables, whose entries may stand on lines of their own.
    """

    range: TextRange
    kind: ValueKind
    complete: bool = True
    items: tuple[Value, ...] = ()
    entries: tuple[Entry, ...] = ()
    decoded: Any = UNSET


class Entry(Struct, frozen=True, gc=False):
    """`key = value`. Without a value the entry is half-typed; `range` ends where it was left."""

    range: TextRange
    key: Key
    value: Value | None


class Body(Struct):
    """The header and the entries of a table, with the positions where they were read, and the paths of the entries."""

    header: Key | None
    entries: tuple[Entry, ...]
    paths: tuple[tuple[str, ...], ...] | None = None


class Table(Struct, eq=False):
    """A `[header]` and the entries below it. The first table of a document has no header.

    `range` runs from the header to the next header. An unfinished header has `complete` False. It is not to be
    changed. Where an edit has moved it `by` some characters, its nodes are made when they are asked for: of thousands
    of tables few are.
    """

    range: TextRange
    header_range: TextRange
    is_array: bool
    complete: bool
    path: tuple[str, ...]
    body: Body
    by: int = 0
    _header: Key | None = None
    _entries: tuple[Entry, ...] | None = None
    _located: tuple[Located, ...] | None = None

    @property
    def header(self) -> Key | None:
        if not self.by or self.body.header is None:
            return self.body.header
        if self._header is None:
            self._header = _moved_key(self.body.header, self.by)
        return self._header

    @property
    def entries(self) -> tuple[Entry, ...]:
        if not self.by:
            return self.body.entries
        if self._entries is None:
            self._entries = tuple(_moved_entry(each, self.by) for each in self.body.entries)
        return self._entries

    def strings(self) -> Iterator[TextRange]:
        """Yield the ranges of the entries' string values."""
        for each in self.body.entries:
            value = each.value
            if value is not None and value.kind is ValueKind.STRING:
                yield value.range.moved(self.by) if self.by else value.range

    @property
    def located(self) -> tuple[Located, ...]:
        """Every entry with its path, in written order; entries of inline tables follow their table."""
        if self._located is None:
            self._located = tuple(
                Located(path, entry, self) for path, entry in _walk(self.path, self.entries)
            )
        return self._located

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The paths of `located`, wherever the table has been moved to."""
        if self.body.paths is None:
            self.body.paths = tuple(path for path, _ in _walk(self.path, self.body.entries))
        return self.body.paths

    def with_entries(self, where: TextRange, entries: tuple[Entry, ...]) -> Table:
        """Return the same header with other entries below; all of it is at `where`."""
        body = Body(self.header, entries)
        return Table(where, self.header_range, self.is_array, self.complete, self.path, body)

    def moved(self, by: int) -> Table:
        """Return the same table where it stands `by` characters later."""
        if by == 0:
            return self
        return Table(
            self.range.moved(by),
            self.header_range.moved(by),
            self.is_array,
            self.complete,
            self.path,
            self.body,
            self.by + by,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash((self.range, self.path))

    @property
    def _parts(self) -> tuple[object, ...]:
        return (
            self.range,
            self.header,
            self.header_range,
            self.is_array,
            self.complete,
            self.entries,
        )


class Document(Struct, frozen=True, gc=False):
    """The tables in the order in which they are written; the first one is the root.

    It `is_doubtful` if the end of a string may be taken for the start of one, which depends on all of the text.
    """

    tables: tuple[Table, ...]
    comments: tuple[TextRange, ...]
    is_doubtful: bool = False


class Located(Struct, frozen=True, gc=False):
    """An entry and the full path of its key, tables included.

    Keys inside arrays of tables carry the path without the index.
    """

    path: tuple[str, ...]
    entry: Entry
    table: Table


def walk(document: Document) -> Iterator[Located]:
    """Yield every entry with its path, in written order; entries of inline tables follow their table."""
    for table in document.tables:
        yield from table.located


def _walk(
    prefix: tuple[str, ...], entries: tuple[Entry, ...]
) -> Iterator[tuple[tuple[str, ...], Entry]]:
    for entry in entries:
        yield from walk_entry(prefix + entry.key.names, entry)


def walk_entry(path: tuple[str, ...], entry: Entry) -> Iterator[tuple[tuple[str, ...], Entry]]:
    """Yield an entry whose key is at `path`, and those of its inline tables, each with its path."""
    yield path, entry
    value = entry.value
    if value is None:
        return
    if value.entries:
        yield from _walk(path, value.entries)
    for item in value.items:
        if item.entries:
            yield from _walk(path, item.entries)


def _moved_entry(entry: Entry, by: int) -> Entry:
    value = entry.value
    return Entry(
        entry.range.moved(by),
        _moved_key(entry.key, by),
        _moved_value(value, by) if value is not None else None,
    )


def _moved_key(key: Key, by: int) -> Key:
    parts = tuple([KeyPart(each.range.moved(by), each.name) for each in key.parts])
    return Key(key.range.moved(by), parts, key.names)


def _moved_value(value: Value, by: int) -> Value:
    items, entries = value.items, value.entries
    return Value(
        value.range.moved(by),
        value.kind,
        value.complete,
        tuple([_moved_value(each, by) for each in items]) if items else (),
        tuple([_moved_entry(each, by) for each in entries]) if entries else (),
        value.decoded,
    )
