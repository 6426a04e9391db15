"""Changes of a TOML text that leave everything else as it is written: comments, blank lines, line ends.

Each function says what to replace by what, and changes nothing itself. Trees of broken files will do,
as long as the parts that are asked about are there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import Entry, Table, Value, ValueKind, walk


class Splice(NamedTuple):
    """Other text for a range. An empty range inserts, an empty text removes."""

    range: TextRange
    text: str


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """Return the text after splices that do not overlap."""
    pieces: list[str] = []
    position = 0
    for where, new in sorted(splices):
        pieces += (text[position : where.start], new)
        position = where.end
    return "".join([*pieces, text[position:]])


def line_break(text: str) -> str:
    """Return how lines of the text end: as the first one does."""
    match = _LINE_BREAK.search(text)
    return match.group() if match is not None else "\n"


def literal(content: str) -> str:
    """Return a TOML string that says `content`, on one line."""
    return quoted(content).replace("\x7f", "\\u007f")


def requoted(token: str, content: str) -> str:
    """Return a string that says `content`, in the quotes of `token` if they will do."""
    quotes = token[:3] if token.startswith(('"""', "'''")) else token[:1]
    if quotes.startswith("'") and not _NOT_LITERAL.search(content):
        return quotes + content + quotes
    if not quotes.startswith('"'):
        return literal(content)
    return quotes + literal(content)[1:-1] + quotes


