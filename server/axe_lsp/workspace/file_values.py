"""The values of a file: by its tree, or of a valid file by tomli's values alone, with the places later.

tomli is compiled, our tree is not: the values of a file without problems are known in a fifth of the
time that building the tree takes. The tree is built later, when a position in the file is needed.
What may be wrong is left to check.py, as plain_values.py says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from axe_lsp.agentfile.check.ignores import may_hold_ignores
from axe_lsp.agentfile.check.plain_values import Values, are_plain
from axe_lsp.agentfile.mcp_servers import written_server
from axe_lsp.agentfile.rights import Server, asked_by_server
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested, node_of
from axe_lsp.agentfile.text.parse import Parse, is_prose
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.secrets import find_secrets
from axe_lsp.agentfile.text.toml import parse_tree
from axe_lsp.agentfile.text.toml_values import values_of
from axe_lsp.agentfile.text.tree import Document, Table, Value, ValueKind, walk
from axe_lsp.agentfile.text.values import decode


class ShortenedText(Struct, frozen=True, gc=False):
    """The text of a file, which lacks `removed` characters of a prompt at `cut`."""

    text: str
    cut: int = 0
    removed: int = 0

    def place_of(self, path: KeyPath, index: int | None = None) -> TextRange:
        """Where the whole text has the value of a key, or an element of it. Raises KeyError if it has none."""
        there = _range_in(self.text, path, index)
        return TextRange(self._place(there.start), self._place(there.end))

    def _place(self, offset: int) -> int:
        return offset + self.removed if offset > self.cut else offset


def valid_values(text: str) -> PlainValues | None:
    """A look at the text of an agent file. None if it can't be certain that nothing is wrong with it by itself."""
    if may_hold_ignores(text) or any(find_secrets(text)):
        return None
    shortened_text = shortened(text)
    values = values_of(shortened_text.text)
    if values is None or not are_plain(values):
        return None
    return PlainValues(_with_prompt(values, text, shortened_text), shortened_text)


def _with_prompt(values: Values, text: str, shortened_text: ShortenedText) -> Values:
    """Return the values with the whole prompt, of which the shortened text has what follows the removed prose."""
    if not shortened_text.removed:
        return values
    prose = text[shortened_text.cut : shortened_text.cut + shortened_text.removed]
    prompt = prose.replace("\r\n", "\n").removeprefix("\n") + values[_PROMPT_KEY]
    return {**values, _PROMPT_KEY: prompt}


_PROMPT_KEY = "system_prompt"
_PROMPT = re.compile(r"\nsystem_prompt[ \t]*=[ \t]*(\"\"\"|''')")


def shortened(text: str) -> ShortenedText:
    """Most of a file is its prompt, which is not needed to find a place in the rest."""
    # To look for a text is several times as fast as to look for an expression.
    opening = _PROMPT.match(text, max(0, text.find("\nsystem_prompt")))
    if opening is None or text.count('"""') + text.count("'''") != 2:
        return ShortenedText(text)  # What looks like the key may stand in another string.
    start = opening.end()
    end = text.find(opening[1], start)
    if end < start or not is_prose(text[start:end].replace("\r\n", "\n")):
        return ShortenedText(text)
    return ShortenedText(text[:start] + text[end:], start, end - start)


@lru_cache(maxsize=1)
def _document(text: str) -> Document:
    """The tree of the last text: callers often ask for several places of one file."""
    return parse_tree(text)[0]


@lru_cache(maxsize=10_000)
def _range_in(text: str, path: KeyPath, index: int | None) -> TextRange:
    """Thousands of files may be shown each with the same places in the files around them."""
    for item in walk(_document(text)):
        if item.path == path and item.entry.value is not None:
            value = item.entry.value
            return value.range if index is None else value.items[index].range
    raise KeyError(path)


class Written(Struct, frozen=True, gc=False):
    """A string of a file: the value of a key, or an element of it.

    `there` is its place, or in a valid file the text in which to look for it: there are so many of
    these strings that each is one object.
    """

    value: str
    there: TextRange | ShortenedText
    key: KeyPath
    index: int | None = None

    @property
    def range(self) -> TextRange:
        """The place of the string, quotes included."""
        if isinstance(self.there, TextRange):
            return self.there
        return self.there.place_of(self.key, self.index)


