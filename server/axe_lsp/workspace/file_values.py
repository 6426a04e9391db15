"""The values of a file that may be half-typed, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from axe_lsp.agentfile.mcp_servers import written_server
from axe_lsp.agentfile.rights import Server, asked_by_server
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested, node_of
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Table, Value, ValueKind
from axe_lsp.agentfile.text.values import decode


class Written(Struct, frozen=True, gc=False):
    """A string of a file, the value of a key or an element of it, and its place, quotes included."""

    value: str
    range: TextRange
    key: KeyPath


class FileValues:
    """The values of a file that may be half-typed."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.has = lookup.has
        self.decoded = lookup.decoded

    def string(self, path: KeyPath) -> Written | None:
        """Return the string that a key is set to. On a line that is broken it is still being typed."""
        value = self.lookup.value(path)
        decoded = self.decoded(path)
        if value is None or not isinstance(decoded, str):
            return None
        is_broken = _is_beside_a_problem(self.lookup.parse, value)
        return None if is_broken else Written(decoded, value.range, path)

    def strings(self, path: KeyPath) -> Sequence[Written]:
        """Return the strings in the array that a key is set to; it may be unfinished."""
        item = self.lookup.find(path)
        if item is None or item.entry.value is None:
            return ()
        value, text = item.entry.value, self.lookup.parse.text
        return self.lookup.once(value, "strings", lambda: tuple(_strings(value, text, path)))

    def names(self, table: KeyPath, among: Sequence[str]) -> Sequence[Written]:
        """Return the names that are keys of a table, with the places of their values."""
        places = ((name, self.lookup.place((*table, name))) for name in among)
        return [Written(name, place, (*table, name)) for name, place in places if place]

    def servers(self) -> Iterator[tuple[Server, TextRange]]:
        """Yield the MCP servers that have a place, and where their address or command stands."""
        if not self.has(_SERVERS):
            return
        tables = self.lookup.tables_alike(_SERVERS)
        found = [self._server(table) for table in tables if _is_server(table)]
        if tables and len(found) == len(tables) and all(each.is_plain for each in found):
            for table, each in zip(tables, found, strict=True):
                if each.asked is not None and each.range is not None:
                    yield each.asked, each.range.moved(table.range.start)
            return
        node = nested(self.lookup, _SERVERS)
        for item in (node.items if node is not None else None) or ():
            members = item.members or {}
            asked, key = _asked(members)
            if asked is not None:
                yield asked, members[key].range

    def _server(self, table: Table) -> _PlainServer:
        text = self.lookup.parse.text
        return self.lookup.once_per_text(
            "asked", table.range.of(text), lambda: _plain_server(table, text)
        )


class _PlainServer(NamedTuple):
    """The rights that a server's text asks for, and the place, from the start of its table."""

    is_plain: bool
    asked: Server | None = None
    range: TextRange | None = None


def _plain_server(table: Table, text: str) -> _PlainServer:
    entries = table.entries
    if not all(
        len(each.key.names) == 1 and each.value is not None and each.value.complete
        for each in entries
    ):
        return _PlainServer(is_plain=False)
    values = {each.key.names[0]: each.value for each in reversed(entries)}
    asked, key = _asked({name: node_of(each, text) for name, each in values.items() if each})
    at = values.get(key)
    return _PlainServer(
        is_plain=True,
        asked=asked,
        range=at.range.moved(-table.range.start) if at is not None else None,
    )


_SERVERS: KeyPath = ("mcp_servers",)


def _asked(members: Mapping[str, Node]) -> tuple[Server | None, str]:
    """Return the rights that a server asks for, None without an address or a command, and the key that says where it is."""
    server = written_server({name: _plain(node) for name, node in members.items()})
    key = "command" if server.is_command else "url"
    return (asked_by_server(server) if server.place and key in members else None), key


def _is_server(table: Table) -> bool:
    """Return whether a server begins with the header of a table."""
    return table.path == _SERVERS and table.is_array and table.complete


def _plain(node: Node) -> Any:
    """Return the strings of a value, of an array of them or of a table of them."""
    if node.members is not None:
        return {name: each.value for name, each in node.members.items()}
    return [each.value for each in node.items] if node.items is not None else node.value


def _is_beside_a_problem(parse: Parse, value: Value) -> bool:
    if not parse.problems:
        return False  # As nearly always, and then nobody may have to know the lines.
    line_of = parse.lines.line_at
    return any(line_of(each.range.start) == line_of(value.range.end) for each in parse.problems)


def _strings(value: Value, text: str, path: KeyPath) -> Iterator[Written]:
    for each in value.items:
        if each.kind is ValueKind.STRING and isinstance(word := decode(text, each), str):
            yield Written(word, each.range, path)