def line_start(text: str, offset: int) -> int:
    """Return where the line that holds `offset` begins."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return 1 if start == 0 and text.startswith("\ufeff") else start


def line_end(text: str, offset: int) -> int:
    """Return where the line that holds `offset` ends, in front of the line break."""
    return _end(_REST_OF_LINE, text, offset)


def comment_above(parse: Parse, offset: int) -> TextRange:
    """Return the lines with nothing but comments right above the one that holds `offset`."""
    text = parse.text
    start = end = line_start(text, offset)
    for comment in reversed(parse.document.comments):
        line = line_start(text, comment.start)
        if _next_line(text, comment.end) == start and not text[line : comment.start].strip():
            start = line
    return TextRange(start, end)


_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_NOT_LITERAL = re.compile(r"['\x00-\x08\x0a-\x1f\x7f]")
_BLANKS = re.compile(r"[ \t]*")
_BLANKS_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_NOTHING_MORE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_EMPTY_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")


# -- removing


def without_part(text: str, whole: Value, part: Value | Entry) -> Splice:
    """Return an array without one of its items, or an inline table without one of its entries.

    A line that holds nothing but the part goes with the comment on it.
    """
    parts: Sequence[Value | Entry] = whole.items if whole.kind is ValueKind.ARRAY else whole.entries
    index = bisect_left(parts, part.range, key=lambda each: each.range)
    before = parts[index - 1].range.end if index else whole.range.start + 1
    start, end = part.range
    comma = _comma_behind(text, end)
    behind = end if comma is None else comma + 1
    separator = text[before:start]
    is_joined = index > 0 and separator.strip() == ","
    if _is_alone(text, whole, start, behind):
        if comma is None and is_joined:
            return _removal(before, line_end(text, end))
        return _removal(line_start(text, start), _next_line(text, behind))
    if is_joined and (comma is None or not _LINE_BREAK.search(separator)):
        return _removal(before, end)
    if len(parts) == 1 and not separator.strip():
        return _removal(before, _end(_BLANKS, text, behind))
    if _NOTHING_MORE.match(text, behind):
        return _removal(_blanks_before(text, start), behind)
    return _removal(start, _end(_BLANKS, text, behind) if comma is not None else behind)


def without_entry(text: str, entry: Entry) -> Splice:
    """Return a table without one of its entries: its lines, with the comment behind it."""
    return _removal(line_start(text, entry.range.start), _next_line(text, entry.range.end))


def without_tables(parse: Parse, tables: Iterable[Table]) -> list[Splice]:
    """Return the file without tables that have headers: their lines up to the last entry, no subtables.

    Comments below stay, since they may be about what follows. Of the empty lines around a table
    those that separated it go.
    """
    text = parse.text
    removals: list[Splice] = []
    for table in tables:
        last = table.entries[-1].range.end if table.entries else table.header_range.end
        start = line_start(text, table.header_range.start)
        end = _end(_EMPTY_LINES, text, _next_line(text, last))
        if removals and removals[-1].range.end == start:
            start = removals.pop().range.start
        removals.append(_removal(start, end))
    if removals and removals[-1].range.end == len(text):
        above = text[: removals[-1].range.start].rstrip()
        start = len(above) if above in ("", "\ufeff") else _next_line(text, len(above))
        removals[-1] = _removal(start, len(text))
    return removals


def without_comment(text: str, comment: TextRange) -> Splice:
    """Return the file without a comment, and without its line if that holds nothing else."""
    start = _blanks_before(text, comment.start)
    line = line_start(text, comment.start)
    return (
        _removal(line, _next_line(text, comment.end))
        if start <= line
        else _removal(start, comment.end)
    )


def _removal(start: int, end: int) -> Splice:
    return Splice(TextRange(start, max(start, end)), "")


def _comma_behind(text: str, offset: int) -> int | None:
    """Return the comma that is next, but for blanks and comments."""
    end = _end(_BLANKS_AND_COMMENTS, text, offset)
    return end if text.startswith(",", end) else None


def _is_alone(text: str, whole: Value, start: int, end: int) -> bool:
    """Return whether nothing else stands on the lines from `start` to `end`, which are inside `whole`."""
    line = line_start(text, start)
    is_first = line > whole.range.start and not text[line:start].strip()
    return is_first and _NOTHING_MORE.match(text, end) is not None


# -- inserting


def with_line(parse: Parse, table: tuple[str, ...], line: str) -> Splice | None:
    """Return a further `key = value` at the end of a table, which is made if it is not there.

    None where the table is written in another way than below one header.
    """
    text = parse.text
    for each in parse.document.tables:
        if each.path == table and (each.header is not None or not table):
            return None if each.is_array else line_in(parse, each, line)
    if any(each.path[: len(table)] == table for each in walk(parse.document)):
        return None
    new = line_break(text)
    header = f"[{'.'.join(table)}]"
    separated = "" if not text.strip() else new if text.endswith(("\n", "\r")) else new * 2
    return Splice(TextRange(len(text), len(text)), f"{separated}{header}{new}{line}{new}")


def line_in(parse: Parse, table: Table, line: str) -> Splice:
    """Return a further `key = value` behind the last one of this very table."""
    if table.entries:
        return line_below(parse.text, table.entries[-1].range.end, line)
    if table.header is not None:
        return line_below(parse.text, table.header_range.end, line)
    return first_line(parse, line)


def line_below(text: str, offset: int, line: str) -> Splice:
    """Return a line of its own below the one that holds `offset`."""
    end = line_end(text, offset)
    return Splice(TextRange(end, end), line_break(text) + line)


def line_above(text: str, offset: int, line: str) -> Splice:
    """Return a line of its own, as far indented as the one that holds `offset`, above that one."""
    start = line_start(text, offset)
    indentation = text[start : _end(_BLANKS, text, start)]
    return Splice(TextRange(start, start), indentation + line + line_break(text))


def first_line(parse: Parse, line: str) -> Splice:
    """Return a `key = value` in front of all others, below the comments that a file begins with."""
    text = parse.text
    root, *tables = parse.document.tables
    if root.entries:
        return line_above(text, root.entries[0].range.start, line)
    if not tables:
        new = line_break(text)
        separated = "" if not text or text.endswith(("\n", "\r")) else new
        return Splice(TextRange(len(text), len(text)), f"{separated}{line}{new}")
    above = line_above(text, tables[0].header_range.start, line)
    return above._replace(text=above.text + line_break(text))


def with_item(text: str, array: Value, item: str) -> Splice:
    """Return the array with a further item at its end: on a line of its own if the last one is alone there."""
    if not array.items:
        start = array.range.start + 1
        return Splice(TextRange(start, start), item)
    last = array.items[-1].range
    start = line_start(text, last.start)
    indentation = text[start : last.start]
    is_alone = start > array.range.start and not indentation.strip()
    separator = f",{line_break(text)}{indentation}" if is_alone else ", "
    return Splice(TextRange(last.end, last.end), separator + item)


# -- arrays on one line, or on as many as they have items


def on_one_line(text: str, array: Value) -> Splice:
    """Return the array without line breaks. Its comments would be lost, so it should have none."""
    items = ", ".join(item.range.of(text) for item in array.items)
    return Splice(array.range, f"[{items}]")


def on_many_lines(text: str, array: Value, indentation: str = "  ") -> Splice:
    """Return the array with each item on a line of its own, and a comma behind the last one."""
    new = line_break(text)
    start = line_start(text, array.range.start)
    outer = text[start : _end(_BLANKS, text, start)]
    items = "".join(f"{outer}{indentation}{item.range.of(text)},{new}" for item in array.items)
    return Splice(array.range, f"[{new}{items}{outer}]")


# -- inside


def _end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match is not None else offset


def _next_line(text: str, offset: int) -> int:
    return _end(_LINE_BREAK, text, line_end(text, offset))


def _blanks_before(text: str, offset: int) -> int:
    return len(text[:offset].rstrip(" \t"))
