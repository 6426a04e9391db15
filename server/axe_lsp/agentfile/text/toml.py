"""Text to a tolerant tree with exact ranges. Never raises; half a file gives half a tree.

A statement begins at the start of a line. What breaks inside a statement ends, at the latest, with a
line that can only begin another one (an *anchor*). So an unclosed array, string or header costs its
own statement, and the tables below keep their keys. A broken statement reports one problem.

Whether a text *is* TOML is not decided here but by tomli (parse.py). This parser accepts somewhat
more than TOML in places where that helps to understand a file that is being typed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from axe_lsp.agentfile.text import syntax_hints as hints
from axe_lsp.agentfile.text.ranges import Difference, TextRange
from axe_lsp.agentfile.text.tree import Body, Document, Entry, Key, KeyPart, Table, Value, ValueKind
from axe_lsp.agentfile.text.unclosed_strings import (
    ANCHOR,
    HEADER_ANCHOR,
    closing_quotes,
    end_of_pasted,
    end_of_prose,
)
from axe_lsp.agentfile.text.values import unquote

MAX_NESTING = 100
"""Arrays and inline tables deeper than this are reported, not followed."""


class SyntaxProblem(NamedTuple):
    """Where the text stops being TOML, and why."""

    range: TextRange
    message: str


def parse_tree(text: str) -> tuple[Document, tuple[SyntaxProblem, ...]]:
    """Return the tree of `text` and the faults of its statements, in written order."""
    parser = _Parser(text)
    document = parser.document()
    if parser.problems and parser.doubtful_ends:
        # Read again as if a `key = \"\"\"` inside an open string were the opening that it looks like.
        second = _Parser(text, doubtful_ends=frozenset(parser.doubtful_ends))
        other = second.document()
        if len(second.problems) <= len(parser.problems):
            return other, tuple(second.problems)
    return document, tuple(parser.problems)


def parse_rest(
    text: str, before: Document, changed: Difference
) -> tuple[Document, tuple[SyntaxProblem, ...]]:
    """Return the tree of a text that has been edited, and what is wrong with its statements.

    It is the one that `parse_tree` gives, unless there are problems and it is doubtful. `before` is the tree that
    the text had, without a problem. Above the lines that have `changed` the
    statements and their nodes are the same. So are, but for their places, the tables below them from the first
    header on that is found again.
    """
    parser = _Parser(text)
    parser.skip(before, changed.start)
    return parser.document(_Known(before, changed)), tuple(parser.problems)


class _Known(NamedTuple):
    """The tree before an edit, and the lines that the edit has changed."""

    before: Document
    changed: Difference

    def table_at(self, pos: int) -> int | None:
        """Return which table there was that began as one at `pos` does in a text that is the same from there on."""
        there = pos - self.changed.shift
        if there < self.changed.old_end:
            return None
        tables = self.before.tables
        index = bisect_left(tables, there, 1, key=_header_start)
        found = index < len(tables) and tables[index].header_range.start == there
        return index if found else None


_NOWHERE = TextRange(0, 0)
_ROOT = Table(_NOWHERE, _NOWHERE, is_array=False, complete=True, path=(), body=Body(None, ()))

_BLANK = re.compile(r"[ \t\r\n]*")
_SPACE = re.compile(r"[ \t]*")
_COMMENT = re.compile(r"#[^\r\n]*")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_LINE_END = re.compile(r"[ \t]*(#[^\r\n]*)?(?=[\r\n]|\Z)")

_KEY_PART = re.compile(r"[A-Za-z0-9_-]+|\"[^\"\\\r\n]*(?:\\.[^\"\\\r\n]*)*\"|'[^'\r\n]*'")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?=\]|[ \t]*=)")
_HALF_KEY = re.compile(r"[\"']([A-Za-z0-9_-]*)")
_BASIC_STRING = re.compile(r'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*("?)')
_LITERAL_STRING = re.compile(r"'[^'\r\n]*('?)")

# The common statement: a bare key and a short value, with nothing behind it but a comment.
_PLAIN_PAIR = (
    r"([A-Za-z0-9_-]+)[ \t]*=[ \t]*"
    r"(?:(?P<STRING>\"[^\"\\\r\n]*\"|'[^'\r\n]*')|(?P<BOOLEAN>true|false)"
    r"|(?P<INTEGER>[0-9]+)|(?P<FLOAT>[0-9]+\.[0-9]+))"
)
_PLAIN_ENTRY = re.compile(rf"[ \t\r\n]*{_PLAIN_PAIR}[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")

# The same in an inline table: with its comma, or before the end.
_PLAIN_MEMBER = re.compile(rf"[ \t]*{_PLAIN_PAIR}[ \t]*(?:,|(?=\}}))")
_KIND = dict(ValueKind.__members__)  # As a dictionary it is found three times as fast.

# The common element of a long array: a plain string with its comma, or before the end.
_PLAIN_ITEM = re.compile(r"[ \t\r\n]*(\"[^\"\\\r\n]+\"|'[^'\r\n]+')[ \t\r\n]*(?:,|(?=\]))")
_BARE_VALUE = re.compile(r"[^\s,\]}\[{#=\"']+")
_TIME_OF_DAY = re.compile(r"(?<=\d{4}-\d\d-\d\d) \d[^\s,\]}\[{#=\"']*")
_SCALAR = re.compile(
    r"(?P<BOOLEAN>true|false)"
    r"|(?P<INTEGER>[+-]?\d(?:_?\d)*|0x[\da-fA-F](?:_?[\da-fA-F])*|0o[0-7_]+|0b[01_]+)"
    r"|(?P<DATETIME>\d{4}-\d\d-\d\d(?:[Tt ].+)?|\d\d:\d\d.*)"
    r"|(?P<FLOAT>[+-]?(?:inf|nan|\d(?:_?\d)*(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?))"
)

_KEY_BEFORE_QUOTES = re.compile(r"[ \t]*[A-Za-z0-9_.-]+[ \t]*=[ \t]*")


class _Parser:
    """One pass over one text. `pos` is the end of the part that has been read."""

    def __init__(self, text: str, doubtful_ends: frozenset[int] = frozenset()) -> None:
        self.text = text
        self.pos = 1 if text.startswith("\ufeff") else 0
        self.problems: list[SyntaxProblem] = []
        self.tables = [_ROOT]
        self.comments: list[TextRange] = []
        self.doubtful_ends: list[int] = []
        self._not_ends = doubtful_ends
        self._broken = False

    def skip(self, before: Document, end: int) -> None:
        """Take over the statements before `end` from a tree that has the same there."""
        self.tables = list(before.tables[: bisect_left(before.tables, end, 1, key=_header_start)])
        last = self.tables[-1]
        entries = last.entries[: bisect_left(last.entries, end, key=_entry_end)]
        self.tables[-1] = last.with_entries(last.range, entries)
        self.pos = max(self.pos, entries[-1].range.end if entries else last.header_range.end)
        self.comments = [each for each in before.comments if each.start < self.pos]

    def document(self, known: _Known | None = None) -> Document:
        """Return the tree of the whole text; what is `known` of the text before an edit is not read again."""
        while True:
            table = self.tables[-1]
            entries = table.entries + self._entries()
            whole = TextRange(table.range.start, self.pos)
            self.tables[-1] = table.with_entries(whole, entries)
            if self.pos >= len(self.text):
                break
            if known is not None and (index := known.table_at(self.pos)) is not None:
                self._take_over(known, index)
                break
            self.tables.append(self._header())
            self._finish_line()
        is_doubtful = bool(self.doubtful_ends) or (known is not None and known.before.is_doubtful)
        return Document(tuple(self.tables), tuple(self.comments), is_doubtful)

    def _take_over(self, known: _Known, index: int) -> None:
        """Take over the tables from one on, and the comments among them, that an edit above has only moved."""
        by, tables, comments = known.changed.shift, known.before.tables, known.before.comments
        first = bisect_left(comments, self.pos - by, key=_start)
        self.tables += [each.moved(by) for each in tables[index:]]
        self.comments += [each.moved(by) for each in comments[first:]]
        self.pos = len(self.text)

    # -- statements

    def _entries(self) -> tuple[Entry, ...]:
        entries = self._plain_entries()
        while self._next_statement() and self.text[self.pos] != "[":
            entries.append(self._entry(depth=0))
            self._finish_line()
            entries += self._plain_entries()
        return tuple(entries)

    def _plain_entries(self) -> list[Entry]:
        """Return the statements up to the first one that takes a closer look, in a quarter of the time."""
        entries: list[Entry] = []
        match = _PLAIN_ENTRY.match(self.text, self.pos)
        while match is not None:
            entry = _plain_pair(match)
            entries.append(entry)
            self.pos = match.end()
            comment = self.text.find("#", entry.range.end, self.pos)
            if comment >= 0:
                self.comments.append(TextRange(comment, self.pos))
            match = _PLAIN_ENTRY.match(self.text, self.pos)
        return entries

    def _next_statement(self) -> bool:
        """Skip to the next statement; False at the end of the text."""
        self._broken = False
        while True:
            self.pos = _end(_BLANK, self.text, self.pos)
            if self.pos >= len(self.text):
                return False
            if self.text[self.pos] != "#":
                return True
            self._comment()

    def _finish_line(self) -> None:
        """Parse the rest of a statement's line, where only a comment may stand."""
        match = _LINE_END.match(self.text, self.pos)
        if match is None:
            start = _end(_SPACE, self.text, self.pos)
            self.pos = _end(_REST_OF_LINE, self.text, start)
            hint = hints.behind_statement(
                self.text[:start].rstrip()[-1:], self.text[start : self.pos]
            )
            where = TextRange(start, self.pos)
            self._problem(where, "expected a new line after the statement", hint)
            return
        if match.group(1) is not None:
            self.comments.append(TextRange(*match.span(1)))
        self.pos = match.end()

    def _header(self) -> Table:
        start = self.pos
        is_array = self.text.startswith("[[", start)
        self.pos = _end(_SPACE, self.text, start + (2 if is_array else 1))
        key = self._key("the name of the table", TextRange(start, self.pos), hints.about_header)
        closing = "]]" if is_array else "]"
        if self.text.startswith(closing, self.pos):
            self.pos += len(closing)
        else:
            where = TextRange(start, self.pos)
            hint = hints.about_header(self._rest_of_line())
            self._problem(where, f"expected `{closing}` after the table's name", hint)
        whole = TextRange(start, self.pos)
        return Table(whole, whole, is_array, not self._broken, key.names, Body(key, ()))

    def _entry(self, depth: int) -> Entry:
        """Parse one `key = value` of a table or an inline table."""
        key = self._key("a key", TextRange(self.pos, self.pos + 1), hints.about_key)
        value = None
        if not self._broken:
            if self._at("="):
                equals = self.pos
                self.pos = _end(_SPACE, self.text, equals + 1)
                value = self._value(TextRange(equals, equals + 1), depth)
            else:
                hint = hints.behind_key(self._rest_of_line())
                self._problem(key.range, "expected `=` and a value after the key", hint)
        return Entry(TextRange(key.range.start, self.pos), key, value)

    def _key(self, what: str, before: TextRange, hint: Callable[[str], str]) -> Key:
        """Return a dotted key and the space behind it; if there is none, `before` is to blame.

        The part of one whose quote is not closed yet is what may be its name.
        """
        plain = self._plain_key()
        if plain is not None:
            return plain
        start = end = self.pos
        parts: list[KeyPart] = []
        while True:
            match = _KEY_PART.match(self.text, self.pos)
            if match is None:
                where = TextRange(start, end) if parts else before
                self._problem(where, f"expected {what}", hint(self._rest_of_line()))
                half = _HALF_KEY.match(self.text, self.pos)
                if half is not None:
                    parts.append(KeyPart(TextRange(*half.span()), half.group(1)))
                    self.pos = end = half.end()
                break
            token = match.group()
            name = unquote(token) if token[0] in "\"'" else token
            parts.append(KeyPart(TextRange(*match.span()), token if name is None else name))
            end = match.end()
            self.pos = _end(_SPACE, self.text, end)
            if not self._at("."):
                break
            end = self.pos + 1
            self.pos = _end(_SPACE, self.text, end)
        names = [part.name for part in parts]
        return Key(TextRange(start, end), tuple(parts), tuple(names))

    def _plain_key(self) -> Key | None:
        """Return a key whose parts are bare and have no space between them, in half the time."""
        match = _PLAIN_KEY.match(self.text, self.pos)
        if match is None:
            return None
        names = tuple(match.group().split("."))
        parts: list[KeyPart] = []
        start = match.start()
        for name in names:
            parts.append(KeyPart(TextRange(start, start + len(name)), name))
            start += len(name) + 1
        self.pos = _end(_SPACE, self.text, match.end())
        return Key(TextRange(*match.span()), tuple(parts), names)

    # -- values

    def _value(self, before: TextRange, depth: int) -> Value | None:
        """Return the value at `pos`; where there is none, `before` is what it was expected after."""
        character = self.text[self.pos : self.pos + 1]
        if character in ("", "\r", "\n", "#"):
            self._problem(before, "expected a value")
            return None
        if character in "\"'":
            return self._string(character, may_span_lines=depth == 0)
        if character in "[{":
            return self._nested(character, depth + 1)
        return self._scalar()

    def _scalar(self) -> Value | None:
        match = _BARE_VALUE.match(self.text, self.pos)
        if match is None:
            self._problem(TextRange(self.pos, self.pos + 1), "expected a value")
            return None
        start, end = match.span()
        time = _TIME_OF_DAY.match(self.text, end)
        if time is not None:
            end = time.end()
        self.pos = end
        token = self.text[start:end]
        kind = _SCALAR.fullmatch(token)
        if kind is None:
            hint = hints.about_value(token, self._rest_of_line())
            self._problem(TextRange(start, end), f"`{token[:40]}` is not a value", hint)
            return Value(TextRange(start, end), ValueKind.INVALID)
        return Value(TextRange(start, end), _KIND[kind.lastgroup or "INVALID"])

    def _string(self, quote: str, *, may_span_lines: bool) -> Value:
        if self.text.startswith(quote * 3, self.pos):
            return self._multi_line_string(quote * 3)
        start = self.pos
        pattern = _BASIC_STRING if quote == '"' else _LITERAL_STRING
        match = pattern.match(self.text, start)
        assert match is not None  # The opening quote is there.
        closed = match.group(1) != ""
        self.pos = match.end() if closed else _end(_REST_OF_LINE, self.text, start)
        whole = TextRange(start, self.pos)
        if closed:
            return Value(whole, ValueKind.STRING)
        pasted = end_of_pasted(self.text, self.pos, quote) if may_span_lines else None
        if pasted is None:
            self._problem(whole, f"the string is not closed: expected `{quote}`")
        else:
            self.pos = pasted
            expected = f"the string is not closed in its line: expected `{quote}`"
            self._problem(whole, expected, f"text of several lines must be between `{quote * 3}`")
        return Value(TextRange(start, self.pos), ValueKind.STRING, complete=False)

    def _multi_line_string(self, quotes: str) -> Value:
        start = self.pos
        end = self._end_of_multi_line(start + 3, quotes)
        if end is not None:
            self.pos = end
            return Value(TextRange(start, end), ValueKind.STRING)
        self.pos = end_of_prose(self.text, _end(_REST_OF_LINE, self.text, start))
        self._problem(TextRange(start, start + 3), f"the string is not closed: expected `{quotes}`")
        return Value(TextRange(start, self.pos), ValueKind.STRING, complete=False)

    def _end_of_multi_line(self, start: int, quotes: str) -> int | None:
        """Return the offset behind the closing quotes, None if there are none. Up to two quotes before them belong to the string."""
        found = closing_quotes(self.text, start, quotes)
        if found < 0 or self._looks_like_opening(start, found):
            return None
        end = found + 3
        while end < found + 5 and self.text.startswith(quotes[0], end):
            end += 1
        return end

    def _looks_like_opening(self, start: int, found: int) -> bool:
        """Return whether the quotes at `found` follow `key = ` on their line, as an opening would."""
        line_feed = self.text.rfind("\n", start, found)
        line = max(line_feed, self.text.rfind("\r", max(start, line_feed), found)) + 1
        if line == 0 or not _KEY_BEFORE_QUOTES.fullmatch(self.text, line, found):
            return False
        self.doubtful_ends.append(found)
        return found in self._not_ends

    def _nested(self, opening: str, depth: int) -> Value:
        start = self.pos
        if depth > MAX_NESTING:
            self.pos = _end(_REST_OF_LINE, self.text, start)
            whole = TextRange(start, self.pos)
            self._problem(whole, f"values are nested more than {MAX_NESTING} deep")
            return Value(whole, ValueKind.INVALID, complete=False)
        self.pos += 1
        return self._array(start, depth) if opening == "[" else self._inline_table(start, depth)

    def _array(self, start: int, depth: int) -> Value:
        items = self._plain_items()
        separated = self.text[self.pos - 1] in "[,"
        while self._gap(ANCHOR):
            character = self.text[self.pos]
            if character == "]":
                self.pos += 1
                return Value(TextRange(start, self.pos), ValueKind.ARRAY, True, tuple(items))
            here = TextRange(self.pos, self.pos + 1)
            if character == ",":
                if separated:
                    self._problem(here, "expected a value before the comma")
                separated = True
                self.pos += 1
                continue
            if not separated:
                self._problem(here, "expected `,` or `]`")
            value = self._value(here, depth)
            separated = False
            if value is None:
                self.pos += 1
            else:
                items.append(value)
        self._problem(self._last_token(start), "the array is not closed: expected `]`")
        return Value(TextRange(start, self.pos), ValueKind.ARRAY, False, tuple(items))

    def _plain_items(self) -> list[Value]:
        """Return the elements up to the first one that takes a closer look."""
        items: list[Value] = []
        match = _PLAIN_ITEM.match(self.text, self.pos)
        while match is not None:
            items.append(Value(TextRange(*match.span(1)), ValueKind.STRING))
            self.pos = match.end()
            match = _PLAIN_ITEM.match(self.text, self.pos)
        return items

    def _inline_table(self, start: int, depth: int) -> Value:
        entries = self._plain_members()
        separated = self.text[self.pos - 1] in "{,"
        # Where a comma or the end is due, a line `key =` begins a statement of its own.
        while self._gap(HEADER_ANCHOR if separated else ANCHOR):
            character = self.text[self.pos]
            if character == "}":
                self.pos += 1
                whole = TextRange(start, self.pos)
                return Value(whole, ValueKind.INLINE_TABLE, True, (), tuple(entries))
            here = TextRange(self.pos, self.pos + 1)
            if character == ",":
                if separated:
                    self._problem(here, "expected a key before the comma")
                self.pos += 1
                entries += self._plain_members()
                separated = self.text[self.pos - 1] == ","
                continue
            if not separated:
                self._problem(here, "expected `,` or `}`")
            if _KEY_PART.match(self.text, self.pos) is None and character not in "\"'":
                self._problem(here, "expected a key", hints.about_key(self._rest_of_line()))
                break
            entries.append(self._entry(depth))
            separated = False
        self._problem(self._last_token(start), "the inline table is not closed: expected `}`")
        whole = TextRange(start, self.pos)
        return Value(whole, ValueKind.INLINE_TABLE, False, (), tuple(entries))

    def _plain_members(self) -> list[Entry]:
        """Return the members up to the first one that takes a closer look."""
        entries: list[Entry] = []
        match = None if self._broken else _PLAIN_MEMBER.match(self.text, self.pos)
        while match is not None:
            entries.append(_plain_pair(match))
            self.pos = match.end()
            match = _PLAIN_MEMBER.match(self.text, self.pos)
        return entries

    def _gap(self, anchor: re.Pattern[str]) -> bool:
        """Skip blanks and comments between the parts of a value that may span lines.

        False, with `pos` behind the last part, at the end of the text or before a line that begins
        another statement.
        """
        text = self.text
        while True:
            end = _end(_BLANK, text, self.pos)
            if end >= len(text):
                return False
            line = max(text.rfind("\n", self.pos, end), text.rfind("\r", self.pos, end)) + 1
            if line > 0 and anchor.match(text, line):
                return False
            self.pos = end
            if text[end] != "#":
                return True
            self._comment()

    # -- small helps

    def _at(self, character: str) -> bool:
        return self.text.startswith(character, self.pos)

    def _comment(self) -> None:
        end = _end(_COMMENT, self.text, self.pos)
        self.comments.append(TextRange(self.pos, end))
        self.pos = end

    def _last_token(self, start: int) -> TextRange:
        """Return the last character that was understood, for problems about what should follow it."""
        end = len(self.text[start : self.pos].rstrip()) + start
        return TextRange(max(start, end - 1), end)

    def _rest_of_line(self) -> str:
        return self.text[self.pos : _end(_REST_OF_LINE, self.text, self.pos)]

    def _problem(self, where: TextRange, message: str, hint: str = "") -> None:
        if not self._broken:
            self.problems.append(SyntaxProblem(where, f"{message} ({hint})" if hint else message))
        self._broken = True


def _plain_pair(match: re.Match[str]) -> Entry:
    kind = match.lastgroup or "INVALID"
    where, value = TextRange(*match.span(1)), TextRange(*match.span(kind))
    name = match.group(1)
    key = Key(where, (KeyPart(where, name),), (name,))
    return Entry(TextRange(where.start, value.end), key, Value(value, _KIND[kind]))


def _header_start(table: Table) -> int:
    return table.header_range.start


def _entry_end(entry: Entry) -> int:
    return entry.range.end


def _start(where: TextRange) -> int:
    return where.start


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where a pattern that can match the empty string ends."""
    match = pattern.match(text, position)
    return position if match is None else match.end()
