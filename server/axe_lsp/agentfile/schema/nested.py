"""The value of a key as one tree, wherever its parts are written.

TOML lets a table grow below several headers, through dotted keys and inline. A caller
that needs a deep value, such as a JSON Schema, gets it here in one piece, with ranges. Unfinished
parts are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Entry, KeyPart, Table, Value, ValueKind
from axe_lsp.agentfile.text.values import decode


class Node(Struct, gc=False):
    """A table (`members`), an array (`items`) or another value.

    `range` is what to point at: the value, or the name of a table that has a header or dotted keys.
    """

    range: TextRange
    value: Any = None
    members: dict[str, Node] | None = None
    items: list[Node] | None = None

    @property
    def is_json(self) -> bool:
        """Whether JSON has such a value; it knows neither dates nor infinities."""
        if isinstance(self.value, float):
            return self.value - self.value == 0
        return not isinstance(self.value, date | time)


ELSEWHERE = TextRange(-1, -1)
"""The range of a node of a merged tree that no table of the file itself holds."""


def merged(own: Node, below: Node, place: TextRange = ELSEWHERE) -> Node:
    """Return the tree of a file merged over that of another one: tables by key, of all else the file's own value.

    Nodes of the other file get the range of the file's own table that they are in, at the top ELSEWHERE.
    """
    if own.members is None or below.members is None:
        return own
    members = {
        name: merged(own.members[name], node, own.members[name].range)
        if name in own.members
        else _moved_to(node, place)
        for name, node in below.members.items()
    }
    members.update({name: node for name, node in own.members.items() if name not in members})
    return Node(own.range, members=members)


def _moved_to(node: Node, place: TextRange) -> Node:
    """Return the same tree, all of it at one range."""
    members, items = node.members, node.items
    return Node(
        place,
        node.value,
        {name: _moved_to(each, place) for name, each in members.items()}
        if members is not None
        else None,
        [_moved_to(each, place) for each in items] if items is not None else None,
    )


def nested(lookup: Lookup, path: KeyPath) -> Node | None:
    """Return the value of the key at `path`, as far as it is written. It is made once, and not to be changed."""
    return lookup.made_once("nested", path, lambda: _nested(lookup, path))


def nested_in(tables: Iterable[Table], text: str) -> Node:
    """Return the whole tree of some tables, as if there were no others."""
    root = Node(TextRange(0, 0), members={})
    for table in tables:
        if table.complete:
            parts = table.header.parts if table.header is not None else ()
            here = _table(root, parts, is_array=table.is_array)
            for entry in table.entries if here is not None else ():
                _put(here or root, entry, text)
    return root


def _nested(lookup: Lookup, path: KeyPath) -> Node | None:
    if len(path) == 1 and not lookup.parse.problems:
        value = lookup.value(path)
        if value is not None:  # It is written in one piece.
            return node_of(value, lookup.parse.text)
    root = Node(TextRange(0, 0), members={})
    for table in lookup.parse.document.tables:
        above = table.path
        if above[: len(path)] != path[: len(above)] or not table.complete:
            continue
        parts = table.header.parts if table.header is not None else ()
        here = _table(root, parts, is_array=table.is_array)
        if here is None:
            continue
        below = path[len(above) :]
        for entry in table.entries:
            names = entry.key.names
            if names[: len(below)] == below[: len(names)]:
                _put(here, entry, lookup.parse.text)
    return _find(root, path)


def _table(parent: Node, parts: Sequence[KeyPart], *, is_array: bool = False) -> Node | None:
    """Return the table that a header or the front of a dotted key names; None if it is something else."""
    here = parent
    for index, part in enumerate(parts):
        if here.members is None:
            return None
        is_element = is_array and index == len(parts) - 1
        below = here.members.get(part.name)
        if below is None:
            fresh = Node(part.range, items=[]) if is_element else Node(part.range, members={})
            below = here.members[part.name] = fresh
        if is_element and below.items is not None:
            below.items.append(Node(part.range, members={}))
        here = below.items[-1] if below.items else below
    return here


def _put(parent: Node, entry: Entry, text: str) -> None:
    names, value = entry.key.names, entry.value
    if not names or value is None or not value.complete:
        return
    table = parent if len(names) == 1 else _table(parent, entry.key.parts[:-1])
    if table is not None and table.members is not None and names[-1] not in table.members:
        table.members[names[-1]] = node_of(value, text)


def node_of(value: Value, text: str) -> Node:
    """Return the tree of one finished value."""
    if value.kind is ValueKind.ARRAY:
        return Node(value.range, items=[node_of(item, text) for item in value.items])
    if value.kind is ValueKind.INLINE_TABLE:
        node = Node(value.range, members={})
        for entry in value.entries:
            _put(node, entry, text)
        return node
    return Node(value.range, decode(text, value))


def _find(root: Node, path: KeyPath) -> Node | None:
    here: Node | None = root
    for name in path:
        here = member_of(here, name)
    return here


def member_of(node: Node | None, name: str) -> Node | None:
    """Return the value of a key of a table."""
    return node.members.get(name) if node is not None and node.members is not None else None


def tables_of(node: Node | None, name: str) -> list[Node]:
    """Return the tables in the array of a key."""
    value = member_of(node, name)
    found = (value.items if value is not None else None) or ()
    return [each for each in found if each.members is not None]


def text_of(node: Node | None) -> str:
    """Return the text that a value is, or ""."""
    return node.value if node is not None and isinstance(node.value, str) else ""


def texts_of(node: Node | None) -> Iterator[str]:
    """Yield the text that a value is, or those of an array."""
    if node is not None:
        yield from (each.value for each in node.items or [node] if isinstance(each.value, str))
