"""Finding keys in a parsed file by their path, and reading what they are set to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

from axe_lsp.agentfile.parse import Parse
from axe_lsp.agentfile.schema import AGENT, KeyPath, Schema
from axe_lsp.agentfile.text import TextRange
from axe_lsp.agentfile.tree import Entry, Located, Value, walk
from axe_lsp.agentfile.values import decode


class Lookup:
    """The keys of one parse, and the schema that they follow.

    Where a key is set twice, the first one counts.
    """

    def __init__(self, parse: Parse, schema: Schema = AGENT) -> None:
        self.parse = parse
        self.schema = schema
        self.located = tuple(walk(parse.document))
        self._by_path: dict[KeyPath, Located] = {}
        for item in self.located:
            self._by_path.setdefault(item.path, item)

    def find(self, path: KeyPath) -> Located | None:
        """The key at `path`, if it is written."""
        return self._by_path.get(path)

    def value(self, path: KeyPath) -> Value | None:
        """The finished value of the key at `path`."""
        item = self._by_path.get(path)
        value = item.entry.value if item is not None else None
        return value if value is not None and value.complete else None

    def decoded(self, path: KeyPath) -> Any:
        """What the key at `path` is set to, or None if it is absent or unfinished."""
        value = self.value(path)
        return decode(self.parse.text, value) if value is not None else None

    def has(self, path: KeyPath) -> bool:
        """Whether the key, or the table of that name, is written at all, dotted keys included."""
        return path in self.paths

    def statement_at(self, offset: int) -> Entry | None:
        """The `key = value` that holds `offset`, of a table and not of a table within a value."""
        return part_at(self._statements, offset)

    def place(self, path: KeyPath) -> TextRange | None:
        """The name of the key or table where it is written first, in a header or before a value."""
        if not self.has(path):
            return None
        for table in self.parse.document.tables:
            if table.header is not None and table.path[: len(path)] == path:
                return table.header.parts[len(path) - 1].range
        for item in self.located:
            own = len(path) - 1 - len(item.path) + len(item.entry.key.parts)
            if own >= 0 and item.path[: len(path)] == path:
                return item.entry.key.parts[own].range
        return None

    @cached_property
    def _statements(self) -> Sequence[Entry]:
        """Every entry of a table, in written order."""
        return [entry for table in self.parse.document.tables for entry in table.entries]

    @cached_property
    def paths(self) -> frozenset[KeyPath]:
        """Every key and table that is written, and the tables that they imply."""
        headers = [table.path for table in self.parse.document.tables if table.header is not None]
        paths = {*self._by_path, *headers}
        implied = [path[:end] for path in paths for end in range(1, len(path))]
        return frozenset(paths.union(implied))


_Part = TypeVar("_Part", Entry, Value)


def part_at(parts: Sequence[_Part], offset: int) -> _Part | None:
    """Which of several entries or values, in written order, holds `offset`."""
    index = bisect_right(parts, offset, key=lambda part: part.range.start) - 1
    return parts[index] if index >= 0 and offset < parts[index].range.end else None
