"""The element at an offset: a key, a value, or a place for one."""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, Schema
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.schema_keywords import find_keyword
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import line_start
from axe_lsp.agentfile.text.tree import Entry, KeyPart, Table, Value, ValueKind
from axe_lsp.agentfile.text.values import content_range

_WORD = re.compile(r"[\w./:*-]*")
_BLANK = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))*[ \t]*(?=[\r\n]|\Z)")
_COMMENT = re.compile(r"#[^\r\n]*")
_LISTS = (ValueKind.ARRAY, ValueKind.INLINE_TABLE)


class Where(Enum):
    """The kind of place that a cursor is at."""

    HEADER = auto()
    """Between the brackets of a table's header."""
    KEY = auto()
    """On a key, or where one may begin, at the start of a line."""
    INNER_KEY = auto()
    """The same behind a dot or in an inline table: no header can stand here."""
    STRING = auto()
    """Between the quotes of a string."""
    VALUE = auto()
    """On another value, or where one is due."""
    ELSEWHERE = auto()
    """In a comment, behind a finished value, and so on."""


class Cursor(Struct, frozen=True):
    """A place in a file.

    `parent` is the table that the key belongs to, `path` the key as far as it is typed (the parent,
    where nothing is). `range` is the word under the cursor, or the content of the string: what a
    completion replaces. Of an unclosed string, which may have swallowed what stood behind it, it is
    the word that it begins with. `siblings` are the entries of the same table, or of the inline table
    under the cursor, and `depth` is how many parts of a dotted key stand before the word. `value` is
    the key's whole value, `item` the innermost one under the cursor.
    """

    where: Where
    parent: KeyPath
    path: KeyPath
    range: TextRange
    siblings: tuple[Entry, ...] = ()
    depth: int = 0
    value: Value | None = None
    item: Value | None = None
    schema: Schema = AGENT

    @property
    def spec(self) -> KeySpec | None:
        """The row of the key, if it is known; after it, of the expected value."""
        found = self.schema.find(self.path) or find_keyword(self.path)
        if found is not None and found.shorthand and self.where in (Where.STRING, Where.VALUE):
            return self.schema.find((*self.path, found.shorthand))
        return found


@lru_cache(maxsize=1)  # Those who answer one request ask one after the other.
def cursor_at(lookup: Lookup, offset: int) -> Cursor:
    """Return the element at `offset`."""
    return replace(_cursor_at(lookup, offset), schema=lookup.schema)


def _cursor_at(lookup: Lookup, offset: int) -> Cursor:
    document, text = lookup.parse.document, lookup.parse.text
    table = _table_at(document.tables, offset)
    if any(start < offset <= end for start, end in document.comments):
        return Cursor(Where.ELSEWHERE, table.path, table.path, TextRange(offset, offset))
    if table.header is not None and offset <= table.header_range.end:
        return _in_header(text, table, offset)
    found = _among(text, table.path, table.entries, offset, Where.KEY)
    return found or _on_free_line(text, table, offset)


def _table_at(tables: tuple[Table, ...], offset: int) -> Table:
    """Return the table whose keys a new line at `offset` would belong to."""
    found = tables[0]
    for table in tables[1:]:
        if table.header_range.start >= offset:
            break
        found = table
    return found


def _in_header(text: str, table: Table, offset: int) -> Cursor:
    start = table.header_range.start + (2 if table.is_array else 1)
    parts = table.header.parts if table.header is not None else ()
    end = parts[-1].range.end if parts else start
    names = _names_up_to(parts, offset)
    if offset < start or "]" in text[end:offset]:
        return Cursor(Where.ELSEWHERE, (), names, TextRange(offset, offset))
    return Cursor(Where.HEADER, (), names, TextRange(start, max(end, offset)))


def _names_up_to(parts: tuple[KeyPart, ...], offset: int) -> KeyPath:
    return tuple(part.name for part in parts if part.range.start <= offset)


def _among(
    text: str, parent: KeyPath, entries: tuple[Entry, ...], offset: int, at_key: Where
) -> Cursor | None:
    """Return the cursor in one of the entries of a table, if it is in one."""
    for entry in entries:
        if entry.range.start <= offset <= _end_of(text, entry):
            if offset <= entry.key.range.end:
                return _in_key(parent, entries, entry, offset, at_key)
            return _behind_key(text, parent + entry.key.names, entry, offset)
    return None


