"""Parse the YAML of a front matter into the tree that TOML has, with exact ranges, finished or not.

What a program takes is decided by its YAML library; `Flavor` has the differences that were found with Bun's YAML, js-yaml 3
and 4, and the library `yaml`, all on random texts. A fault ends no parse: the statement is left out, and reading goes on
with the next line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.toml import MAX_NESTING, SyntaxProblem
from axe_lsp.agentfile.text.tree import Entry, Key, KeyPart, Value, ValueKind


class Flavor(Struct, frozen=True):
    """How one YAML library differs from the others.

    It takes a duplicate key (`has_duplicates`, the last one counts), reads `2026-01-31` as a date (`has_dates`), numbers as
    YAML 1.1 does (`has_old_numbers`), and a tab in front of a key as nothing (`has_tabs`). It lets a quoted text go on in a
    line that is not indented (`has_loose_quotes`), and knows no tags of the user's own (`rejects_tags`).
    """

    has_duplicates: bool = False
    has_dates: bool = False
    has_old_numbers: bool = False
    has_tabs: bool = False
    has_loose_quotes: bool = False
    rejects_tags: bool = False


BUN = Flavor(has_duplicates=True)
JS_YAML_3 = Flavor(
    has_dates=True,
    has_old_numbers=True,
    has_tabs=True,
    has_loose_quotes=True,
    rejects_tags=True,
)
JS_YAML_4 = Flavor(has_dates=True, has_loose_quotes=True, rejects_tags=True)
YAML_1_1 = Flavor()
"""A library in Rust or C that knows no more than YAML, as Copilot CLI has it."""


class Timestamp(Struct, frozen=True):
    """A date or a time, which is no text for the library."""

    text: str


class Tree(NamedTuple):
    """The result of a parse. `root` is None for an empty text; `duplicates` are keys that a later one replaces."""

    root: Value | None
    problems: tuple[SyntaxProblem, ...]
    duplicates: tuple[KeyPart, ...]
    comments: tuple[TextRange, ...]


class Second(Struct, frozen=True):
    """How a program reads a text again that is not YAML.

    `plain` maps the starts of values to their ends that are read as they stand; if they are `deep`, deeper lines below belong
    to them, as to a block scalar. Tabs at the start of a line count as `tab_width` blanks.
    """

    plain: Mapping[int, int] = {}
    deep: bool = False
    tab_width: int = 0


_FIRST = Second()


def parse_yaml(text: str, where: TextRange, flavor: Flavor, second: Second = _FIRST) -> Tree:
    """Parse a part of a text, the first time or in a second try."""
    return _Parser(text, where, flavor, second).tree()


def is_plain_text(word: str) -> bool:
    """Return whether every library reads a word without quotes as this text, and not as a number or the like."""
    where = TextRange(0, len(word))
    roots = [parse_yaml(word, where, each).root for each in (BUN, JS_YAML_3, JS_YAML_4, YAML_1_1)]
    return all(root is not None and root.decoded == word for root in roots)


class _Line(NamedTuple):
    """A line with content: its number of leading blanks, where the content begins and where the line ends."""

    indent: int
    start: int
    end: int
    has_tab: bool


class _FaultError(Exception):
    """A statement that is not YAML."""

    def __init__(self, where: TextRange, message: str) -> None:
        super().__init__(message)
        self.problem = SyntaxProblem(where, message)


_INDICATORS = "@`%"
_LINE = re.compile(r"[^\r\n]*")
_BREAK = re.compile(r"\r\n|\r|\n")
_ENTRY = re.compile(r"-(?=[ \t\r\n]|$)")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#")
_COLON = re.compile(r":(?=[ \t\r\n]|$)")
_PROPERTY = re.compile(r"([&!])([^\s,\[\]{}]*)(?=\s|$)")
_ALIAS = re.compile(r"\*([^\s,\[\]{}]+)")
_BLOCK = re.compile(r"[|>](?:[1-9][+-]?|[+-][1-9]?)?")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")

_SCALARS = (
    ValueKind.INTEGER,
    ValueKind.FLOAT,
    ValueKind.BOOLEAN,
    ValueKind.DATETIME,
    ValueKind.NULL,
)
_NULL = frozenset(["", "~", "null", "Null", "NULL"])
_BOOLEANS = {
    word: word.lower() == "true" for word in ["true", "True", "TRUE", "false", "False", "FALSE"]
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_OLD_INTEGER = re.compile(
    r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*)"
)
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"
)


MAX_REPEATED = 10_000
"""Values that the aliases of one text repeat. Nested aliases could repeat billions."""

_Entries = dict["tuple[str, ...] | int", Entry]
"""The entries of a mapping by the names of their keys, and half-typed ones by their offset."""


class _Parser:
    def __init__(self, text: str, where: TextRange, flavor: Flavor, second: Second) -> None:
        self.text = text[: where.end]
        self.flavor = flavor
        self.second = second
        self.problems: list[SyntaxProblem] = []
        self.duplicates: list[KeyPart] = []
        self.comments: list[TextRange] = []
        self.anchors: dict[str, Value] = {}
        self.repeated = 0
        """The values that aliases have repeated so far."""
        self.lines = self._lines(where)
        self.at = 0
        """The number of the line that is read next."""

    def tree(self) -> Tree:
        control = _CONTROL.search(self.text)
        if control is not None:
            self.problems.append(
                SyntaxProblem(TextRange(*control.span()), "a control character is not YAML")
            )
        root = self._root() if self.lines else None
        return Tree(
            root, tuple(sorted(self.problems)), tuple(self.duplicates), tuple(self.comments)
        )

    def _root(self) -> Value | None:
        root = None
        try:
            first = self.lines[0]
            if self._is_half_typed(first):
                root = self._mapping(first.start, first.indent, 0)
            else:
                root = self._block(first.indent, -1, 0)
        except _FaultError as fault:
            self.problems.append(fault.problem)
        if self.at < len(self.lines) and not self.problems:
            line = self.lines[self.at]
            message = "this line belongs to nothing above it"
            self.problems.append(SyntaxProblem(TextRange(line.start, line.end), message))
        return root

    def _is_half_typed(self, first: _Line) -> bool:
        """Return whether the first line is a word without a colon, above keys: one that is being typed, and no text of several lines."""
        if not self.text[first.start].isalpha() or self._key_end(first.start, first.end) >= 0:
            return False
        below = (each for each in self.lines[1:] if each.indent == first.indent)
        return any(self._key_end(each.start, each.end) >= 0 for each in below)

    # -- lines

    def _lines(self, where: TextRange) -> list[_Line]:
        """Return the lines that are neither blank nor a comment."""
        found, position = [], where.start
        while position < where.end:
            end = self._end_of_line(position)
            start, indent, has_tab = position, 0, False
            while start < end and self.text[start] in " \t":
                is_tab = self.text[start] == "\t"
                has_tab = has_tab or (is_tab and not self.second.tab_width)
                indent += self.second.tab_width if is_tab else 1
                start += 1
            if start < end and self.text[start] == "#":
                self.comments.append(TextRange(start, end))
            elif start < end:
                found.append(_Line(indent, start, end, has_tab))
            line_break = _BREAK.match(self.text, end)
            position = line_break.end() if line_break is not None else where.end
        return found

    def _end_of_line(self, position: int) -> int:
        match = _LINE.match(self.text, position)
        assert match is not None
        return match.end()

    def _next(self, offset: int) -> None:
        """Go on with the first line that begins behind `offset`."""
        while self.at < len(self.lines) and self.lines[self.at].start < offset:
            self.at += 1

    def _end_statement(self, offset: int) -> int:
        """Go on behind a value that ends at `offset`; raise what else stands on its line."""
        end = self._end_of_line(offset)
        rest = self.text[offset:end]
        comment = re.match(r"[ \t]+(#.*)?$|$", rest)
        if comment is None:
            raise _FaultError(
                TextRange(offset, end), f"`{_short(rest.strip())}` is behind a finished value"
            )
        if comment.group(1):
            self.comments.append(TextRange(offset + comment.start(1), end))
        self._next(end)
        return end

    # -- blocks

    def _block(self, indent: int, parent: int, depth: int) -> Value:
        """Parse what begins at the current line, whose indentation is `indent`, below a statement with that of `parent`."""
        line = self.lines[self.at]
        if depth > MAX_NESTING:
            raise _FaultError(TextRange(line.start, line.end), "the nesting is too deep")
        if line.has_tab and not self.flavor.has_tabs:
            raise _FaultError(
                TextRange(line.start, line.end), "YAML takes no tab for indentation; use blanks"
            )
        if _ENTRY.match(self.text, line.start):
            return self._sequence(line.start, indent, depth)
        if self._key_end(line.start, line.end) >= 0 or self.text[line.start] == "?":
            return self._mapping(line.start, indent, depth)
        return self._inline(line.start, parent, depth)

    def _mapping(self, start: int, indent: int, depth: int) -> Value:
        entries: _Entries = {}
        end = position = start
        while True:
            try:
                entry = self._entry(position, indent, depth)
                end = max(end, entry.range.end)
                self._add(entries, entry)
            except _FaultError as fault:
                self.problems.append(fault.problem)
                end = max(end, self._end_of_line(position))
                entries.update((each.range.start, each) for each in self._half_typed(position))
                self._next(max(end, fault.problem.range.start))
                self._skip_deeper(indent)
            if not self._goes_on(indent):
                break
            position = self.lines[self.at].start
        return _table(TextRange(start, end), entries.values())

    def _half_typed(self, position: int) -> list[Entry]:
        """Return the key of a line that has no value yet, for completion."""
        end = self._end_of_line(position)
        word = re.match(r"[\w-]+(?=\s*(?::.*)?$)", self.text[position:end])
        if word is None:
            return []
        where = TextRange(position, position + word.end())
        key = Key(where, (KeyPart(where, word.group()),), (word.group(),))
        return [Entry(TextRange(position, end), key, None)]

    def _goes_on(self, indent: int) -> bool:
        """Return whether the current line is the next statement of a mapping; a wrong indentation is noted and passed over."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.indent < indent or self._is_end(line):
                return False
            if line.has_tab and not self.flavor.has_tabs:
                message = "YAML takes no tab for indentation; use blanks"
            elif line.indent > indent:
                message = "this line is indented more than the one that it belongs to"
            elif _ENTRY.match(self.text, line.start):
                message = "an item of a list is between keys"
            else:
                return True
            self.problems.append(SyntaxProblem(TextRange(line.start, line.end), message))
            self.at += 1
        return False

    def _is_end(self, line: _Line) -> bool:
        return line.indent == 0 and self.text[line.start : line.end].rstrip() == "..."

    def _skip_deeper(self, indent: int) -> None:
        """Leave out the lines that belong to a statement with a fault."""
        while self.at < len(self.lines) and self.lines[self.at].indent > indent:
            self.at += 1

    def _add(self, entries: _Entries, entry: Entry) -> None:
        if entry.key.names == ("<<",) and entry.value is not None:
            self._merge(entries, entry, entry.value)
            return
        earlier = entries.pop(entry.key.names, None)
        if earlier is not None:
            if not self.flavor.has_duplicates:
                name = entry.key.names[0]
                self.problems.append(SyntaxProblem(entry.key.range, f"`{name}` is there already"))
            self.duplicates.extend(earlier.key.parts)
        entries[entry.key.names] = entry

    def _merge(self, entries: _Entries, entry: Entry, value: Value) -> None:
        """Add the keys of a mapping that `<<` names, at the place of the name."""
        sources = value.items if value.kind is ValueKind.ARRAY else (value,)
        for source in sources:
            for each in source.entries:
                names, where = each.key.names, entry.key.range
                key = Key(where, (KeyPart(where, names[0]),), names)
                entries.setdefault(names, Entry(entry.range, key, each.value))

    def _entry(self, start: int, indent: int, depth: int) -> Entry:
        line_end = self._end_of_line(start)
        begin = start
        while (match := _PROPERTY.match(self.text, begin)) is not None:
            begin = self._after_blanks(match.end())
        key_end = self._key_end(start, line_end)
        if key_end < 0:
            raise self._no_key(start, line_end)
        name_end = len(self.text[:key_end].rstrip(" \t"))
        part = KeyPart(TextRange(begin, name_end), self._key_name(begin, name_end))
        key = Key(part.range, (part,), (part.name,))
        value = self._value(key_end + 1, indent, depth)
        return Entry(TextRange(start, max(key_end + 1, value.range.end)), key, value)

    def _no_key(self, start: int, end: int) -> _FaultError:
        text = self.text[start:end]
        if text.startswith(tuple(_INDICATORS)):
            message = f"`{text[0]}` can't begin a text; put it in quotes"
        elif re.match(r"[\w-]+:\S", text):
            message = f"there should be a blank behind `{text.partition(':')[0]}:`"
        elif text[0] in "\"'":
            message = "a quote has no end, or a word behind it"
        else:
            message = "there should be a key with a `:` behind it"
        return _FaultError(TextRange(start, end), message)

    def _key_end(self, start: int, end: int) -> int:
        """Return where the `:` of a key is that begins at `start`; -1 if it is none."""
        while (match := _PROPERTY.match(self.text, start)) is not None and match.end() < end:
            start = self._after_blanks(match.end())
        if start >= end:
            return -1
        first = self.text[start]
        if first in "\"'*":
            behind = self._after_blanks(self._token_end(start, end))
            return behind if behind > start and _COLON.match(self.text, behind) else -1
        if first in "@`%[{|>#":
            return -1
        match = _COLON.search(self.text, start, end)
        colon = match.start() if match is not None else end - 1
        comment = re.search(r"[ \t]#", self.text[start:colon])
        return colon if comment is None and self.text[colon] == ":" else -1

    def _token_end(self, start: int, end: int) -> int:
        """Return where a quoted text or an alias ends; `start` if it has no end."""
        if self.text[start] == "*":
            alias = _ALIAS.match(self.text, start)
            return alias.end() if alias is not None else start
        return max(self._closing_quote(start, end), start)

    def _key_name(self, start: int, end: int) -> str:
        token = self.text[start:end]
        if token[:1] in ('"', "'"):
            return str(self._unquoted(TextRange(start, end)))
        if token[:1] == "*":
            anchor = self.anchors.get(token[1:])
            return str(anchor.decoded) if anchor is not None else token
        return token

    def _sequence(self, start: int, indent: int, depth: int) -> Value:
        items: list[Value] = []
        end = position = start
        while True:
            try:
                item = self._value(position + 1, indent, depth, dash=position)
                end = max(end, item.range.end, position + 1)
                items.append(item)
            except _FaultError as fault:
                self.problems.append(fault.problem)
                end = max(end, self._end_of_line(position))
                self._next(max(end, fault.problem.range.start))
                self._skip_deeper(indent)
            if self.at == len(self.lines):
                break
            line = self.lines[self.at]
            if line.indent != indent or not _ENTRY.match(self.text, line.start):
                if line.indent > indent:
                    self.problems.append(
                        SyntaxProblem(
                            TextRange(line.start, line.end),
                            "this line is indented more than the item that it belongs to",
                        )
                    )
                    self._skip_deeper(indent)
                break
            position = line.start
        return _array(TextRange(start, end), items)

    def _value(self, position: int, indent: int, depth: int, dash: int = -1) -> Value:
        """Parse the value behind a key, or behind the dash at `dash`; `indent` is that of the statement."""
        here = self._after_blanks(position)
        end = self._end_of_line(position)
        if here < end and not self._is_comment(here):
            if dash >= 0:
                compact = self._compact(dash, here, end, indent, depth)
                if compact is not None:
                    return compact
            return self._inline(here, indent, depth, is_mapping=dash < 0)
        if here < end:
            self.comments.append(TextRange(here, end))
        self._next(end)
        return self._below(position, indent, depth, is_item=dash >= 0)

    def _compact(self, dash: int, here: int, end: int, indent: int, depth: int) -> Value | None:
        """Return the mapping or list that begins on the line of a dash."""
        inner = indent + here - dash
        if _ENTRY.match(self.text, here):
            return self._sequence_at(here, inner, depth + 1)
        if self._key_end(here, end) >= 0:
            if "\t" in self.text[dash:here]:
                raise _FaultError(TextRange(here, end), "YAML takes no tab for indentation")
            return self._mapping(here, inner, depth + 1)
        return None

    def _sequence_at(self, start: int, indent: int, depth: int) -> Value:
        if depth > MAX_NESTING:
            raise _FaultError(TextRange(start, start + 1), "the nesting is too deep")
        return self._sequence(start, indent, depth)

    def _below(self, position: int, indent: int, depth: int, *, is_item: bool) -> Value:
        """Parse a value that stands in the lines below its key or dash; null if there is none."""
        null = Value(TextRange(position, position), ValueKind.NULL, decoded=None)
        if self.at == len(self.lines):
            return null
        line = self.lines[self.at]
        if line.has_tab and not self.flavor.has_tabs:
            return null
        if line.indent > indent:
            return self._block(line.indent, indent, depth + 1)
        is_list = line.indent == indent and _ENTRY.match(self.text, line.start) is not None
        if is_list and not is_item:
            return self._block(indent, indent - 1, depth + 1)
        return null

    # -- values that begin on the line of their key

    def _inline(self, position: int, indent: int, depth: int, *, is_mapping: bool = False) -> Value:
        start = position
        anchor, is_text, position = self._properties(position)
        end = self._end_of_line(position)
        if position > start and (position >= end or self._is_comment(position)):
            self._next(end)
            value = self._below(position, indent, depth, is_item=not is_mapping)
        else:
            value = self._content(position, indent, depth)
        if is_text and value.kind in _SCALARS:
            value = replace(value, kind=ValueKind.STRING, decoded=value.range.of(self.text))
        if anchor:
            self.anchors[anchor] = value
        return value

    def _properties(self, position: int) -> tuple[str, bool, int]:
        """Return the anchor in front of a value, whether a tag makes it a text, and the offset behind both."""
        anchor, is_text = "", False
        while (match := _PROPERTY.match(self.text, position)) is not None:
            if match.group(1) == "&":
                anchor = match.group(2)
            elif match.group() == "!!str":
                is_text = True
            elif self.flavor.rejects_tags and not match.group(2).startswith("!"):
                raise _FaultError(
                    TextRange(*match.span()),
                    f"there is no tag `{match.group()}`; put the text in quotes",
                )
            position = self._after_blanks(match.end())
        return anchor, is_text, position

    def _content(self, position: int, indent: int, depth: int) -> Value:
        first = self.text[position]
        if position in self.second.plain:
            return self._as_it_stands(position, indent)
        if first in "\"'":
            return self._quoted_value(position, indent)
        if first in "[{":
            value, end = self._flow(position, indent, depth + 1)
            self._end_statement(end)
            return value
        if first in "|>":
            return self._block_scalar(position, indent)
        if first == "*":
            return self._alias(position)
        return self._plain(position, indent)

    def _alias(self, position: int) -> Value:
        match = _ALIAS.match(self.text, position)
        name = match.group(1) if match is not None else ""
        value = self.anchors.get(name)
        if match is None or value is None:
            end = self._end_of_line(position)
            raise _FaultError(
                TextRange(position, end),
                f"`*` begins a name that nothing has: `*{name}`; put it in quotes",
            )
        self._end_statement(match.end())
        return self._repeat(value, TextRange(position, match.end()))

    def _repeat(self, value: Value, where: TextRange) -> Value:
        """Return the value of an alias. Raises _FaultError where a few lines would stand for millions of values."""
        if self.repeated <= MAX_REPEATED:
            self.repeated += _size(value)
        if self.repeated > MAX_REPEATED:
            raise _FaultError(where, f"aliases repeat more than {MAX_REPEATED:,} values")
        return replace(value, range=where)

    def _as_it_stands(self, position: int, indent: int) -> Value:
        end = self.second.plain[position]
        self._next(end)
        while (
            self.second.deep and self.at < len(self.lines) and self.lines[self.at].indent > indent
        ):
            end = self.lines[self.at].end
            self.at += 1
        where = TextRange(position, end)
        return Value(where, ValueKind.STRING, decoded=where.of(self.text))

    def _quoted_value(self, position: int, indent: int) -> Value:
        closing = self._closing_quote(position, len(self.text))
        if closing < 0:
            raise _FaultError(
                TextRange(position, self._end_of_line(position)), "the quote has no end"
            )
        where = TextRange(position, closing)
        for match in _BREAK.finditer(self.text, position, closing):
            line_end = self._end_of_line(match.end())
            content = self.text[match.end() : min(line_end, closing)]
            if self.flavor.has_loose_quotes:
                break
            if content.strip() and len(content) - len(content.lstrip(" \t")) <= indent:
                raise _FaultError(
                    TextRange(position, self._end_of_line(position)),
                    "the quote goes on in a line that is not indented",
                )
        decoded = self._unquoted(where)
        self._end_statement(closing)
        return Value(where, ValueKind.STRING, decoded=decoded)

    def _closing_quote(self, start: int, end: int) -> int:
        """Return where the token ends that begins with a quote; -1 if it has no end."""
        pattern = _DOUBLE if self.text[start] == '"' else _SINGLE
        match = pattern.match(self.text, start, end)
        return match.end() if match is not None else -1

    def _unquoted(self, where: TextRange) -> str:
        token = where.of(self.text)
        inside = _folded(token[1:-1], is_double=token[0] == '"')
        return inside.replace("''", "'") if token[0] == "'" else _unescaped(inside, where)

    def _block_scalar(self, position: int, indent: int) -> Value:
        end = self._end_of_line(position)
        match = _BLOCK.match(self.text, position, end)
        behind = self.text[match.end() : end] if match is not None else ""
        if match is None or (behind.strip() and not re.match(r"[ \t]+#", behind)):
            raise _FaultError(
                TextRange(position, end),
                f"`{self.text[position]}` begins a text in the lines below; put it in quotes",
            )
        header = match.group()
        digits = [int(each) for each in header if each.isdigit()]
        content = max(indent, 0) + digits[0] if digits else -1
        lines: list[str] = []
        last, stop = end, end
        line_break = _BREAK.match(self.text, end)
        while line_break is not None and line_break.end() < len(self.text):
            begin = line_break.end()
            stop = self._end_of_line(begin)
            line = self.text[begin:stop]
            blanks = len(line) - len(line.lstrip(" "))
            if line.strip(" "):
                if content < 0 and blanks > indent:
                    content = blanks
                if content < 0 or blanks < content:
                    break
                last = stop
            lines.append(line[content:] if content >= 0 else "")
            line_break = _BREAK.match(self.text, stop)
        self._next(last)
        decoded = _block_text(lines, is_folded=header[0] == ">", header=header)
        return Value(TextRange(position, last), ValueKind.STRING, decoded=decoded)

    def _plain(self, position: int, indent: int) -> Value:
        """Parse a text without quotes, which may go on in deeper lines."""
        end = self._end_of_line(position)
        first = self.text[position]
        if first in _INDICATORS or (
            first in ",]}"
            or (
                first in "-?:"
                and self.text[position + 1 : position + 2] in ("", " ", "\t", "\r", "\n")
            )
        ):
            raise _FaultError(
                TextRange(position, end), f"`{first}` can't begin a text; put it in quotes"
            )
        stop, is_commented = self._plain_end(position, end)
        words = [self.text[position:stop]]
        self._next(end)
        while not is_commented and self.at < len(self.lines):
            line = self.lines[self.at]
            if line.indent <= indent and not (line.has_tab and indent < 0):
                break
            if line.has_tab and line.indent <= indent:
                break
            if any(stop < each.start < line.start for each in self.comments):
                break
            line_stop, is_commented = self._plain_end(line.start, line.end)
            breaks = len(_BREAK.findall(self.text, stop, line.start))
            words.append(
                ("\n" * (breaks - 1) if breaks > 1 else " ") + self.text[line.start : line_stop]
            )
            stop = line_stop
            self.at += 1
        where = TextRange(position, stop)
        content = "".join(words)
        return (
            self._scalar(where, content)
            if len(words) == 1
            else Value(where, ValueKind.STRING, decoded=content)
        )

    def _plain_end(self, start: int, end: int) -> tuple[int, bool]:
        """Return where a plain text ends on its line, and whether a comment ends it."""
        comment = re.compile(r"[ \t]#").search(self.text, start, end)
        if comment is not None:
            self.comments.append(TextRange(comment.start() + 1, end))
        stop = comment.start() if comment is not None else end
        colon = _COLON.search(self.text, start, stop)
        if colon is None and self.text[stop - 1 : stop] == ":":
            colon = re.compile(":").search(self.text, stop - 1)
        if colon is not None:
            raise _FaultError(
                TextRange(start, end),
                "`: ` in a text without quotes begins another key; put the text in quotes",
            )
        return start + len(self.text[start:stop].rstrip(" \t")), comment is not None

    def _scalar(self, where: TextRange, content: str) -> Value:
        kind, decoded = _resolved(content, self.flavor)
        return Value(where, kind, decoded=decoded)

    # -- flow collections

    def _flow(self, position: int, indent: int, depth: int) -> tuple[Value, int]:
        """Parse a value in a flow collection; return it with the offset behind it."""
        start = position
        if depth > MAX_NESTING:
            raise _FaultError(TextRange(position, position + 1), "the nesting is too deep")
        anchor, _, position = self._properties(position)
        position = self._flow_blanks(position, start)
        first = self.text[position]
        if first == "[":
            value, end = self._flow_list(position, indent, depth)
        elif first == "{":
            value, end = self._flow_mapping(position, indent, depth)
        else:
            value, end = self._flow_scalar(position)
        if anchor:
            self.anchors[anchor] = value
        return value, end

    def _flow_scalar(self, position: int) -> tuple[Value, int]:
        first = self.text[position]
        if first in "\"'":
            end = self._closing_quote(position, len(self.text))
            if end < 0:
                raise _FaultError(
                    TextRange(position, self._end_of_line(position)), "the quote has no end"
                )
            where = TextRange(position, end)
            return Value(where, ValueKind.STRING, decoded=self._unquoted(where)), end
        if first == "*":
            match = _ALIAS.match(self.text, position)
            target = self.anchors.get(match.group(1)) if match is not None else None
            if match is not None and target is not None:
                return self._repeat(target, TextRange(*match.span())), match.end()
        match = _FLOW_PLAIN.match(self.text, position)
        if match is None or first in "@`%*|>":
            raise _FaultError(
                TextRange(position, self._end_of_line(position)),
                f"`{first}` can't begin a text; put it in quotes",
            )
        content = match.group().rstrip()
        folded = re.sub(r"[ \t]*(?:\r\n|\r|\n)[ \t]*", " ", content)
        return self._scalar(TextRange(position, position + len(content)), folded), position + len(
            content
        )

    def _flow_list(self, position: int, indent: int, depth: int) -> tuple[Value, int]:
        start, items = position, []
        position = self._flow_blanks(position + 1, start)
        while self.text[position] != "]":
            item, position = self._flow(position, indent, depth + 1)
            behind = self._flow_blanks(position, start)
            if self.text[behind] == ":" and self.text[behind + 1 : behind + 2] in (
                " ",
                "\t",
                "\n",
                "\r",
                ",",
                "]",
            ):
                item, behind = self._flow_pair(item, behind, start, indent, depth)
            items.append(item)
            position = self._separated(behind, "]", start)
        return _array(TextRange(start, position + 1), items), position + 1

    def _flow_pair(
        self, key_value: Value, colon: int, start: int, indent: int, depth: int
    ) -> tuple[Value, int]:
        """Return the mapping of one key that `[a: b]` has."""
        position = self._flow_blanks(colon + 1, start)
        value = Value(TextRange(colon + 1, colon + 1), ValueKind.NULL, decoded=None)
        if self.text[position] not in ",]":
            value, position = self._flow(position, indent, depth + 1)
        key = self._flow_key(key_value)
        where = TextRange(key_value.range.start, max(colon + 1, value.range.end))
        entry = Entry(where, key, value)
        return (
            _table(where, [entry]),
            self._flow_blanks(position, start),
        )

    def _flow_key(self, value: Value) -> Key:
        name = value.decoded if isinstance(value.decoded, str) else value.range.of(self.text)
        return Key(value.range, (KeyPart(value.range, name),), (name,))

    def _flow_mapping(self, position: int, indent: int, depth: int) -> tuple[Value, int]:
        start = position
        entries: _Entries = {}
        position = self._flow_blanks(position + 1, start)
        while self.text[position] != "}":
            key_value, position = self._flow(position, indent, depth + 1)
            position = self._flow_blanks(position, start)
            value = Value(TextRange(position, position), ValueKind.NULL, decoded=None)
            if self.text[position] == ":":
                position = self._flow_blanks(position + 1, start)
                if self.text[position] not in ",}":
                    value, position = self._flow(position, indent, depth + 1)
                    position = self._flow_blanks(position, start)
            key = self._flow_key(key_value)
            end = max(key.range.end, value.range.end)
            self._add(entries, Entry(TextRange(key.range.start, end), key, value))
            position = self._separated(position, "}", start)
        where = TextRange(start, position + 1)
        return _table(where, entries.values()), position + 1

    def _separated(self, position: int, closing: str, start: int) -> int:
        """Return the offset of the next item or of the end, behind the comma."""
        if self.text[position] == ",":
            return self._flow_blanks(position + 1, start)
        if self.text[position] != closing:
            raise _FaultError(
                TextRange(position, self._end_of_line(position)),
                f"there should be `,` or `{closing}` in front of `{self.text[position]}`",
            )
        return position

    def _flow_blanks(self, position: int, start: int) -> int:
        """Return the offset behind blanks, line breaks and comments; raise where the text ends."""
        while position < len(self.text):
            if self.text[position] in " \t\r\n":
                position += 1
            elif self.text[position] == "#" and self.text[position - 1] in " \t\r\n":
                position = self._end_of_line(position)
            else:
                return position
        closing = "]" if self.text[start] == "[" else "}"
        raise _FaultError(
            TextRange(start, self._end_of_line(start)),
            f"there is no `{closing}` for this `{self.text[start]}`",
        )

    # -- small things

    def _after_blanks(self, position: int) -> int:
        while position < len(self.text) and self.text[position] in " \t":
            position += 1
        return position

    def _is_comment(self, position: int) -> bool:
        return self.text[position] == "#" and self.text[position - 1] in " \t\r\n"


