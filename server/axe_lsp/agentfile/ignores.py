"""Comments that silence diagnostics: `# axe: ignore[code, code]`.

At the end of a line one is about that line, on a line of its own about the next. A statement that
begins or ends there is meant as a whole, since no comment can stand inside a string.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from axe_lsp.agentfile.parse import Parse
from axe_lsp.agentfile.text import TextRange

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
    """What all comments of a file silence together: the places, by the code of the diagnostic."""

    def __init__(self, ignores: Sequence[Ignore]) -> None:
        about: defaultdict[str, set[TextRange]] = defaultdict(set)
        for ignore in ignores:
            for named in ignore.codes:
                about[named.code].update(ignore.about)
        self._places = {code: _united(ranges) for code, ranges in about.items()}

    def holds(self, code: str, offset: int) -> bool:
        """Whether a comment silences a diagnostic with this code that begins at `offset`."""
        places = self._places.get(code, ())
        index = bisect_right(places, offset, key=_start) - 1
        return index >= 0 and places[index].touches(offset)


def _united(ranges: set[TextRange]) -> list[TextRange]:
    """The ranges in order, those that overlap as one."""
    united: list[TextRange] = []
    for each in sorted(ranges):
        if united and each.start <= united[-1].end:
            united[-1] = TextRange(united[-1].start, max(united[-1].end, each.end))
        else:
            united.append(each)
    return united


def _start(where: TextRange) -> int:
    return where.start


def may_hold_ignores(text: str) -> bool:
    """Whether it is worth looking for them."""
    return "axe:" in text


def read_ignores(parse: Parse) -> tuple[Ignore, ...]:
    """The comments of this kind, in written order."""
    if not may_hold_ignores(parse.text):
        return ()
    longer = _longer_statements(parse)
    return tuple(
        _ignore(parse, comment, match, longer)
        for comment in parse.document.comments
        for match in _IGNORE.finditer(parse.text, *comment)
    )


_Statements = Mapping[int, Sequence[TextRange]]
"""The statements over several lines that begin or end on a line, by its number."""


def _longer_statements(parse: Parse) -> _Statements:
    statements: defaultdict[int, list[TextRange]] = defaultdict(list)
    for table in parse.document.tables:
        for entry in table.entries:
            first, last = (parse.lines.line_at(offset) for offset in entry.range)
            if first != last:
                statements[first].append(entry.range)
                statements[last].append(entry.range)
    return statements


def _ignore(parse: Parse, comment: TextRange, match: re.Match[str], longer: _Statements) -> Ignore:
    codes = tuple(
        IgnoredCode(code.group(), TextRange(*code.span()))
        for code in _CODE.finditer(parse.text, *(match.span(1) if match[1] else (0, 0)))
    )
    return Ignore(TextRange(*match.span()), codes, tuple(_about(parse, comment, longer)))


def _about(parse: Parse, comment: TextRange, longer: _Statements) -> Iterator[TextRange]:
    line = parse.lines.line_at(comment.start)
    before = TextRange(parse.lines.starts[line], comment.start).of(parse.text)
    if not before.strip("\ufeff \t"):
        line = _next_statement(parse, line)
    if line >= len(parse.lines.starts):
        return
    yield parse.lines.line_range(line)
    yield from longer.get(line, ())


def _next_statement(parse: Parse, line: int) -> int:
    """The line below a comment, and below further comments."""
    while True:
        line += 1
        if line >= len(parse.lines.starts):
            return line
        if not parse.lines.line_range(line).of(parse.text).lstrip().startswith("#"):
            return line
