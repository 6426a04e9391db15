"""The file is not TOML."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Fix, change
from axe_lsp.features.rule import Dialects, Rule, Subject
from axe_lsp.features.syntax_guesses import GUESSES, Statement

_REST_OF_LINE = re.compile(r"[^\r\n]*")


def fixes(case: Case) -> Iterator[Fix]:
    """The text to add or remove that completes a statement.

    Each guess is tried on the statement alone. What does not make TOML of it is not offered.
    """
    statement = _statement(case)
    if statement is None:
        return
    for beginning, guesses in GUESSES:
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


RULE = Rule(
    code="syntax",
    severity=Severity.ERROR,
    summary="The file is not TOML.",
    documentation="""
The text is not TOML 1.1, so the agent can't run. The message says what the parser expected, at the
place of the error. A broken statement causes one diagnostic; the statements after it are checked as
usual.

```toml
sub_agents = ["lint", "test"
[params]          # the array above is not closed
```
""",
    is_for=Dialects.ALL,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
