"""Comments that silence diagnostics: `# axe: ignore[code, code]`.

At the end of a line one is about that line, on a line of its own about the next. A statement that
begins or ends there is meant as a whole, since no comment can stand inside a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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

    def covers(self, offset: int) -> bool:
        """Whether a diagnostic that begins at `offset` is meant."""
        return any(each.touches(offset) for each in self.about)


def may_hold_ignores(text: str) -> bool:
    """Whether it is worth looking for them."""
    return "axe:" in text


def read_ignores(parse: Parse) -> tuple[Ignore, ...]:
    """The comments of this kind, in written order."""
    if not may_hold_ignores(parse.text):
        return ()
    return tuple(
        _ignore(parse, comment, match)
        for comment in parse.document.comments
        for match in _IGNORE.finditer(parse.text, *comment)
    )


def _ignore(parse: Parse, comment: TextRange, match: re.Match[str]) -> Ignore:
    codes = tuple(
        IgnoredCode(code.group(), TextRange(*code.span()))
        for code in _CODE.finditer(parse.text, *(match.span(1) if match[1] else (0, 0)))
    )
    return Ignore(TextRange(*match.span()), codes, tuple(_about(parse, comment)))


def _about(parse: Parse, comment: TextRange) -> Iterator[TextRange]:
    line = parse.lines.line_at(comment.start)
    before = TextRange(parse.lines.starts[line], comment.start).of(parse.text)
    if not before.strip("\ufeff \t"):
        line = _next_statement(parse, line)
    if line >= len(parse.lines.starts):
        return
    whole = parse.lines.line_range(line)
    yield whole
    for table in parse.document.tables:
        for entry in table.entries:
            first, last = (parse.lines.line_at(offset) for offset in entry.range)
            if first != last and line in (first, last):
                yield entry.range


def _next_statement(parse: Parse, line: int) -> int:
    """The line below a comment, and below further comments."""
    while True:
        line += 1
        if line >= len(parse.lines.starts):
            return line
        if not parse.lines.line_range(line).of(parse.text).lstrip().startswith("#"):
            return line
