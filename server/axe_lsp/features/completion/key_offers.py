"""Keys and tables that could be written at a cursor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, KeyType, Names, Schema
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.schema.schema_keywords import keywords_of
from axe_lsp.agentfile.text.tree import Entry, Table
from axe_lsp.features.completion.cursor import Cursor, Where
from axe_lsp.features.completion.item import (
    Completion,
    CompletionKind,
    end_of_line,
    offer,
    rest_of_line,
    separators,
)
from axe_lsp.features.describe import key_markdown

_NEW_NAME = "name"
"""The placeholder for a table whose name the user chooses."""


def key_offers(
    lookup: Lookup, cursor: Cursor, more: Sequence[KeySpec] = ()
) -> Iterator[Completion]:
    """Yield the keys of the table under the cursor that are not set; `more` are keys besides those of the schema."""
    text = lookup.parse.text
    behind = text[cursor.range.end :].lstrip(" \t")[:1]
    before, after = _around(text, cursor)
    quote = _quote(text, cursor)
    for spec in (*lookup.schema.keys_of(cursor.parent), *keywords_of(cursor.parent), *more):
        if _is_offered_as_header(spec, cursor) or _is_set(lookup, spec, cursor):
            continue
        if behind in ("=", "."):
            yield _key(spec, cursor, quote, spec.path[-1], None)
        elif cursor.depth and spec.is_table:
            yield _key(spec, cursor, quote, f"{spec.path[-1]}.", None)
        else:
            plain, snippet = f"{spec.path[-1]} = ", f"{spec.path[-1]} = {_placeholder(spec, 1)}"
            yield _key(spec, cursor, quote, before + plain + after, before + snippet + after)


def table_offers(lookup: Lookup, cursor: Cursor) -> Iterator[Completion]:
    """Offer tables that can begin on the line of the cursor without taking keys below it."""
    text = lookup.parse.text
    rest = rest_of_line(text, cursor.range.end)
    if any(entry.range.start > cursor.range.end for entry in cursor.siblings):
        return
    if rest and _is_on_key(cursor):
        return
    line_end = end_of_line(text)
    after = line_end if rest else ""
    offers = _table_offers_of(lookup.schema, line_end)
    quote = _quote(text, cursor)
    for spec in _free_tables(lookup, cursor):
        each = offers[spec.path]
        yield replace(
            each,
            replace=cursor.range,
            snippet=f"{each.snippet}{after}",
            typed_as=f"{quote}{each.typed_as}",
        )


@cache
def _table_offers_of(of: Schema, line_end: str) -> Mapping[KeyPath, Completion]:
    """Return the offer of each table, whose place is not known yet."""
    return {spec.path: _table_offer(of, spec, line_end) for spec, _ in _tables_of(of)}


def _table_offer(of: Schema, spec: KeySpec, line_end: str) -> Completion:
    opening, closing = ("[[", "]]") if spec.type is KeyType.TABLES else ("[", "]")
    plain, named = (f"{opening}{each}{closing}{line_end}" for each in _names(spec))
    label = plain.strip()
    made = offer(label, CompletionKind.TABLE, _mark(spec), key_markdown(spec))
    snippet = named + _required_keys(of, spec, line_end)
    return replace(made, text=plain, snippet=snippet, typed_as=label.strip("[]"))


def header_offers(lookup: Lookup, cursor: Cursor) -> Iterator[Completion]:
    """Offer names for the table header under the cursor, with the missing brackets."""
    text = lookup.parse.text
    is_array = text[: cursor.range.start].endswith("[[")
    closing = "]]" if is_array else "]"
    is_closed = text.startswith(closing, cursor.range.end)
    quote = _quote(text, cursor)
    for spec in _free_tables(lookup, cursor):
        if (spec.type is KeyType.TABLES) != is_array:
            continue
        plain, named = _names(spec)
        yield Completion(
            label=plain,
            kind=CompletionKind.TABLE,
            replace=cursor.range,
            typed_as=quote + plain if quote else "",
            text=plain if is_closed else plain + closing,
            snippet=f"{named}{'' if is_closed else closing}" if named != plain else None,
            detail=_mark(spec),
            documentation=key_markdown(spec),
            commit="]" if is_closed else "",
        )


# -- keys


def _key(spec: KeySpec, cursor: Cursor, quote: str, text: str, snippet: str | None) -> Completion:
    return Completion(
        label=spec.path[-1],
        kind=CompletionKind.KEY,
        replace=cursor.range,
        text=text,
        snippet=snippet,
        detail=_detail(spec),
        documentation=key_markdown(spec),
        typed_as=quote + spec.path[-1] if quote else "",
        commit="." if text.endswith(".") else "",
    )


def _quote(text: str, cursor: Cursor) -> str:
    """Return the quote with which the word under the cursor begins: editors look for the whole word in the offers."""
    first = text[cursor.range.start : cursor.range.end].lstrip()[:1]
    return first if first in ("'", '"') else ""


def _is_offered_as_header(spec: KeySpec, cursor: Cursor) -> bool:
    """Return whether a key is offered as a table header. A map of strings is offered inline."""
    if spec.path[-1] == ANY_NAME:
        return True
    has_header = spec.is_table and cursor.schema.find(spec.path) is not None
    return cursor.where is Where.KEY and has_header and spec.type is not KeyType.STRING_TABLE


def _is_set(lookup: Lookup, spec: KeySpec, cursor: Cursor) -> bool:
    name, depth = spec.path[-1], cursor.depth
    written = (*cursor.parent[len(cursor.parent) - depth :], name)
    for entry in cursor.siblings:
        if entry.key.names[: depth + 1] == written and not _touches(entry, cursor):
            return True
    if not spec.is_table:
        return False
    path = (*cursor.parent, name)
    tables = _same_element(lookup, _array_around(lookup.schema, path), cursor)
    return any(table.path[: len(path)] == path for table in tables)


def _around(text: str, cursor: Cursor) -> tuple[str, str]:
    """Return the text that is needed around a new key so that the rest keeps its meaning."""
    if cursor.where is Where.INNER_KEY and not cursor.depth:
        return separators(text, [entry.range for entry in cursor.siblings], cursor.range)
    needs_line = cursor.where is Where.KEY and not _is_on_key(cursor)
    return "", end_of_line(text) if needs_line and rest_of_line(text, cursor.range.end) else ""


def _is_on_key(cursor: Cursor) -> bool:
    return any(_touches(entry, cursor) for entry in cursor.siblings)


def _touches(entry: Entry, cursor: Cursor) -> bool:
    """Return whether the key of the entry is being typed."""
    return entry.key.range.touches(cursor.range.start)


def _placeholder(spec: KeySpec, stop: int) -> str:
    """Return where the value goes, as a snippet."""
    if spec.choices:
        return f'"${{{stop}|{",".join(spec.choices)}|}}"'
    if spec.type in _SHAPES:
        return _SHAPES[spec.type].format(stop=f"${stop}")
    if spec.type is KeyType.BOOLEAN:
        return f"${{{stop}|true,false|}}"
    return f"${{{stop}:{spec.default or 0}}}"


_SHAPES = {
    KeyType.STRING: '"{stop}"',
    KeyType.STRINGS: '["{stop}"]',
    KeyType.TABLES: "[{{ {stop} }}]",
    KeyType.TABLE: "{{ {stop} }}",
    KeyType.STRING_TABLE: "{{ {stop} }}",
    KeyType.JSON_SCHEMA: "{{ {stop} }}",
    KeyType.ANY_TABLE: "{{ {stop} }}",
}


def _detail(spec: KeySpec) -> str:
    default = f" = {spec.default}" if spec.default is not None else ""
    return f"{spec.type.value}{default} {_mark(spec)}".rstrip()


def _mark(spec: KeySpec) -> str:
    return "(axe-lsp)" if spec.is_extension else ""


# -- tables


def _names(spec: KeySpec) -> tuple[str, str]:
    """Return the name of a table for its header, plain and as a snippet."""
    chosen = [_NEW_NAME if part == ANY_NAME else part for part in spec.path]
    stops = [f"${{1:{_NEW_NAME}}}" if part == ANY_NAME else part for part in spec.path]
    return ".".join(chosen), ".".join(stops)


def _required_keys(of: Schema, spec: KeySpec, line_end: str) -> str:
    """Return a line for each key that a new table needs, as a snippet, and one to go on."""
    required = [each for each in of.keys_of(spec.path) if each.required]
    lines = [
        f"{each.path[-1]} = {_placeholder(each, stop)}{line_end}"
        for stop, each in enumerate(required, start=1)
    ]
    return "".join([*lines, "$0"])


def _free_tables(lookup: Lookup, cursor: Cursor) -> Iterator[KeySpec]:
    """Yield the tables that can be begun: those that may repeat, and those that are not there yet."""
    around: dict[KeyPath, _Tables] = {}
    for spec, array in _tables_of(lookup.schema):
        if array not in around:
            around[array] = _Tables(_same_element(lookup, array, cursor))
        path = tuple(_NEW_NAME if part == ANY_NAME else part for part in spec.path)
        if around[array].leave_free(path, is_array=spec.type is KeyType.TABLES):
            yield spec


@cache
def _tables_of(of: Schema) -> Sequence[tuple[KeySpec, KeyPath]]:
    """Return all tables, each with the array around it; those named after providers with the names that there are."""
    tables: list[KeySpec] = []
    for spec in of.keys:
        if spec.names is Names.PROVIDER:
            tables += (replace(spec, path=(*spec.path[:-1], each)) for each in PROVIDERS)
        elif spec.is_table:
            tables.append(spec)
    return [(spec, _array_around(of, spec.path)) for spec in tables]


def _array_around(of: Schema, path: KeyPath) -> KeyPath:
    """Return the array of tables through which the path leads; `()` if it leads through none."""
    return next((path[:end] for end in range(1, len(path)) if _is_array(of, path[:end])), ())


class _Tables:
    """The tables among which another one would stand."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._headers = {table.path for table in tables}
        self._made = {
            (*table.path, *entry.key.names[:1]) for table in tables for entry in table.entries
        }
        """The tables that keys have defined, such as inline tables: headers can't extend them."""

    def leave_free(self, path: KeyPath, *, is_array: bool) -> bool:
        """Return whether a header may open the table (TOML 1.0, "Table")."""
        if not self._headers:
            return False  # It belongs to an element of an array, and none has begun.
        if not is_array and path in self._headers:
            return False
        return all(path[:end] not in self._made for end in range(1, len(path) + 1))


def _same_element(lookup: Lookup, array: KeyPath, cursor: Cursor) -> Sequence[Table]:
    """Return the tables, but the header under the cursor, among which a table below `array` would stand.

    Those are all of the file if there is no array. Each element of one has tables of its own.
    """
    tables = [
        table
        for table in lookup.parse.document.tables
        if cursor.where is not Where.HEADER or not table.header_range.touches(cursor.range.start)
    ]
    if not array:
        return tables
    begins = [at for at, table in enumerate(tables) if table.path == array and table.is_array]
    before = [at for at in begins if tables[at].header_range.start < cursor.range.start]
    if not before:
        return []
    end = next((at for at in begins if at > before[-1]), len(tables))
    return tables[before[-1] : end]


def _is_array(of: Schema, path: KeyPath) -> bool:
    spec = of.find(path)
    return spec is not None and spec.type is KeyType.TABLES