_DOUBLE = re.compile(r'"(?:[^"\\]|\\[\s\S])*"')
_SINGLE = re.compile(r"'(?:[^']|'')*'")
_FLOW_PLAIN = re.compile(r"(?:(?![,\[\]{}])(?!:[\s,\[\]{}])(?!\s#)[\s\S])+")


def _array(where: TextRange, items: list[Value]) -> Value:
    decoded = [each.decoded for each in items]
    return Value(where, ValueKind.ARRAY, items=tuple(items), decoded=decoded)


def _size(value: Value) -> int:
    """Return the number of values in a value, itself included."""
    below = (*value.items, *(each.value for each in value.entries if each.value is not None))
    return 1 + sum(map(_size, below))


def _table(where: TextRange, entries: Collection[Entry]) -> Value:
    decoded = {each.key.names[0]: each.value.decoded for each in entries if each.value is not None}
    return Value(where, ValueKind.INLINE_TABLE, entries=tuple(entries), decoded=decoded)


def _resolved(content: str, flavor: Flavor) -> tuple[ValueKind, Any]:
    """Return the kind and the value of a plain scalar, as the library reads it."""
    result: tuple[ValueKind, Any] = (ValueKind.STRING, content)
    if content in _NULL:
        result = ValueKind.NULL, None
    elif content in _BOOLEANS:
        result = ValueKind.BOOLEAN, _BOOLEANS[content]
    elif flavor.has_dates and _DATE.fullmatch(content):
        result = ValueKind.DATETIME, Timestamp(content)
    elif flavor.has_old_numbers and _OLD_INTEGER.fullmatch(content):
        result = ValueKind.INTEGER, _old_integer(content)
    elif _INTEGER.fullmatch(content):
        result = ValueKind.INTEGER, int(content, 0 if content[:2] in ("0x", "0o") else 10)
    elif _FLOAT.fullmatch(content):
        result = ValueKind.FLOAT, _float(content)
    return result


