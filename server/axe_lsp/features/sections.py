"""The tables of a file as a person sees them: `[a.b]` below `[a]` is a part of it.

What the outline, folding and expanding selections have in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Document, Table

_DEEPEST = 16
"""Tables further down stand beside each other: no outline is that deep, and editors recurse."""


class Section(NamedTuple):
    """A table with the tables right below that belong to it.

    `name` is what the header adds to the section around it, in an array of tables with the number
    of the element: `mcp_servers[0]`. `range` ends with the last entry.
    """

    table: Table
    name: str
    range: TextRange
    children: tuple[Section, ...]


def sections(document: Document, text: str) -> tuple[Section, ...]:
    """Return the sections of a file. Entries above the first header belong to none."""
    return _Reader(document, text).below((), depth=0)


def every(found: tuple[Section, ...]) -> Iterator[Section]:
    """Yield sections and all their children, outer ones first."""
    for section in found:
        yield section
        yield from every(section.children)


class _Reader:
    """One pass over the headers. `_next` is the first one that is not in a section yet."""

    def __init__(self, document: Document, text: str) -> None:
        self._tables = document.tables
        self._text = text
        self._next = 1
        self._last: dict[tuple[str | int, ...], int] = {}

    def below(self, path: KeyPath, depth: int) -> tuple[Section, ...]:
        """Return the sections from here on that belong to the one at `path`."""
        found: list[Section] = []
        while self._next < len(self._tables):
            table = self._tables[self._next]
            if depth > 0 and not _is_below(table.path, path):
                break
            self._next += 1
            name = self._name(table, path)
            children = self.below(table.path, depth + 1) if depth < _DEEPEST else ()
            found.append(Section(table, name, _extent(table, children), children))
        return tuple(found)

    def _name(self, table: Table, parent: KeyPath) -> str:
        if table.header is None or not table.header.parts:
            return table.header_range.of(self._text)  # A bracket that waits for a name.
        own = table.header.parts[len(parent) :] or table.header.parts
        name = TextRange(own[0].range.start, table.header.range.end).of(self._text)
        return f"{name}[{self._count(table.path)}]" if table.is_array else name

    def _count(self, path: KeyPath) -> int:
        """Return the number of this element in its array, which may lie in an element of another one."""
        place: tuple[str | int, ...] = ()
        for name in path[:-1]:
            place = (*place, name)
            if place in self._last:
                place = (*place, self._last[place])
        place = (*place, path[-1])
        self._last[place] = self._last.get(place, -1) + 1
        return self._last[place]


def _is_below(path: KeyPath, parent: KeyPath) -> bool:
    return len(path) > len(parent) and path[: len(parent)] == parent


def _extent(table: Table, children: tuple[Section, ...]) -> TextRange:
    if children:
        return TextRange(table.header_range.start, children[-1].range.end)
    last = table.entries[-1].range.end if table.entries else table.header_range.end
    return TextRange(table.header_range.start, last)
