"""Likely corrections of a statement that is not TOML, from the parser's message."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from axe_lsp.agentfile.schema.key_spec import KeyType, Schema
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.agentfile.text.tree import Entry, Table, Value, ValueKind
from axe_lsp.agentfile.text.values import content_range
from axe_lsp.features.fix import Case, Fix, change

_REST_OF_LINE = re.compile(r"[^\r\n]*")


class Guess(NamedTuple):
    title: str
    changes: Sequence[Splice]


class Statement(NamedTuple):
    """A header, or an entry, with all of its lines, and what the parser stumbled over in it."""

    schema: Schema
    text: str
    range: TextRange
    trouble: TextRange
    table: Table
    entry: Entry | None = None

    @property
    def values(self) -> list[Value]:
        """The value of the entry, and after it the values in it."""
        found = [self.entry.value] if self.entry is not None and self.entry.value else []
        for value in found:
            inner = (entry.value for entry in value.entries if entry.value is not None)
            found.extend([*value.items, *inner])
        return found

    def type(self) -> KeyType | None:
        """Return the value that the key expects; in an inline table the one at this place."""
        path = self.table.path
        for entry in self._way():
            path += entry.key.names
        spec = self.schema.find(path)
        return spec.type if spec is not None else None

    def is_whole(self, where: TextRange) -> bool:
        """Return whether a key is set to what stands there, rather than to a list of such."""
        return any(entry.value is not None and entry.value.range == where for entry in self._way())

    def _way(self) -> Iterator[Entry]:
        """Yield the entry, and those in it that lead to the trouble."""
        entry = self.entry
        while entry is not None:
            yield entry
            tables = (entry.value, *entry.value.items) if entry.value is not None else ()
            inner = (each for table in tables for each in table.entries)
            entry = next((each for each in inner if each.range.touches(self.trouble.start)), None)

    def rest_of_line(self, offset: int) -> TextRange:
        """Return the text from `offset` to the end of its line, without trailing blanks."""
        match = _REST_OF_LINE.match(self.text, offset)
        return TextRange(offset, offset + len(match.group().rstrip()) if match else offset)


def _insert(offset: int, new: str) -> Splice:
    return Splice(TextRange(offset, offset), new)


# -- around keys and headers

_ASSIGNMENT = re.compile(r"[ \t]*(?::=|=>|->|:)[ \t]*")
_WORDS = re.compile(r"[A-Za-z]+(?:[ -][A-Za-z]+)+(?=[ \t]*=)")
_SEPARATORS = re.compile(r"[,;]?[ \t]*")
_OTHER_COMMENT = re.compile(r"//|;|--")
_FOREIGN = re.compile(r"[^\s\"'#=\[\]{},.:“”„«»‹›‘’‚`]+(?=[ \t]*[=.])")


def _behind_statement(statement: Statement) -> Iterator[Guess]:
    rest = statement.trouble.of(statement.text)
    end = statement.entry.range.end if statement.entry else statement.table.header_range.end
    if rest.rstrip() in (",", ";"):
        where = TextRange(end, statement.trouble.end)
        yield Guess(f"Remove the `{rest.strip()}`", [Splice(where, "")])
    separators = _SEPARATORS.match(statement.text, statement.trouble.start)
    if separators is not None:
        new = splices.line_break(statement.text)
        yield Guess("Begin a new line", [Splice(TextRange(end, separators.end()), new)])


def _open_header(statement: Statement) -> Iterator[Guess]:
    closing = "]]" if statement.table.is_array else "]"
    end = statement.trouble.start + len(statement.trouble.of(statement.text).rstrip())
    present = 1 if statement.text.startswith("]", statement.trouble.end) else 0
    yield Guess(f"Add `{closing[present:]}`", [_insert(end, closing[present:])])


def _behind_key(statement: Statement) -> Iterator[Guess]:
    text, key = statement.text, statement.trouble
    assignment = _ASSIGNMENT.match(text, key.end)
    if assignment is not None:
        title = f"Replace `{assignment.group().strip()}` by `=`"
        yield Guess(title, [Splice(TextRange(*assignment.span()), " = ")])
    words = _WORDS.match(text, key.start)
    if words is not None:
        name = re.sub("[ -]", "_", words.group())
        if statement.schema.find((*statement.table.path, name)) is not None:
            yield Guess(f"Replace by `{name}`", [Splice(TextRange(*words.span()), name)])
    yield Guess("Add `=`", [_insert(key.end, " =")])


def _no_key(statement: Statement) -> Iterator[Guess]:
    comment = _OTHER_COMMENT.match(statement.text, statement.trouble.start)
    if comment is not None:
        yield Guess("Replace by `#`", [Splice(TextRange(*comment.span()), "#")])
    name = _FOREIGN.match(statement.text, statement.trouble.start)
    if name is not None:
        yield Guess("Put it into quotes", [Splice(TextRange(*name.span()), f'"{name.group()}"')])


def _set_twice(statement: Statement) -> Iterator[Guess]:
    if statement.entry is not None:
        removal = splices.without_entry(statement.text, statement.entry)
        yield Guess("Remove this line, which has no effect", [removal])


# -- values

_TYPOGRAPHIC = re.compile(r"[“”„«‹‘’‚]([^“”„«»‹›‘’‚\"\r\n]*)[“”»›‘’]")
_UNQUOTED = re.compile(r"[^\s\"'#\[\]{}=][^\"'#\[\]{}=\r\n]*")
_BOOLEANS = {
    "true": "true",
    "yes": "true",
    "on": "true",
    "false": "false",
    "no": "false",
    "off": "false",
}
_WITHOUT_QUOTES = (KeyType.INTEGER, KeyType.FLOAT, KeyType.BOOLEAN)
_LEADING_ZEROS = re.compile(r"([+-]?)0+(\d+)")


def _no_value(statement: Statement) -> Iterator[Guess]:
    text, where = statement.text, statement.trouble
    token, wanted = where.of(text), statement.type()
    word = _BOOLEANS.get(token.lower())
    if word is not None and (wanted is KeyType.BOOLEAN or token.lower() == word):
        yield Guess(f"Replace by `{word}`", [Splice(where, word)])
    typographic = [
        Splice(TextRange(*match.span()), splices.literal(match[1]))
        for match in _TYPOGRAPHIC.finditer(text, where.start, statement.range.end)
    ]
    if typographic:
        yield Guess("Use straight quotes", typographic)
    if wanted in _WITHOUT_QUOTES:
        return  # It would be wrong in another way.
    invalid = [each.range for each in statement.values if each.kind is ValueKind.INVALID]
    quoted = [
        Splice(each, _as_wanted(each.of(text), wanted if statement.is_whole(each) else None))
        for each in invalid
    ]
    yield Guess("Put it into quotes" if len(quoted) == 1 else "Put them into quotes", quoted)
    unquoted = _UNQUOTED.match(text, where.start)
    if unquoted is not None:
        content = unquoted.group().rstrip()
        whole = TextRange(where.start, where.start + len(content))
        yield Guess("Put it into quotes", [Splice(whole, _as_wanted(content, wanted))])


def _as_wanted(content: str, wanted: KeyType | None) -> str:
    if wanted is KeyType.STRINGS:
        return f"[{', '.join(splices.literal(each.strip()) for each in content.split(','))}]"
    return splices.literal(content)


def _invalid_integer(statement: Statement) -> Iterator[Guess]:
    zeros = _LEADING_ZEROS.fullmatch(statement.trouble.of(statement.text))
    if zeros is not None:
        number = zeros[1] + zeros[2]
        yield Guess(f"Replace by `{number}`", [Splice(statement.trouble, number)])


# -- strings

_END_OF_LIST = re.compile(r"[ \t]*[\]},][\]}, \t]*(?:#[^\"'\r\n]*)?\Z")
_ESCAPE = re.compile(r"\\(?:[btnfre\"\\\r\n \t]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})|\\")


def _open_string(statement: Statement) -> Iterator[Guess]:
    text, start = statement.text, statement.trouble.start
    quote = text[start]
    title = f"Close the string with `{quote}`"
    if text.startswith(quote * 3, start):
        for value in statement.values:
            if value.range.start == start:
                new = splices.line_break(text) + quote * 3
                end = start + len(value.range.of(text).rstrip())
                yield Guess(f"Close the string with `{quote * 3}`", [_insert(end, new)])
        return
    whole = next((each.range for each in statement.values if each.range.start == start), None)
    if whole is not None and "\n" in whole.of(text):
        yield _pasted(text, whole, quote)
        return
    line = statement.rest_of_line(start)
    end_of_list = _END_OF_LIST.search(line.of(text))
    if end_of_list is not None:
        yield Guess(title, [_insert(start + end_of_list.start(), quote)])
    yield Guess(title, [_insert(line.end, quote)])


def _pasted(text: str, whole: TextRange, quote: str) -> Guess:
    """Return the quotes of several lines around text that has been pasted into a string of one."""
    has_end = text.endswith(quote, whole.start + 1, whole.end)
    end = TextRange(whole.end - 1, whole.end) if has_end else TextRange(whole.end, whole.end)
    opening = Splice(TextRange(whole.start, whole.start + 1), quote * 3 + splices.line_break(text))
    return Guess(f"Put the text between `{quote * 3}`", [opening, Splice(end, quote * 3)])


def _bad_escape(statement: Statement) -> Iterator[Guess]:
    for value in statement.values:
        if value.kind is ValueKind.STRING and value.range.touches(statement.trouble.start):
            inside = content_range(statement.text, value)
            alone = [
                _insert(match.start(), "\\")
                for match in _ESCAPE.finditer(statement.text, *inside)
                if match.group() == "\\"
            ]
            yield Guess("Double the backslash" + "es" * (len(alone) > 1), alone)


# -- arrays and inline tables

_CLOSING = {ValueKind.ARRAY: "]", ValueKind.INLINE_TABLE: "}"}
_COMMA = re.compile(r"[ \t]*,")


def _open_list(statement: Statement) -> Iterator[Guess]:
    """Yield a bracket behind the last part, in place of a comma on the same line."""
    text = statement.text
    for value in reversed(statement.values):
        if value.complete or value.kind not in _CLOSING:
            continue
        closing = _CLOSING[value.kind]
        title = f"Add `{closing}`"
        ends = [each.range.end for each in value.items] + [each.range.end for each in value.entries]
        end = ends[-1] if ends else value.range.start + 1
        comma = _COMMA.match(text, end)
        if "\n" in text[value.range.start : end]:
            yield Guess(title, [splices.line_below(text, comma.end() if comma else end, closing)])
        elif comma is not None:
            yield Guess(title, [Splice(TextRange(*comma.span()), closing)])
        else:
            yield Guess(title, [_insert(end, closing)])


def _comma_too_much(statement: Statement) -> Iterator[Guess]:
    yield Guess("Remove the comma", [Splice(statement.trouble, "")])


def _no_comma(statement: Statement) -> Iterator[Guess]:
    for value in statement.values:
        parts = [each.range for each in value.items] + [each.range for each in value.entries]
        commas = [
            _insert(before.end, ",")
            for before, behind in pairwise(parts)
            if "," not in _COMMENT.sub("", statement.text[before.end : behind.start])
        ]
        if commas:
            yield Guess("Add the missing comma" + "s" * (len(commas) > 1), commas)


_COMMENT = re.compile(r"#[^\r\n]*")

_GUESSES: tuple[tuple[str, Callable[[Statement], Iterator[Guess]]], ...] = (
    ("expected a new line", _behind_statement),
    ("expected `]]?` after", _open_header),
    ("expected `=`", _behind_key),
    ("expected a key before|expected a value before", _comma_too_much),
    ("expected a key", _no_key),
    ("expected `,`", _no_comma),
    ("expected `,`", _open_list),
    ("the key .* is already set", _set_twice),
    (".* is not a value", _no_value),
    (".* is not a valid integer", _invalid_integer),
    (".* is not an escape", _bad_escape),
    ("the string is not closed", _open_string),
    ("the array is not closed|the inline table is not closed", _open_list),
)
"""The beginnings of the parser's messages, and the guesses for them."""


