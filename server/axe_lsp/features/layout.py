"""The layout of a formatted file: the same tokens with other white space and commas between them.

Keys, values and comments are kept by their ranges and in their order, so that no layout can say
anything else than the text it was made of. Only for texts without syntax errors.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct, field

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Entry, Key, Table, Value, ValueKind

WIDTH = 80
"""Arrays that would end behind this column get a line for each element."""

Piece = TextRange | str
"""Text to keep, or what stands between."""


class Line(Struct):
    """One line to be: `indent` levels in, with a comment at its end or nothing but a comment.

    `width` is that of its last line if there is a string over several lines on it.
    """

    indent: int
    blank_above: bool = False
    pieces: list[Piece] = field(default_factory=list)
    width: int = 0
    has_line_feed: bool = False
    comment: TextRange | None = None
    is_header: bool = False


def lay_out(parse: Parse, indent_width: int) -> list[Line]:
    """Return the lines of a file, where each level of an array is indented by so many columns."""
    layout = _Layout(parse, indent_width)
    layout.document()
    return layout.lines


_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")


class _Layout:
    """One pass over a tree. `_end` is the end of the part that has been laid out."""

    def __init__(self, parse: Parse, indent_width: int) -> None:
        self.lines: list[Line] = []
        self._text = parse.text
        self._tables = parse.document.tables
        self._comments = parse.document.comments
        self._next_comment = 0
        self._indent_width = indent_width
        self._end = 0
        self._is_opened = False

    # -- statements

    def document(self) -> None:
        for table in self._tables:
            if table.header is not None:
                self._header(table, table.header)
            for entry in table.entries:
                self._start(entry.range.start, 0)
                self._entry(entry, 0, 0)
        self._comments_before(len(self._text), 0)

    def _header(self, table: Table, key: Key) -> None:
        start, end = table.header_range
        brackets = 2 if table.is_array else 1
        self._start(start, 0)
        self._put(TextRange(start, start + brackets))
        self._key(key)
        self._put(TextRange(end - brackets, end))
        self.lines[-1].is_header = True
        self._separate()

    def _separate(self) -> None:
        """Write a blank line above the header and its comments, unless another header is right above."""
        top = len(self.lines) - 1
        while top > 0 and not self.lines[top].blank_above and not self.lines[top - 1].pieces:
            top -= 1
        if top > 0 and not self.lines[top - 1].is_header:
            self.lines[top].blank_above = True

    def _entry(self, entry: Entry, indent: int, tail: int) -> None:
        self._key(entry.key)
        self._put(" = ")
        if entry.value is not None:
            self._value(entry.value, indent, tail)

    def _key(self, key: Key) -> None:
        for index, part in enumerate(key.parts):
            if index:
                self._put(".")
            self._put(part.range)

    # -- values

    def _value(self, value: Value, indent: int, tail: int) -> None:
        """Write a value, with `tail` columns to come behind it on its last line."""
        if value.kind is ValueKind.ARRAY:
            if self._must_break(value) or self._column + self._flat_width(value) + tail > WIDTH:
                self._broken(value, value.items, indent)
            else:
                self._joined(value, value.items, indent)
        elif value.kind is ValueKind.INLINE_TABLE:
            if self._is_open(value):
                self._broken(value, value.entries, indent)
            else:
                self._joined(value, value.entries, indent)
        else:
            self._put(value.range)

    def _broken(self, value: Value, parts: Sequence[Value | Entry], indent: int) -> None:
        """Write a line for each part, with a comma behind the last one too."""
        opening, closing = _brackets(value)
        self._put(opening)
        self._is_opened = True
        for part in parts:
            self._start(part.range.start, indent + 1)
            self._part(part, indent + 1, 1)
            self._put(",")
        self._comments_before(value.range.end, indent + 1)
        self._line(Line(indent))
        self._put(closing)

    def _joined(self, value: Value, parts: Sequence[Value | Entry], indent: int) -> None:
        """Write all parts on one line."""
        opening, closing = _brackets(value)
        space = " " if value.kind is ValueKind.INLINE_TABLE and parts else ""
        self._put(opening)
        self._put(space)
        for index, part in enumerate(parts):
            if index:
                self._put(", ")
            self._part(part, indent, len(space) + 1)
        self._put(space)
        self._put(closing)

    def _part(self, part: Value | Entry, indent: int, tail: int) -> None:
        if isinstance(part, Entry):
            self._entry(part, indent, tail)
        else:
            self._value(part, indent, tail)

    # -- what a value needs

    def _must_break(self, array: Value) -> bool:
        """Return whether the array can't be on one line, or was told not to be by a comma at its end."""
        if self._has_comment(array.range):
            return True
        if array.items and "," in self._text[array.items[-1].range.end : array.range.end]:
            return True
        return any(self._has_lines(item) for item in array.items)

    def _is_open(self, table: Value) -> bool:
        """Return whether the entries of an inline table stand on lines of their own (TOML 1.1)."""
        start = table.range.start
        for part in (*table.entries, None):
            end = part.range.start if part is not None else table.range.end
            if "\n" in self._text[start:end]:
                return True
            start = part.range.end if part is not None else end
        return False

    def _has_lines(self, value: Value) -> bool:
        if value.kind is ValueKind.ARRAY:
            return self._must_break(value)
        if value.kind is ValueKind.INLINE_TABLE:
            inner = (entry.value for entry in value.entries if entry.value is not None)
            return self._is_open(value) or any(self._has_lines(each) for each in inner)
        return "\n" in value.range.of(self._text)

    def _flat_width(self, value: Value) -> int:
        if value.kind is ValueKind.ARRAY:
            widths = [self._flat_width(item) for item in value.items]
            return 2 + sum(widths) + 2 * max(0, len(widths) - 1)
        if value.kind is ValueKind.INLINE_TABLE:
            widths = [_key_width(entry.key) + 3 + self._width_of(entry) for entry in value.entries]
            return 2 + sum(widths) + 2 * len(widths)
        return value.range.end - value.range.start

    def _width_of(self, entry: Entry) -> int:
        return self._flat_width(entry.value) if entry.value is not None else 0

    def _has_comment(self, where: TextRange) -> bool:
        first = bisect_left(self._comments, where)
        return first < len(self._comments) and self._comments[first].start < where.end

    # -- lines

    def _start(self, offset: int, indent: int) -> None:
        """Write a new line for what begins at `offset`, below the comments in front of it."""
        self._comments_before(offset, indent)
        self._line(Line(indent, self._is_blank_above(offset)))

    def _line(self, line: Line) -> None:
        self._is_opened = False
        self.lines.append(line)
        line.width = line.indent * self._indent_width

    def _is_blank_above(self, offset: int) -> bool:
        """Return whether a blank line is to be kept: not at the top, nor below an opening bracket."""
        if not self.lines or self._is_opened:
            return False
        return _BLANK_LINE.search(self._text, self._end, offset) is not None

    def _comments_before(self, offset: int, indent: int) -> None:
        while self._next_comment < len(self._comments):
            where = self._comments[self._next_comment]
            if where.start >= offset:
                return
            self._comment(where, indent)
            self._next_comment += 1

    def _comment(self, where: TextRange, indent: int) -> None:
        """Write a comment behind what it was behind, else on a line of its own."""
        last = self.lines[-1] if self.lines else None
        is_behind = "\n" not in self._text[self._end : where.start]
        if last is not None and last.pieces and last.comment is None and is_behind:
            comment_of = last
        else:
            self._line(Line(indent, self._is_blank_above(where.start)))
            comment_of = self.lines[-1]
        text = where.of(self._text).rstrip(" \t")
        comment_of.comment = TextRange(where.start, where.start + len(text))
        self._end = where.end

    @property
    def _column(self) -> int:
        return self.lines[-1].width

    def _put(self, piece: Piece) -> None:
        line = self.lines[-1]
        line.pieces.append(piece)
        text = piece if isinstance(piece, str) else piece.of(self._text)
        line_feed = text.rfind("\n")
        if line_feed >= 0:
            line.has_line_feed = True
            line.width = -line_feed - 1
        line.width += len(text)
        if isinstance(piece, TextRange):
            self._end = piece.end


def _key_width(key: Key) -> int:
    return sum(part.range.end - part.range.start for part in key.parts) + len(key.parts) - 1


def _brackets(value: Value) -> tuple[TextRange, TextRange]:
    start, end = value.range
    return TextRange(start, start + 1), TextRange(end - 1, end)
