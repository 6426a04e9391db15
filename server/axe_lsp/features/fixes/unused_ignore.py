"""The code that was meant, or the comment without it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from axe_lsp.agentfile import splices
from axe_lsp.agentfile.ignores import Ignore, IgnoredCode
from axe_lsp.agentfile.splices import Splice
from axe_lsp.agentfile.text import TextRange
from axe_lsp.features.fix import Case, Fix, change, replace


def fixes(case: Case) -> Iterator[Fix]:
    if case.finding.suggestion is not None:
        yield replace(case, case.finding.suggestion)
    where = case.finding.range
    ignores = case.file.ignores
    index = bisect_right(ignores, where.start, key=lambda each: each.range.start) - 1
    if index < 0:
        return
    ignore = ignores[index]
    if ignore.range == where:
        yield change(case, "Remove the comment", _without(case, ignore))
    for code in ignore.codes:
        if code.range == where:
            yield _without_code(case, ignore, code)


def _without_code(case: Case, ignore: Ignore, code: IgnoredCode) -> Fix:
    others = [each.code for each in ignore.codes if each is not code]
    if not others:
        return change(case, "Remove the comment", _without(case, ignore))
    codes = TextRange(ignore.codes[0].range.start, ignore.codes[-1].range.end)
    return change(case, f"Remove `{code.code}`", Splice(codes, ", ".join(others)))


def _without(case: Case, ignore: Ignore) -> Splice:
    """The file without the comment, which may say more, and without its line if there is nothing else."""
    comments = case.lookup.parse.document.comments
    index = bisect_right(comments, ignore.range.start, key=lambda each: each.start) - 1
    return splices.without_comment(case.text, comments[index])
