"""The problems of one file, the same for the editor, the command line and the runtime.

Each problem carries axe's own message where axe has one. The editor shows all of them at their
ranges; the runtime refuses a file with the first fatal one in axe's order (`Problem.order`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import isfinite
from typing import Any

from msgspec.structs import replace

from axe_lsp.agentfile.check.axe import axe_agent
from axe_lsp.agentfile.check.problem import Problem, decode_problem, problem
from axe_lsp.agentfile.check.similar_keys import similar_key
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, KeyType, Names, Schema
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.tools import is_tool_glob, tools_meant
from axe_lsp.agentfile.text.globs import BadPatternError, segments_of
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import (
    Entry,
    KeyPart,
    Located,
    Table,
    Value,
    ValueKind,
    walk_entry,
)
from axe_lsp.agentfile.text.values import decode

Judge = Callable[[Lookup], Iterator[Problem]]
"""Finds the problems that the rows of a schema can't express, in files of one kind."""


def check(
    parse: Parse, lookup: Lookup | None = None, judge: Judge | None = None
) -> tuple[Problem, ...]:
    """Return all problems of the keys and values of the file, without its syntax errors, in order of position.

    In a file with syntax errors the finished statements are checked; what is half-typed is left
    alone. `lookup` is that of the parse, if the caller has made it already. `judge` is that of the kind of
    the file, by default of an axe agent.
    """
    lookup = lookup or Lookup(parse)
    if judge is not None and lookup.schema.is_judged_alone:
        return tuple(sorted(judge(lookup), key=lambda each: each.range))
    checker = _Checker(lookup)
    found = [
        *checker.tables(),
        *checker.entries(),
        *checker.missing(),
        *(judge or axe_agent)(lookup),
    ]
    renamings = _Renamings(lookup)
    found = [renamings.judge(each) if each.code == _UNKNOWN else each for each in found]
    return tuple(sorted(found, key=lambda each: each.range))


def fits(lookup: Lookup, path: KeyPath, entry: Entry) -> bool:
    """Return whether an entry, with those of its inline tables, would have no problem by the rows of the schema at `path`."""
    return not any(_Checker(lookup).entries_at(path, entry))


INT64 = range(-(2**63), 2**63)


def range_message(spec: KeySpec, value: Any, path: KeyPath | None = None) -> str | None:
    """Return the fault of a value of the right type, if it has one. The message names `path`, or that of the row."""
    key = ".".join(path or spec.path)
    if spec.minimum is not None and isinstance(value, (int, float)) and value < spec.minimum:
        least = f"at least {spec.minimum}" if spec.minimum else "non-negative"
        return f"{key} must be {least}"
    if spec.maximum is not None and isinstance(value, (int, float)) and value > spec.maximum:
        return f"{key} cannot exceed {spec.maximum}"
    if isinstance(value, float) and not isfinite(value):
        return f"{key} must be a finite number"
    if spec.choices and value and isinstance(value, str) and value not in spec.choices:
        got = f"; got {quoted(value)}" if spec.says_value else ""
        return f"{key} must be one of: {', '.join(spec.choices)}{got}"
    return None


_KIND_OF_TYPE: dict[KeyType, tuple[ValueKind, ...]] = {
    KeyType.STRING: (ValueKind.STRING,),
    KeyType.INTEGER: (ValueKind.INTEGER,),
    # axe reads an integer where a float is wanted, not the other way round.
    KeyType.FLOAT: (ValueKind.FLOAT, ValueKind.INTEGER),
    KeyType.BOOLEAN: (ValueKind.BOOLEAN,),
    KeyType.STRINGS: (ValueKind.ARRAY,),
    KeyType.TABLE: (ValueKind.INLINE_TABLE,),
    KeyType.TABLES: (ValueKind.ARRAY,),
    KeyType.STRING_TABLE: (ValueKind.INLINE_TABLE,),
    KeyType.JSON_SCHEMA: (ValueKind.INLINE_TABLE,),
    KeyType.ANY_TABLE: (ValueKind.INLINE_TABLE,),
    KeyType.ANY: tuple(ValueKind),
}
_ELEMENT_KIND = {KeyType.STRINGS: ValueKind.STRING, KeyType.TABLES: ValueKind.INLINE_TABLE}
_FREE = (ValueKind.STRING, ValueKind.BOOLEAN, ValueKind.DATETIME, ValueKind.INLINE_TABLE)


