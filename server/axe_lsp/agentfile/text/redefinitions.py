"""Keys and tables that are written twice, or once as one thing and once as another.

TOML forbids it (1.1, "Keys" and "Table"). tomli stops at the first one; this finds them all, and
says what each one redefinitions with. What is half-typed redefinitions with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto

from msgspec import Struct, field

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Document, Entry, KeyPart, Table, Value, ValueKind


def redefinitions(document: Document) -> Iterator[tuple[TextRange, str]]:
    """Yield every later one of two that clash, in written order, and what it redefinitions with."""
    root = _Node(_Origin.HEADER)
    for table in document.tables:
        node: _Node | str = root
        if table.header is not None and not table.complete:
            continue
        if table.header is not None:
            node = _enter_header(root, table, table.header.parts)
            if isinstance(node, str):
                yield table.header.range, node
                continue
        assert isinstance(node, _Node)
        yield from _entries(node, table.entries)


class _Origin(Enum):
    """The kind of statement that defined a name."""

    HEADER = auto()
    PARENT_OF_HEADER = auto()
    DOTTED_KEY = auto()
    ARRAY_OF_HEADERS = auto()
    VALUE = auto()


class _Node(Struct):
    """The current meaning of a name; an array of tables has the members of its last table."""

    origin: _Origin
    kind: ValueKind | None = None
    members: dict[str, _Node] = field(default_factory=dict)


def _enter_header(root: _Node, table: Table, parts: Sequence[KeyPart]) -> _Node | str:
    """Return the table below a header, or what the header redefinitions with."""
    here = root
    *front, last = parts
    for index, part in enumerate(front):
        here = here.members.setdefault(part.name, _Node(_Origin.PARENT_OF_HEADER))
        if here.origin is _Origin.VALUE:
            return _no_table(_dotted(parts[: index + 1]), here)
    known = here.members.get(last.name)
    origin = _Origin.ARRAY_OF_HEADERS if table.is_array else _Origin.HEADER
    if known is None or (table.is_array and known.origin is origin):
        here.members[last.name] = _Node(origin)
        return here.members[last.name]
    if known.origin is _Origin.PARENT_OF_HEADER and not table.is_array:
        known.origin = origin
        return known
    return _not_again(_dotted(parts), known, is_array=table.is_array)


def _entries(table: _Node, entries: Sequence[Entry]) -> Iterator[tuple[TextRange, str]]:
    for entry in entries:
        if entry.value is None or not entry.value.complete or not entry.key.parts:
            continue
        message = _put(table, entry.key.parts, entry.value)
        if message is not None:
            yield entry.key.range, message
        yield from _inside(entry.value)


def _inside(value: Value) -> Iterator[tuple[TextRange, str]]:
    for item in value.items:
        yield from _inside(item)
    yield from _entries(_Node(_Origin.VALUE), value.entries)


def _put(table: _Node, parts: Sequence[KeyPart], value: Value) -> str | None:
    """Set a key; returns what it redefinitions with, if it does."""
    here = table
    *front, last = parts
    for index, part in enumerate(front):
        here = here.members.setdefault(part.name, _Node(_Origin.DOTTED_KEY))
        if here.origin is not _Origin.DOTTED_KEY:
            return _no_table(_dotted(parts[: index + 1]), here)
    known = here.members.get(last.name)
    if known is None:
        here.members[last.name] = _Node(_Origin.VALUE, value.kind)
        return None
    name = _dotted(parts)
    if known.origin is _Origin.VALUE:
        return f"the key `{name}` is already set above"
    return f"`{name}` is already a table above, so it can't have a value"


def _not_again(name: str, known: _Node, *, is_array: bool) -> str:
    """Return why no header can begin the table that is `known`."""
    if known.origin is _Origin.VALUE:
        return _no_table(name, known)
    if known.origin is _Origin.DOTTED_KEY:
        example = next(iter(known.members), "…")
        return f"the table `{name}` is already begun above, by a key like `{name}.{example}`"
    if is_array:
        return f"`{name}` is already a table above, so it can't be an array of tables"
    if known.origin is _Origin.ARRAY_OF_HEADERS:
        return f"`{name}` is already an array of tables above: each one begins with `[[{name}]]`"
    return f"the table `{name}` is already defined above"


def _no_table(name: str, known: _Node) -> str:
    """Return why nothing can be added to what is `known`."""
    if known.kind is ValueKind.INLINE_TABLE:
        return (
            f"the table `{name}` is already written in braces above, and can't grow outside of them"
        )
    if known.kind is ValueKind.ARRAY:
        return f"`{name}` is already written in brackets above; further tables belong in there"
    if known.origin is not _Origin.VALUE:
        return f"the table `{name}` already has a header above; its keys belong below that"
    return f"`{name}` already has a value above, so it can't be a table"


def _dotted(parts: Sequence[KeyPart]) -> str:
    return ".".join(part.name for part in parts)