def _end_of(text: str, entry: Entry) -> int:
    """Return the end of an entry. An unfinished one includes the blanks after it.

    Where an element of a list is due, these are the lines up to what stands there next.
    """
    value, end = entry.value, entry.range.end
    if value is not None and value.complete:
        return end
    is_list = value is not None and _wants_more(text, value)
    blank = (_BLANK_LINES if is_list else _BLANK).match(text, end)
    return blank.end() if blank is not None else end


def _wants_more(text: str, value: Value) -> bool:
    """Return whether an unclosed array or inline table, or the one that it ends with, ends with its bracket or a comma."""
    if value.kind not in _LISTS:
        return False
    parts: tuple[Value | Entry, ...] = (*value.items, *value.entries)
    if not parts:
        return True
    last = parts[-1].value if isinstance(parts[-1], Entry) else parts[-1]
    if last is not None and last.kind in _LISTS and not last.complete:
        return _wants_more(text, last)
    return "," in _COMMENT.sub("", text[parts[-1].range.end : value.range.end])


def _in_key(
    parent: KeyPath, siblings: tuple[Entry, ...], entry: Entry, offset: int, at_key: Where
) -> Cursor:
    parts = entry.key.parts
    before = tuple(part.name for part in parts if part.range.end < offset)
    word = next(
        (part.range for part in parts if part.range.touches(offset)), TextRange(offset, offset)
    )
    path = parent + _names_up_to(parts, offset)
    if before:
        return Cursor(Where.INNER_KEY, parent + before, path, word, siblings, len(before))
    return Cursor(at_key, parent, path, word, siblings)


def _behind_key(text: str, path: KeyPath, entry: Entry, offset: int) -> Cursor:
    value = entry.value
    if value is None:
        equals = text.find("=", entry.key.range.end, offset)
        where = Where.ELSEWHERE if equals < 0 else Where.VALUE
        return Cursor(where, path[:-1], path, TextRange(offset, offset))
    if offset < value.range.start:
        return Cursor(Where.ELSEWHERE, path[:-1], path, TextRange(offset, offset))
    return _in_value(text, path, value, value, offset)


def _in_value(text: str, path: KeyPath, whole: Value, value: Value, offset: int) -> Cursor:
    """Return the cursor in `value`, which is `whole` or a part of it."""
    here, parent = TextRange(offset, offset), path[:-1]
    if value.kind is ValueKind.STRING:
        content = content_range(text, value)
        if not content.touches(offset):
            return Cursor(Where.ELSEWHERE, parent, path, here, value=whole, item=value)
        if not value.complete:
            word = _WORD.match(text, content.start, content.end)
            content = TextRange(content.start, max(offset, word.end() if word else 0))
        return Cursor(Where.STRING, parent, path, content, value=whole, item=value)
    for item in value.items:
        if item.range.touches(offset) or _goes_on(text, item, offset):
            return _in_value(text, path, whole, item, offset)
    is_inside = value.range.start < offset and (offset < value.range.end or not value.complete)
    if value.kind is ValueKind.INLINE_TABLE:
        inner = _among(text, path, value.entries, offset, Where.INNER_KEY)
        where = Where.INNER_KEY if is_inside else Where.ELSEWHERE
        return inner or Cursor(where, path, path, here, value.entries, value=whole)
    if value.kind is ValueKind.ARRAY:
        where = Where.VALUE if is_inside else Where.ELSEWHERE
        return Cursor(where, parent, path, here, value=whole)
    return Cursor(Where.VALUE, parent, path, value.range, value=whole, item=value)


def _goes_on(text: str, item: Value, offset: int) -> bool:
    """Return whether an array or inline table that is not closed yet is typed further at `offset`."""
    is_open = item.kind in _LISTS and not item.complete
    return is_open and item.range.end < offset and not text[item.range.end : offset].strip()


def _on_free_line(text: str, table: Table, offset: int) -> Cursor:
    before = text[line_start(text, offset) : offset]
    where = Where.ELSEWHERE if before.strip() else Where.KEY
    return Cursor(where, table.path, table.path, TextRange(offset, offset), table.entries)