class _Checker:
    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.schema = lookup.schema
        self.text = lookup.parse.text
        self.document = lookup.parse.document

    # -- headers

    def tables(self) -> Iterator[Problem]:
        for table in self.document.tables:
            if table.path and table.complete:
                yield from self._once(table, "header", table.header_range, self._table)

    def _table(self, table: Table) -> Iterator[Problem]:
        path, parts = table.path, table.header.parts if table.header is not None else ()
        unknown = _first_unknown(self.schema, path)
        if unknown is not None:
            yield _unknown_part(self.schema, path, unknown, parts[unknown], in_header=True)
            return
        spec = self.schema.find(path)
        if spec is None or spec.takes_anything:
            return
        type_ = spec.table_type
        if type_ is None or (type_ is KeyType.TABLES) != table.is_array:
            found = "array of tables" if table.is_array else "table"
            yield _wrong_type(spec, path, parts[-1].range, found)

    def _is_misplaced(self, table: Table) -> bool:
        """Return whether it is an element of an array where one table belongs, which has been reported."""
        spec = self.schema.find(table.path) if table.is_array else None
        return spec is not None and spec.table_type is KeyType.TABLE and not spec.takes_anything

    def _once(
        self, table: Table, what: str, where: TextRange, find: Callable[[Table], Iterator[Problem]]
    ) -> Iterator[Problem]:
        """Return the problems that follow from the text at `where` alone. Of thousands of tables few change."""
        start = where.start
        found = self.lookup.once_per_text(
            what, where.of(self.text), lambda: tuple(each.moved(-start) for each in find(table))
        )
        return (each.moved(start) for each in found)

    # -- entries

    def entries(self) -> Iterator[Problem]:
        for table in self.document.tables:
            if not (table.complete and table.paths) or self._is_misplaced(table):
                continue
            # Its tools depend on other tables.
            if not table.path or table.path[0] == "tool_policy":
                yield from self._entries(table.located)
            else:
                yield from self._once(table, "entries", table.range, self._entries_of)

    def entries_at(self, path: KeyPath, entry: Entry) -> Iterator[Problem]:
        """Yield the problems of an entry as if it stood at `path`."""
        table = self.document.tables[0]
        return self._entries(Located(*each, table) for each in walk_entry(path, entry))

    def _entries_of(self, table: Table) -> Iterator[Problem]:
        return self._entries(table.located)

    def _entries(self, items: Iterable[Located]) -> Iterator[Problem]:
        for item in items:
            value = item.entry.value
            if value is None or not value.complete:
                continue
            spec = self.schema.find(item.path)
            if spec is None:
                yield from self._unknown_entry(item, value)
            else:
                yield from self._value(spec, item.path, value)

    def _unknown_entry(self, item: Located, value: Value) -> Iterator[Problem]:
        first_own = len(item.path) - len(item.entry.key.parts)
        if first_own and self.schema.find(item.path[:1]) is None:
            return  # As below, for inline tables with thousands of keys.
        unknown = _first_unknown(self.schema, item.path)
        if unknown is None:
            parent = self.schema.find(item.path[:-1])
            if parent is not None and parent.type is KeyType.STRING_TABLE:
                yield from self._string_in_table(parent, item, value)
            return
        table = self.schema.find(item.path[:first_own])
        if unknown < first_own or (table is not None and table.table_type is None):
            return  # A parent is unknown or no table, and has been reported.
        part = item.entry.key.parts[unknown - first_own]
        found = _unknown_part(self.schema, item.path, unknown, part)
        is_other = len(item.entry.key.parts) == 1 and not self._fits_similar(found, item.entry)
        yield replace(found, obstacle=_OTHER_VALUE) if is_other else found

    def _fits_similar(self, unknown: Problem, entry: Entry) -> bool:
        """Return whether an entry is valid by the name of the key that its own resembles."""
        similar = similar_key(self.schema, unknown.path)
        if similar is None or _is_spelling(similar, unknown.path):
            return True
        return not any(self.entries_at((*unknown.path[:-1], similar), entry))

    def _string_in_table(self, parent: KeySpec, item: Located, value: Value) -> Iterator[Problem]:
        if value.kind is not ValueKind.STRING and not self._is_dated_text(
            value, [ValueKind.STRING]
        ):
            message = f"{'.'.join(item.path)} must be a string, not {_a(value.kind.value)}"
            yield decode_problem(parent, value.range, message)

    def _value(self, spec: KeySpec, path: KeyPath, value: Value) -> Iterator[Problem]:
        if value.kind is ValueKind.INVALID:
            return
        if spec.shorthand and value.kind is ValueKind.STRING:
            path = (*path, spec.shorthand)
            spec = self.schema.key(path)
        type_ = self._type_of(spec, value)
        if type_ is None:
            yield _wrong_type(spec, path, value.range, value.kind.value)
        elif value.kind in _FREE and not spec.choices:
            pass  # Any text will do, either of true and false, and a table whose keys are looked at.
        elif type_ not in _ELEMENT_KIND:
            yield from self._scalar(spec, path, value)
        elif spec.names is Names.TOOL:  # Which there are may depend on other keys.
            yield from self._elements(spec, path, value)
        else:
            yield from self.lookup.once(
                value, "elements", lambda: tuple(self._elements(spec, path, value))
            )

    def _scalar(self, spec: KeySpec, path: KeyPath, value: Value) -> Iterator[Problem]:
        is_text = value.kind is ValueKind.DATETIME
        decoded = value.range.of(self.text) if is_text else decode(self.text, value)
        if decoded is None:
            return  # Not TOML, such as `007`, which is reported as that.
        if value.kind is ValueKind.INTEGER and decoded not in INT64:
            too_large = f"{spec.dotted} is too large: integers have 64 bits"
            yield decode_problem(spec, value.range, too_large)
            return
        message = range_message(spec, decoded, path) or self._empty_word(spec, decoded)
        if message is not None:
            found = value.range.of(self.text)
            yield problem(spec.code, spec, value.range, message, found=found)

    def _type_of(self, spec: KeySpec, value: Value) -> KeyType | None:
        """Return which of the key's types the value has, if it has one of them."""
        kind = value.kind
        if kind in _KIND_OF_TYPE[spec.type]:
            return spec.type
        if kind is ValueKind.ARRAY and spec.or_empty_array and not value.items:
            return spec.type
        if kind is ValueKind.DATETIME and self.schema.has_dates_as_text:
            kind = ValueKind.STRING
        return next((each for each in (spec.type, *spec.also) if kind in _KIND_OF_TYPE[each]), None)

    def _empty_word(self, spec: KeySpec, value: object) -> str | None:
        if value or not isinstance(value, str) or self.schema.empty_is_absent:
            return None
        return f"{spec.dotted} must be one of: {', '.join(spec.choices)}"

    def _elements(self, spec: KeySpec, path: KeyPath, value: Value) -> Iterator[Problem]:
        kinds = [_ELEMENT_KIND[each] for each in (spec.type, *spec.also) if each in _ELEMENT_KIND]
        for item in value.items:
            if not item.complete or item.kind is ValueKind.INVALID:
                continue
            if item.kind not in kinds and not self._is_dated_text(item, kinds):
                held = f"{kinds[0].value}s only, not {_a(item.kind.value)}"
                message = f"{'.'.join(path)} must hold {held}"
                yield decode_problem(spec, item.range, message)
            elif spec.names is Names.TOOL:
                yield from self._tool(spec, path, item)
            elif spec.names is Names.GLOB:
                yield from self._glob(spec, item)
            elif spec.choices and item.kind is ValueKind.STRING:
                yield from self._word(spec, path, item)

    def _is_dated_text(self, item: Value, kinds: list[ValueKind]) -> bool:
        return (
            item.kind is ValueKind.DATETIME
            and self.schema.has_dates_as_text
            and ValueKind.STRING in kinds
        )

    def _word(self, spec: KeySpec, path: KeyPath, item: Value) -> Iterator[Problem]:
        word = decode(self.text, item)
        message = range_message(spec, word, path) or self._empty_word(spec, word)
        if message is not None:
            yield problem(spec.code, spec, item.range, message, found=item.range.of(self.text))

    def _tool(self, spec: KeySpec, path: KeyPath, item: Value) -> Iterator[Problem]:
        name = decode(self.text, item)
        if not isinstance(name, str) or tools_meant([name]):
            return
        is_policy = spec.path[0] == "tool_policy"
        # It may be a tool of an MCP server, which nobody knows before it runs.
        if is_policy and self.lookup.has(("mcp_servers",)):
            return
        where = "tools config" if path == ("tools",) else ".".join(path)
        message = f"unknown tool {quoted(name)} in {where}"
        is_fatal = not is_tool_glob(name) and not is_policy
        yield problem("unknown-tool", spec, item.range, message, fatal=is_fatal, found=name)

    def _glob(self, spec: KeySpec, item: Value) -> Iterator[Problem]:
        pattern = decode(self.text, item)
        try:
            segments_of(pattern if isinstance(pattern, str) else "")
        except BadPatternError as error:
            # Not fatal: axe finds out when it runs the agent.
            message = f"invalid glob pattern {quoted(pattern)}: {error}"
            yield problem("bad-glob", spec, item.range, message, fatal=False)

    # -- what is not there, and what does not go together

    def missing(self) -> Iterator[Problem]:
        """Yield the required keys that are missing at the top of an agent of axe. Other kinds of files have judges for this."""
        for spec in self.schema.keys_of(()) if self.schema is AGENT else ():
            if spec.required and self._is_blank(spec.path):
                message = f"agent config missing required field: {spec.dotted}"
                yield problem("missing-key", spec, self._place_of(spec), message)

    def _is_blank(self, path: KeyPath) -> bool:
        item = self.lookup.find(path)
        if item is None:
            return not self.lookup.has(path)
        value = item.entry.value
        if value is None or not value.complete or value.kind is not ValueKind.STRING:
            return False  # Half-typed, or reported already.
        decoded = decode(self.text, value)
        return isinstance(decoded, str) and not decoded.strip()

    def _place_of(self, spec: KeySpec) -> TextRange:
        """Return the blank value, else the first thing in the file."""
        item = self.lookup.find(spec.path)
        if item is not None and item.entry.value is not None:
            return item.entry.value.range
        for table in self.document.tables:
            if table.header is not None:
                return table.header.range
            if table.entries:
                return table.entries[0].key.range
        return TextRange(0, 0)