def completions(case: Case) -> Iterator[Fix]:
    """Yield the fix of a syntax error: each guess is tried on the statement alone, until one makes TOML of it."""
    statement = _statement(case)
    if statement is None:
        return
    for beginning, guesses in _GUESSES:
        if re.match(beginning, case.finding.message):
            for guess in guesses(statement):
                if _mends(statement, guess.changes):
                    yield change(case, guess.title, *guess.changes, preferred=True)
                    return


def _statement(case: Case) -> Statement | None:
    schema, text, trouble = case.lookup.schema, case.text, case.finding.range
    tables = case.lookup.parse.document.tables
    index = bisect_right(tables, trouble.start, key=lambda each: each.header_range.start) - 1
    table = tables[max(index, 0)]
    if table.header is not None:
        whole = _whole_lines(text, table.header_range)
        if whole.touches(trouble.start):
            return Statement(schema, text, whole, trouble, table)
    index = bisect_right(table.entries, trouble.start, key=lambda each: each.range.start) - 1
    if index >= 0:
        entry = table.entries[index]
        whole = _whole_lines(text, entry.range)
        if whole.touches(trouble.start):
            return Statement(schema, text, whole, trouble, table, entry)
    return None


def _whole_lines(text: str, where: TextRange) -> TextRange:
    match = _REST_OF_LINE.match(text, where.end)
    return TextRange(where.start, match.end() if match else where.end)


def _mends(statement: Statement, changes: Sequence[Splice]) -> bool:
    start = statement.range.start
    inside = [
        Splice(TextRange(each.range.start - start, each.range.end - start), each.text)
        for each in changes
    ]
    return not Parse(spliced(statement.range.of(statement.text), inside)).problems
