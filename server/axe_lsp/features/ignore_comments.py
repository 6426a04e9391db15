"""A comment that silences the finding, of whatever rule it is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from sys import maxsize

from axe_lsp.agentfile.check.ignores import Ignore
from axe_lsp.agentfile.schema.lookup import part_at
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice
from axe_lsp.agentfile.text.tree import Entry, ValueKind
from axe_lsp.features.diagnostics import not_silenced
from axe_lsp.features.fix import Case, Fix, change
from axe_lsp.features.rules import syntax, unused_ignore

_NEVER = (syntax.RULE.code, unused_ignore.RULE.code)
"""A broken statement may swallow the comment; one about a comment is better removed."""


def fixes(case: Case) -> Iterator[Fix]:
    code = case.finding.code
    is_offered = code not in _NEVER and code not in not_silenced(case.file)
    splice = _splice(case, code) if is_offered else None
    if splice is not None:
        yield change(case, f"Silence `{code}` here with a comment", splice)


def _splice(case: Case, code: str) -> Splice | None:
    start = case.finding.range.start
    for ignore in _about_line_of(case.file.ignores, start):
        if ignore.codes:
            end = ignore.codes[-1].range.end
            return Splice(TextRange(end, end), f", {code}")
    comment = f"# axe: ignore[{code}]"
    lines = case.lookup.parse.lines
    line = lines.line_range(lines.line_at(start))
    content = line.of(case.text).lstrip("\ufeff \t")
    if not content or content.startswith("#"):
        return None  # There is no statement to which it could belong.
    entry = case.lookup.statement_at(line.end)
    if entry is not None and _is_in_string(entry, line.end):
        return splices.line_above(case.text, entry.range.start, comment)
    return Splice(TextRange(line.end, line.end), f"  {comment}")


def _about_line_of(ignores: Sequence[Ignore], offset: int) -> Iterator[Ignore]:
    """The comments about the line that holds `offset`. Their lines come in the order of the comments."""
    index = bisect_left(ignores, offset, key=_end_of_line)
    for ignore in islice(ignores, index, None):
        if not ignore.about or not ignore.about[0].touches(offset):
            return
        yield ignore


def _end_of_line(ignore: Ignore) -> int:
    """The end of the comment's line; none for a comment without a statement, which is at the end of the file."""
    return ignore.about[0].end if ignore.about else maxsize


def _is_in_string(entry: Entry, offset: int) -> bool:
    value = entry.value
    while value is not None and value.kind is not ValueKind.STRING:
        inner = part_at(value.entries, offset)
        value = inner.value if inner is not None else part_at(value.items, offset)
    return value is not None and value.range.start < offset < value.range.end