class _Renamings:
    """Judges whether unknown keys can take the names of similar ones, as far as other parts of the file decide that."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._tables = lookup.parse.document.tables
        self._arrays: dict[KeyPath, bool] = {}

    def judge(self, problem: Problem) -> Problem:
        """Return the problem of an unknown key with the similar key, if there is one, and what keeps it from that name."""
        old, is_header = problem.path, problem.in_header
        similar = similar_key(self._lookup.schema, old, in_header=is_header)
        if similar is None:
            return problem
        new, obstacle = (*old[:-1], similar), problem.obstacle
        if is_header:
            obstacle = self._obstacle_of_header(problem, new)
        elif self._lookup.has(new):
            obstacle = _PRESENT
        return replace(problem, similar=similar, obstacle=obstacle)

    def _obstacle_of_header(self, problem: Problem, new: KeyPath) -> str:
        index = bisect_right(self._tables, problem.range, key=lambda each: each.header_range) - 1
        table = self._tables[index]
        path = (*new, *table.path[len(new) :])
        if self._lookup.find(new) is not None or not self._is_free(path, table):
            return _PRESENT
        if _is_spelling(new[-1], problem.path):
            return ""
        entries = ((*path, *entry.key.names) for entry in table.entries)
        are_valid = all(map(partial(fits, self._lookup), entries, table.entries))
        return "" if are_valid else "does not take all keys of this table"

    def _is_free(self, path: KeyPath, table: Table) -> bool:
        """Return whether a header may have this path: of an array of tables there may be several."""
        if not self._lookup.has(path):
            return True
        if path not in self._arrays:
            alike = (each for each in self._lookup.tables_alike(path) if each.path == path)
            self._arrays[path] = all(each.is_array for each in alike)
        return table.is_array and self._arrays[path]


_UNKNOWN = "unknown-key"
_PRESENT = "is in the file already"
_OTHER_VALUE = "does not take this value"


def _is_spelling(key: str, path: KeyPath) -> bool:
    """Return whether a key has but other capital letters: there is no doubt, so that a fault of its value is one to show."""
    return key.lower() == path[-1].lower()


def _first_unknown(schema: Schema, path: KeyPath) -> int | None:
    """Return the index of the first part that the schema does not know, if there is one."""
    for end in range(1, len(path) + 1):
        spec = schema.find(path[:end])
        if spec is None:
            return end - 1
        if spec.is_open:
            return None
    return None


def _unknown_part(
    schema: Schema, path: KeyPath, unknown: int, part: KeyPart, *, in_header: bool = False
) -> Problem:
    parent = schema.find(path[:unknown])
    if parent is not None and parent.table_type is None:
        return _wrong_type(parent, path[:unknown], part.range, "table")
    known_to_here = path[: unknown + 1]
    message = f"unknown {'table' if in_header else 'key'} {quoted('.'.join(known_to_here))}"
    return Problem(
        _UNKNOWN,
        part.range,
        message,
        known_to_here,
        order=0,
        fatal=(schema.rejects_unknown and unknown == 0)
        or (parent is not None and parent.rejects_unknown),
        in_header=in_header,
    )


def _wrong_type(spec: KeySpec, path: KeyPath, where: TextRange, found: str) -> Problem:
    message = f"{'.'.join(path)} must be {_a(spec.type.value)}, not {_a(found)}"
    return decode_problem(spec, where, message)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
