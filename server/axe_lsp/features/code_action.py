"""Code actions at a place: fixes of the findings there, comments that suppress them, and refactorings.

`fix_all` takes at once all fixes of a file that may be taken unasked.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from sys import maxsize

from axe_lsp.agentfile.check.ignores import Ignore
from axe_lsp.agentfile.schema.lookup import part_at
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.ranges import TextRange, common_beginning, common_end
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.agentfile.text.tree import Entry, ValueKind
from axe_lsp.features.diagnostics import not_silenced
from axe_lsp.features.edit import ActionKind, CodeAction, Edit, TextChange
from axe_lsp.features.fix import Case, Context, Fix, change
from axe_lsp.features.refactorings import REFACTORINGS
from axe_lsp.features.rules import differing_twin, fixes_of, syntax, unused_ignore
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file


def code_actions(
    context: Context, file: AgentFile, where: TextRange, kinds: frozenset[str] | None = None
) -> list[CodeAction]:
    """Return the actions for a selection in an open file, those of `kinds` only, the likely ones first."""
    if file.open is None:
        return []
    actions: list[CodeAction] = []
    known: dict[int, Sequence[Fix]] = {}
    if ActionKind.QUICK_FIX.is_asked_for(kinds):
        findings = [each for each in context.diagnose(file) if _meet(each.range, where)]
        cases = [Case(context, file, file.open, each) for each in findings]
        fixes = _respellings if file.place.kind.syntax is not None else fixes_of
        known = {id(each.finding): tuple(fixes(each)) for each in cases}
        actions += _fixes(cases, known)
    # Unasked it is only beside other fixes, so that moving the cursor costs nothing.
    if ActionKind.FIX_ALL.is_asked_for(kinds) and (actions or kinds is not None):
        actions += _fix_all(context, file, actions, known)
    for refactoring in REFACTORINGS if file.place.kind.syntax is None else ():
        actions += refactoring(context.snapshot, file, where)
    return [action for action in actions if action.kind.is_asked_for(kinds)]


def _respellings(case: Case) -> Iterator[Fix]:
    """Yield the fixes of a file in Markdown."""
    if case.finding.code == differing_twin.RULE.code:
        yield from differing_twin.fixes(case)
    meant = case.finding.suggestion
    if meant:
        yield change(case, f"Write `{meant}`", Splice(case.finding.range, meant), preferred=True)


def _fixes(cases: Sequence[Case], known: Mapping[int, Sequence[Fix]]) -> Iterator[CodeAction]:
    """Yield the fixes of the findings, and then the comments that suppress them, each once."""
    offered = set[tuple[str, int]]()
    mending = ((case, fix) for case in cases for fix in known[id(case.finding)])
    silencing = ((case, fix) for case in cases for fix in silencing_fixes(case))
    for case, fix in chain(mending, silencing):
        # By identity: such an edit is made once, and to compare thousands of its steps takes long.
        same = (fix.title, id(fix.edit))
        if same in offered:
            continue
        offered.add(same)
        yield CodeAction(
            fix.title,
            ActionKind.QUICK_FIX,
            fix.edit,
            case.finding,
            fix.preferred,
            secret=fix.secret,
            shows=fix.shows,
        )


def _fix_all(
    context: Context,
    file: AgentFile,
    fixes: Sequence[CodeAction],
    known: Mapping[int, Sequence[Fix]],
) -> Iterator[CodeAction]:
    edit = fix_all(context, file, known)
    if edit and all(fix.edit != edit for fix in fixes):
        yield CodeAction("Fix everything that has a certain fix", ActionKind.FIX_ALL, edit)


def _meet(one: TextRange, other: TextRange) -> bool:
    """Return whether the ranges have a place for a cursor in common."""
    return one.start <= other.end and other.start <= one.end


# -- all fixes at once

_NONE: Mapping[int, Sequence[Fix]] = {}

_ROUNDS = 10
"""A fix may show what another one hid, and fixes side by side may be in each other's way."""


def fix_all(context: Context, file: AgentFile, known: Mapping[int, Sequence[Fix]] = _NONE) -> Edit:
    """Return the edit that leaves no finding with a certain fix; empty if there is none to begin with.

    `known` are fixes of findings, by their identity, that the caller has already.
    """
    if file.open is None:
        return ()
    before = text = file.open.parse.text
    first = splices = _compatible(_certain_fixes(context, file, known))
    for _ in range(_ROUNDS):
        if not splices:
            break
        text = spliced(text, splices)
        again = read_agent_file(file.place, text, is_open=True)
        splices = _compatible(_certain_fixes(context, again, _NONE))
    if text == spliced(before, first):
        return tuple(TextChange(file.uri, *each) for each in first)
    return (_difference(file.uri, before, text),)


def _certain_fixes(
    context: Context, file: AgentFile, known: Mapping[int, Sequence[Fix]]
) -> Iterator[Fix]:
    """Yield a quick fix for each finding that has one."""
    if file.open is not None:
        for finding in context.diagnose(file):
            fixes = (
                known[id(finding)]
                if id(finding) in known
                else fixes_of(Case(context, file, file.open, finding))
            )
            yield from islice((fix for fix in fixes if fix.certain), 1)


def _compatible(fixes: Iterable[Fix]) -> list[Splice]:
    """Return the changes of as many fixes as do not overlap, in the order of the text."""
    taken: list[Splice] = []
    for fix in fixes:
        own = [Splice(step.range, step.text) for step in fix.edit if isinstance(step, TextChange)]
        if not any(_is_in_the_way(each, taken) for each in own):
            for each in own:
                insort(taken, each)
    return taken


def _is_in_the_way(splice: Splice, taken: Sequence[Splice]) -> bool:
    """Return whether it overlaps one of those that are taken, of which only its neighbours can be one."""
    index = bisect_left(taken, splice)
    return any(_overlap(splice.range, each.range) for each in taken[max(index - 1, 0) : index + 1])


def _overlap(one: TextRange, other: TextRange) -> bool:
    return one == other or (one.start < other.end and other.start < one.end)


def _difference(uri: str, before: str, after: str) -> TextChange:
    """Return one text change from the first difference to the last."""
    start = common_beginning(before, after)
    same = common_end(before[start:], after[start:])
    return TextChange(uri, TextRange(start, len(before) - same), after[start : len(after) - same])


# -- comments

_NEVER = (syntax.RULE.code, unused_ignore.RULE.code)
"""A broken statement may swallow the comment; one about a comment is better removed."""


def silencing_fixes(case: Case) -> Iterator[Fix]:
    """Yield a comment that silences the finding, of whatever rule it is."""
    code = case.finding.code
    # In Markdown a comment may end up in a text.
    is_offered = (
        code not in _NEVER
        and case.file.place.kind.syntax is None
        and code not in not_silenced(case.file)
    )
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
    """Yield the comments about the line that holds `offset`. Their lines come in the order of the comments."""
    index = bisect_left(ignores, offset, key=_end_of_line)
    for ignore in islice(ignores, index, None):
        if not ignore.about or not ignore.about[0].touches(offset):
            return
        yield ignore


def _end_of_line(ignore: Ignore) -> int:
    """Return the end of the comment's line; none for a comment without a statement, which is at the end of the file."""
    return ignore.about[0].end if ignore.about else maxsize


def _is_in_string(entry: Entry, offset: int) -> bool:
    value = entry.value
    while value is not None and value.kind is not ValueKind.STRING:
        inner = part_at(value.entries, offset)
        value = inner.value if inner is not None else part_at(value.items, offset)
    return value is not None and value.range.start < offset < value.range.end
