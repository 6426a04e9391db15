"""Comments that silence nothing. What the other rules have found is handed in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from axe_lsp.agentfile.check.ignores import Ignore, IgnoredCode
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, change, replace
from axe_lsp.features.rule import Dialects, Rule


def unused_ignores(
    ignores: Collection[Ignore],
    silenced: Collection[Finding],
    judged: Collection[str],
    known: frozenset[str],
    kept: frozenset[str],
) -> Iterator[Finding]:
    """Yield the comments, or the codes in them, that none of the `silenced` findings needs.

    Whether a code of the `known` ones is needed can only be said if it is among the `judged`. No comment
    silences those that are `kept`.
    """
    starts: defaultdict[str, list[int]] = defaultdict(list)
    for finding in silenced:
        insort(starts[finding.code], finding.range.start)
    for ignore in ignores:
        if not ignore.codes:
            yield _finding(ignore, "this suppresses nothing: name the diagnostic, `ignore[code]`")
        for each in ignore.codes:
            if each.code not in known:
                similar = nearest_of(each.code, known)
                hint = f". Did you mean `{similar}`?" if similar else ""
                yield _finding(each, f"there is no diagnostic `{each.code}`{hint}", similar)
            elif each.code in kept:
                yield _finding(
                    each,
                    f"`{each.code}` protects the user: no comment of a workspace suppresses it",
                )
            elif each.code in judged and not _is_needed(ignore, starts[each.code]):
                yield _finding(each, f"there is no `{each.code}` here that this could suppress")


def _is_needed(ignore: Ignore, starts: Sequence[int]) -> bool:
    """Return whether one of the silenced findings, which begin at `starts`, is meant."""
    return any(
        bisect_left(starts, each.start) < bisect_right(starts, each.end) for each in ignore.about
    )


def _finding(about: Ignore | IgnoredCode, message: str, suggestion: str | None = None) -> Finding:
    return RULE.finding(about.range, message, unnecessary=suggestion is None, suggestion=suggestion)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the code that was meant, or the comment without it."""
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
    """Return the file without the comment, which may say more, and without its line if there is nothing else."""
    comments = case.lookup.parse.document.comments
    index = bisect_right(comments, ignore.range.start, key=lambda each: each.start) - 1
    return splices.without_comment(case.text, comments[index])


RULE = Rule(
    code="unused-ignore",
    severity=Severity.HINT,
    summary="A comment `# axe: ignore[…]` that suppresses nothing.",
    documentation="""
A comment suppresses the diagnostics whose codes it names: at the end of a line for that line, on a
separate line for the next one. If a statement of several lines begins or ends on that line, the
comment applies to the whole statement. The text after the bracket is free for the reason.

```toml
sub_agents = ["lint", "nightly"]  # axe: ignore[unknown-agent] made by the deployment
```

A code without a diagnostic to suppress, or an unknown code, is reported, so that old comments don't
hide new mistakes. Codes that are switched off are not checked.

`plain-secret` and `outside-workspace` protect the user from a file: a comment suppresses them in the
user's own agents, but not in agents of a workspace. There the user's setting `axe.diagnostics` changes
their severity.
""",
    is_for=Dialects.ALL,
    check=lambda _snapshot, _file: (),
    fixes=fixes,
)
