"""Code actions at a place: fixes of the findings there, and refactorings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features import ignore_comments
from axe_lsp.features.action import ActionKind, CodeAction
from axe_lsp.features.fix import Case, Context, Fix
from axe_lsp.features.fix_all import fix_all
from axe_lsp.features.refactorings import REFACTORINGS
from axe_lsp.features.rules import fixes_of
from axe_lsp.workspace.agent_file import AgentFile


def code_actions(
    context: Context, file: AgentFile, where: TextRange, kinds: frozenset[str] | None = None
) -> list[CodeAction]:
    """The actions for a selection in an open file, those of `kinds` only, the likely ones first."""
    if file.open is None:
        return []
    actions: list[CodeAction] = []
    known: dict[int, Sequence[Fix]] = {}
    if ActionKind.QUICK_FIX.is_asked_for(kinds):
        findings = [each for each in context.diagnose(file) if _meet(each.range, where)]
        cases = [Case(context, file, file.open, each) for each in findings]
        known = {id(each.finding): tuple(fixes_of(each)) for each in cases}
        actions += _fixes(cases, known)
    # Unasked it is only beside other fixes, so that moving the cursor costs nothing.
    if ActionKind.FIX_ALL.is_asked_for(kinds) and (actions or kinds is not None):
        actions += _fix_all(context, file, actions, known)
    for refactoring in REFACTORINGS:
        actions += refactoring(context.snapshot, file, where)
    return [action for action in actions if action.kind.is_asked_for(kinds)]


def _fixes(cases: Sequence[Case], known: Mapping[int, Sequence[Fix]]) -> Iterator[CodeAction]:
    """The fixes of the findings, and then the comments that suppress them, each once."""
    offered = set[tuple[str, int]]()

    def known_fixes(case: Case) -> Iterable[Fix]:
        return known[id(case.finding)]

    for fixer in (known_fixes, ignore_comments.fixes):
        for case in cases:
            for fix in fixer(case):
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
    """Whether the ranges have a place for a cursor in common."""
    return one.start <= other.end and other.start <= one.end