def _float(content: str) -> float:
    word = content.lower().lstrip("+-")
    if word == ".nan":
        return math.nan
    return float(content.replace(".", "", 1)) if word == ".inf" else float(content)


def _old_integer(content: str) -> int:
    digits = content.replace("_", "").lstrip("+-")
    sign = -1 if content[0] == "-" else 1
    if ":" in digits:
        value = 0
        for part in digits.split(":"):
            value = value * 60 + int(part)
        return sign * value
    if digits[:2] in ("0b", "0x"):
        return sign * int(digits, 0)
    return sign * int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)


def _folded(inside: str, *, is_double: bool) -> str:
    """Return a quoted text with its line breaks folded to blanks, empty lines to line feeds."""
    if "\n" not in inside and "\r" not in inside:
        return inside
    if is_double:
        inside = re.sub(r"\\[ \t]*(?:\r\n|\r|\n)[ \t]*", "", inside)

    def folded(match: re.Match[str]) -> str:
        breaks = len(_BREAK.findall(match.group()))
        return "\n" * (breaks - 1) if breaks > 1 else " "

    return re.sub(r"[ \t]*(?:(?:\r\n|\r|\n)[ \t]*)+", folded, inside)


def _block_text(lines: list[str], *, is_folded: bool, header: str) -> str:
    """Return the text of a block scalar."""
    trailing = 0
    while lines and not lines[-1].strip(" "):
        lines = lines[:-1]
        trailing += 1
    if is_folded:
        text = ""
        for index, line in enumerate(lines):
            before = lines[index - 1] if index else ""
            is_prose = index and line and before and line[0] not in " \t" and before[0] not in " \t"
            text += (
                " "
                if is_prose
                else "\n"
                if index and ((line[:1] in " \t" and line) or (before[:1] in " \t" and before))
                else ""
            ) + (line or "\n")
    else:
        text = "\n".join(lines)
    if "-" in header:
        return text
    return text + "\n" * (1 + trailing if "+" in header else 1 if lines else 0)


_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0abtnvfre \"/\\N_LP\t]))"
)
_ESCAPED = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


def _unescaped(inside: str, where: TextRange) -> str:
    """Return a double-quoted text with its escapes replaced. Raise _FaultError for one that YAML does not have."""
    if "\\" not in inside:
        return inside
    without = _ESCAPE.sub("", inside)
    if "\\" in without:
        index = without.index("\\")
        raise _FaultError(
            where, f"YAML has no escape `{without[index : index + 2]}` in double quotes"
        )

    def character(match: re.Match[str]) -> str:
        code = match.group(1) or match.group(2) or match.group(3)
        if code is None:
            return _ESCAPED.get(match.group(4), match.group(4))
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "\ufffd"

    return _ESCAPE.sub(character, inside)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
