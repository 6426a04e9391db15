"""Comments that silence diagnostics: `# axe: ignore[code, code]`.

At the end of a line one is about that line, on a line of its own about the next. A statement that
begins or ends there is meant as a whole, since no comment can stand inside a string.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange

_IGNORE = re.compile(r"# *axe: *ignore\b(?: *\[([^\]\r\n]*)\])?")
_CODE = re.compile(r"[^\s,]+")


class IgnoredCode(NamedTuple):
    """One diagnostic that is to be silent."""

    code: str
    range: TextRange


class Ignore(NamedTuple):
    """One comment: where it stands, which diagnostics it names, and what it is about."""

    range: TextRange
    codes: tuple[IgnoredCode, ...]
    about: tuple[TextRange, ...]


class Silenced:
    """The places that all comments of a file suppress, by the code of the diagnostic."""

    def __init__(self, ignores: Sequence[Ignore]) -> None:
        about: defaultdict[str, set[TextRange]] = defaultdict(set)
        for ignore in ignores:
            for named in ignore.codes:
                about[named.code].update(ignore.about)
        self._places = {code: _united(ranges) for code, ranges in about.items()}
        self._starts = {code: [each.start for each in at] for code, at in self._places.items()}

    def holds(self, code: str, offset: int) -> bool:
        """Return whether a comment silences a diagnostic with this code that begins at `offset`."""
        index = bisect_right(self._starts.get(code, ()), offset) - 1
        return index >= 0 and self._places[code][index].touches(offset)


def _united(ranges: set[TextRange]) -> list[TextRange]:
    """Return the ranges in order, those that overlap as one."""
    united: list[TextRange] = []
    for each in sorted(ranges):
        if united and each.start <= united[-1].end:
            united[-1] = TextRange(united[-1].start, max(united[-1].end, each.end))
        else:
            united.append(each)
    return united


def may_hold_ignores(text: str) -> bool:
    """Return whether it is worth looking for them."""
    return "axe:" in text


def read_ignores(parse: Parse) -> tuple[Ignore, ...]:
    """Return the comments of this kind, in written order."""
    if not may_hold_ignores(parse.text):
        return ()
    statements = _Statements(parse)
    return tuple(
        _ignore(parse, comment, match, statements)
        for comment in parse.document.comments
        for match in _IGNORE.finditer(parse.text, *comment)
    )


class _Statements:
    """The lines of a file, and the statements that begin or end on them."""

    def __init__(self, parse: Parse) -> None:
        self._text, self._lines = parse.text, parse.lines
        self._longer: defaultdict[int, list[TextRange]] = defaultdict(list)
        for entry in (entry for table in parse.document.tables for entry in table.entries):
            start, end = entry.range
            first = self._lines.line_at(start)
            if end >= self._lines.start_of(first + 1):
                self._longer[first].append(entry.range)
                self._longer[self._lines.line_at(end)].append(entry.range)
        self._next = (-1, -1)

    def about(self, comment: TextRange) -> Iterator[TextRange]:
        """Yield the range that a comment applies to. Earlier comments were asked before."""
        line = self._lines.line_at(comment.start)
        before = self._text[self._lines.starts[line] : comment.start]
        if not before.strip("\ufeff \t"):
            line = self._below(line)
        if line >= len(self._lines.starts):
            return
        yield self._lines.line_range(line)
        yield from self._longer.get(line, ())

    def _below(self, line: int) -> int:
        """Return the next line that holds no comment alone: the same for each of the comments above it."""
        first, found = self._next
        if not first <= line < found:
            found = line + 1
            while found < len(self._lines.starts) and self._is_comment(found):
                found += 1
            self._next = (line, found)
        return found

    def _is_comment(self, line: int) -> bool:
        return self._lines.line_range(line).of(self._text).lstrip().startswith("#")


def _ignore(
    parse: Parse, comment: TextRange, match: re.Match[str], statements: _Statements
) -> Ignore:
    codes = tuple(
        IgnoredCode(code.group(), TextRange(*code.span()))
        for code in _CODE.finditer(parse.text, *(match.span(1) if match[1] else (0, 0)))
    )
    return Ignore(TextRange(*match.span()), codes, tuple(statements.about(comment)))
