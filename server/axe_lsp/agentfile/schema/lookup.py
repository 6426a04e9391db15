"""Finding keys in a parsed file by their path, and reading what they are set to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.key_spec import KeyPath, Schema
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.secrets import Secret, find_secrets
from axe_lsp.agentfile.text.toml import MAX_NESTING
from axe_lsp.agentfile.text.tree import Entry, KeyPart, Located, Table, Value, walk
from axe_lsp.agentfile.text.values import decode

Found = TypeVar("Found")


class Lookup:
    """The keys of one parse, and the schema that they follow.

    Where a key is set twice, the first one counts. `before` is the one of the parse that was handed
    to the parse.
    """

    def __init__(self, parse: Parse, schema: Schema = AGENT, before: Lookup | None = None) -> None:
        self.parse = parse
        self.schema: Schema = schema
        if before is not None and before.schema is not schema:
            before = None  # The file is of another kind now.
        self._places: dict[KeyPath, tuple[Table, int]] = {}
        for table in parse.document.tables:
            for index, path in enumerate(table.paths):
                if path not in self._places:
                    self._places[path] = table, index
        self._found: dict[tuple[int, str], tuple[Value, Any]] = {}
        self._found_before = before._found if before is not None else {}
        self._said: dict[tuple[str, str], tuple[Any]] = {}
        self._said_before = before._said if before is not None else {}
        self._made: dict[tuple[str, KeyPath], Any] = {}
        self.secrets = self._secrets(before)
        """The texts that look like an API key, in written order."""

    @cached_property
    def located(self) -> Sequence[Located]:
        """Every entry with its path, in written order."""
        return tuple(walk(self.parse.document))

    def find(self, path: KeyPath) -> Located | None:
        """Return the key at `path`, if it is written."""
        place = self._places.get(path)
        return place[0].located[place[1]] if place is not None else None

    def value(self, path: KeyPath) -> Value | None:
        """Return the finished value of the key at `path`."""
        item = self.find(path)
        value = item.entry.value if item is not None else None
        return value if value is not None and value.complete else None

    def decoded(self, path: KeyPath) -> Any:
        """Return the value of the key at `path`, or None if it is absent or unfinished."""
        value = self.value(path)
        return decode(self.parse.text, value) if value is not None else None

    def path_of(self, entry: Entry) -> KeyPath:
        """Return the full path of an entry of this document."""
        return self._paths_of_entries[id(entry)]

    def has(self, path: KeyPath) -> bool:
        """Return whether the key, or the table of that name, is written at all, dotted keys included."""
        return path in self.paths

    def once(self, value: Value, what: str, find: Callable[[], Found]) -> Found:
        """Return the result of `find`, which depends on a value and the key alone; kept while they stay.

        For long arrays: while they stay as they are, not each keystroke has to look through them.
        """
        key = (id(value), what)
        # The value is held on to, so nothing else can have its id.
        known = self._found.get(key) or self._found_before.get(key) or (value, find())
        self._found[key] = known
        found: Found = known[1]
        return found

    def once_per_text(self, what: str, text: str, find: Callable[[], Found]) -> Found:
        """Return the result of `find`, which depends on a statement's or table's own text alone; kept while there is such a text.

        For tables by the thousand: where one is written, what is above it may have moved it.
        """
        if self.parse.problems and ('"""' in text or "'''" in text):
            return find()  # Where a string ends may depend on others that have no end.
        key = (what, text)
        known = self._said.get(key) or self._said_before.get(key) or (find(),)
        self._said[key] = known
        found: Found = known[0]
        return found

    def made_once(self, what: str, path: KeyPath, make: Callable[[], Found]) -> Found:
        """Return the result of `make`, which depends on the parse and a path alone."""
        key = (what, path)
        if key not in self._made:
            self._made[key] = make()
        made: Found = self._made[key]
        return made

    @cached_property
    def names_at_top(self) -> frozenset[str]:
        """The names of the keys and tables at the top of the file."""
        return frozenset(path[0] for path in self.paths if path)

    def statement_at(self, offset: int) -> Entry | None:
        """Return the `key = value` that holds `offset`, of a table and not of a table within a value."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or offset >= self._statements[index].range.end:
            return None
        return self._statements[index]

    def place(self, path: KeyPath) -> TextRange | None:
        """Return the name of the key or table where it is written first, in a header or before a value."""
        if not self.has(path):
            return None
        for table in self.parse.document.tables:
            if table.path[: len(path)] == path and table.header is not None:
                return table.header.parts[len(path) - 1].range
        for item in self.located:
            own = len(path) - 1 - len(item.path) + len(item.entry.key.parts)
            if own >= 0 and item.path[: len(path)] == path:
                return item.entry.key.parts[own].range
        return None

    def names_below(self, table: KeyPath) -> list[KeyPart]:
        """Return the parts of headers and keys that name something directly below a table, in written order."""
        tables = self.tables_alike(table)
        keys = [each.header for each in tables if each.header is not None]
        paths = [(key.names, key.parts) for key in keys]
        paths += [
            (item.path, item.entry.key.parts) for item in self.located if item.path[:1] == table[:1]
        ]
        found = []
        for path, parts in paths:
            index = len(table) - (len(path) - len(parts))
            if path[: len(table)] == table and 0 <= index < len(parts):
                found.append(parts[index])
        return sorted(found, key=lambda part: part.range)

    def _secrets(self, before: Lookup | None) -> tuple[Secret, ...]:
        text, changed = self.parse.text, self.parse.changed
        if before is None or changed is None:
            return tuple(sorted(find_secrets(text)))
        # None of them goes beyond a line.
        found = sorted(find_secrets(text[changed.start : changed.end]))
        known = before.secrets
        above = bisect_left(known, changed.start, key=_start)
        below = bisect_left(known, changed.old_end, above, key=_start)
        return (
            *known[:above],
            *(each.moved(changed.start) for each in found),
            *(each.moved(changed.shift) for each in known[below:]),
        )

    def tables_alike(self, path: KeyPath) -> Sequence[Table]:
        """Return the tables whose path begins with the same name as `path`, in written order."""
        return self._tables_alike.get(path[:1], ())

    def entries_alike(self, path: KeyPath) -> Sequence[tuple[Table, Entry]]:
        """Return the entries whose path does, with their tables."""
        return self._entries_alike.get(path[:1], ())

    @cached_property
    def _paths_of_entries(self) -> Mapping[int, KeyPath]:
        return {id(each.entry): each.path for each in self.located}

    @cached_property
    def _tables_alike(self) -> Mapping[KeyPath, Sequence[Table]]:
        alike: defaultdict[KeyPath, list[Table]] = defaultdict(list)
        for table in self.parse.document.tables:
            alike[table.path[:1]].append(table)
        return alike

    @cached_property
    def _entries_alike(self) -> Mapping[KeyPath, Sequence[tuple[Table, Entry]]]:
        alike: defaultdict[KeyPath, list[tuple[Table, Entry]]] = defaultdict(list)
        for table in self.parse.document.tables:
            for entry in table.entries:
                alike[(table.path or entry.key.names)[:1]].append((table, entry))
        return alike

    @cached_property
    def _statements(self) -> Sequence[Entry]:
        """Every entry of a table, in written order."""
        return [entry for table in self.parse.document.tables for entry in table.entries]

    @cached_property
    def _starts(self) -> Sequence[int]:
        """Where they begin: a thousand findings look there, each a dozen times."""
        return [each.range.start for each in self._statements]

    @cached_property
    def paths(self) -> frozenset[KeyPath]:
        """Every key and table that is written, and the tables that they imply, as deep as values nest.

        A dotted key of thousands of parts would otherwise imply millions.
        """
        headers = [table.path for table in self.parse.document.tables if table.path]
        paths = {*self._places, *headers}
        for path in tuple(paths):
            implied = path[: min(len(path) - 1, MAX_NESTING)]
            while implied and implied not in paths:
                paths.add(implied)
                implied = implied[:-1]
        return frozenset(paths)


_Part = TypeVar("_Part", Entry, Value, Secret)


def part_at(parts: Sequence[_Part], offset: int) -> _Part | None:
    """Return which of several parts of a text, in written order, holds `offset`."""
    index = bisect_right(parts, offset, key=lambda part: part.range.start) - 1
    return parts[index] if index >= 0 and offset < parts[index].range.end else None


def _start(secret: Secret) -> int:
    return secret.range.start