class FileValues(Protocol):
    """The values of a file, whether its tree or only its values are known."""

    def has(self, path: KeyPath) -> bool:
        """Whether the key, or the table of that name, is written at all."""

    def decoded(self, path: KeyPath) -> Any:
        """The value of the key at `path`, or None if it is absent or unfinished."""

    def string(self, path: KeyPath) -> Written | None:
        """The string that a key is set to. On a line that is broken it is still being typed."""

    def strings(self, path: KeyPath) -> Sequence[Written]:
        """The strings in the array that a key is set to; it may be unfinished."""

    def names(self, table: KeyPath, among: Sequence[str]) -> Sequence[Written]:
        """The names that are keys of a table, with the places of their values."""

    def servers(self) -> Iterator[tuple[Server, TextRange]]:
        """The MCP servers that have a place, and where their address or command stands."""


class TreeValues:
    """The values of a file that may be half-typed."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.has = lookup.has
        self.decoded = lookup.decoded

    def string(self, path: KeyPath) -> Written | None:
        value = self.lookup.value(path)
        decoded = self.decoded(path)
        if value is None or not isinstance(decoded, str):
            return None
        is_broken = _is_beside_a_problem(self.lookup.parse, value)
        return None if is_broken else Written(decoded, value.range, path)

    def strings(self, path: KeyPath) -> Sequence[Written]:
        item = self.lookup.find(path)
        if item is None or item.entry.value is None:
            return ()
        value, text = item.entry.value, self.lookup.parse.text
        return self.lookup.once(value, "strings", lambda: tuple(_strings(value, text, path)))

    def names(self, table: KeyPath, among: Sequence[str]) -> Sequence[Written]:
        places = ((name, self.lookup.place((*table, name))) for name in among)
        return [Written(name, place, (*table, name)) for name, place in places if place]

    def servers(self) -> Iterator[tuple[Server, TextRange]]:
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


class PlainValues(Struct, frozen=True):
    """The values of a valid file, and its text without the prose of the prompt."""

    values: Values
    shortened_text: ShortenedText

    def has(self, path: KeyPath) -> bool:
        return self.decoded(path) is not None

    def decoded(self, path: KeyPath) -> Any:
        value: Any = self.values
        for name in path:
            value = value.get(name)
            if value is None:
                return None
        return value

    def string(self, path: KeyPath) -> Written | None:
        value = self.decoded(path)
        return Written(value, self.shortened_text, path) if value is not None else None

    def strings(self, path: KeyPath) -> Sequence[Written]:
        text = self.shortened_text
        values = enumerate(self.decoded(path) or ())
        return [Written(each, text, path, index) for index, each in values]

    def names(self, table: KeyPath, among: Sequence[str]) -> Sequence[Written]:
        values, text = self.decoded(table) or (), self.shortened_text
        return [Written(name, text, (*table, name)) for name in among if name in values]

    def servers(self) -> Iterator[tuple[Server, TextRange]]:
        return iter(())  # A file with servers is not told by its values alone.


_SERVERS: KeyPath = ("mcp_servers",)


def _asked(members: Mapping[str, Node]) -> tuple[Server | None, str]:
    """The rights that a server asks for, None without an address or a command, and the key that says where it is."""
    server = written_server({name: _plain(node) for name, node in members.items()})
    key = "command" if server.is_command else "url"
    return (asked_by_server(server) if server.place and key in members else None), key


def _is_server(table: Table) -> bool:
    """Whether a server begins with the header of a table."""
    return table.path == _SERVERS and table.is_array and table.complete


def _plain(node: Node) -> Any:
    """The strings of a value, of an array of them or of a table of them."""
    if node.members is not None:
        return {name: each.value for name, each in node.members.items()}
    return [each.value for each in node.items] if node.items is not None else node.value


def _is_beside_a_problem(parse: Parse, value: Value) -> bool:
    if not parse.problems:
        return False  # As nearly always, and then nobody may have to know the lines.
    line_of = parse.lines.line_at
    return any(line_of(each.range.start) == line_of(value.range.end) for each in parse.problems)


def _strings(value: Value, text: str, path: KeyPath) -> Iterator[Written]:
    for index, each in enumerate(value.items):
        if each.kind is ValueKind.STRING and isinstance(word := decode(text, each), str):
            yield Written(word, each.range, path, index)
