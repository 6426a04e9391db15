"""A comment that silences the finding, of whatever rule it is."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import splices
from axe_lsp.agentfile.splices import Splice
from axe_lsp.agentfile.text import TextRange
from axe_lsp.agentfile.tree import Entry, ValueKind
from axe_lsp.features.fix import Case, Fix, change
from axe_lsp.features.rules import syntax, unused_ignore

_NEVER = (syntax.RULE.code, unused_ignore.RULE.code)
"""A broken statement may swallow the comment; one about a comment is better removed."""


def fixes(case: Case) -> Iterator[Fix]:
    code = case.finding.code
    splice = _splice(case, code) if code not in _NEVER else None
    if splice is not None:
        yield change(case, f"Silence `{code}` here with a comment", splice)


def _splice(case: Case, code: str) -> Splice | None:
    start = case.finding.range.start
    for ignore in case.file.ignores:
        if ignore.codes and ignore.about and ignore.about[0].touches(start):
            end = ignore.codes[-1].range.end
            return Splice(TextRange(end, end), f", {code}")
    comment = f"# axe: ignore[{code}]"
    lines = case.lookup.parse.lines
    line = lines.line_range(lines.line_at(start))
    content = line.of(case.text).lstrip("\ufeff \t")
    if not content or content.startswith("#"):
        return None  # There is no statement to which it could belong.
    entry = _entry_around(case, line.end)
    if entry is not None and _is_in_string(entry, line.end):
        return splices.line_above(case.text, entry.range.start, comment)
    return Splice(TextRange(line.end, line.end), f"  {comment}")


def _entry_around(case: Case, offset: int) -> Entry | None:
    for table in case.lookup.parse.document.tables:
        for entry in table.entries:
            if entry.range.start <= offset < entry.range.end:
                return entry
    return None


def _is_in_string(entry: Entry, offset: int) -> bool:
    values = [entry.value] if entry.value is not None else []
    for value in values:
        if value.kind is ValueKind.STRING and value.range.start < offset < value.range.end:
            return True
        values += [*value.items, *(each.value for each in value.entries if each.value is not None)]
    return False
