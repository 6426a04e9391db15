"""All fixes of a file that may be taken unasked, at once."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.features.edit import Edit, TextChange
from axe_lsp.features.fix import Case, Context, Fix
from axe_lsp.features.rules import fixes_of
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file

_NONE: Mapping[int, Sequence[Fix]] = {}

_ROUNDS = 10
"""A fix may show what another one hid, and fixes side by side may be in each other's way."""


def fix_all(context: Context, file: AgentFile, known: Mapping[int, Sequence[Fix]] = _NONE) -> Edit:
    """The edit that leaves no finding with a certain fix; empty if there is none to begin with.

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
    """One for each finding that has one."""
    if file.open is not None:
        for finding in context.diagnose(file):
            fixes = (
                known[id(finding)]
                if id(finding) in known
                else fixes_of(Case(context, file, file.open, finding))
            )
            yield from islice((fix for fix in fixes if fix.certain), 1)


def _compatible(fixes: Iterable[Fix]) -> list[Splice]:
    """The changes of as many fixes as do not overlap, in the order of the text."""
    taken: list[Splice] = []
    for fix in fixes:
        own = [Splice(step.range, step.text) for step in fix.edit if isinstance(step, TextChange)]
        if not any(_is_in_the_way(each, taken) for each in own):
            for each in own:
                insort(taken, each)
    return taken


def _is_in_the_way(splice: Splice, taken: Sequence[Splice]) -> bool:
    """Whether it overlaps one of those that are taken, of which only its neighbours can be one."""
    index = bisect_left(taken, splice)
    return any(_overlap(splice.range, each.range) for each in taken[max(index - 1, 0) : index + 1])


def _overlap(one: TextRange, other: TextRange) -> bool:
    return one == other or (one.start < other.end and other.start < one.end)


def _difference(uri: str, before: str, after: str) -> TextChange:
    """One change for everything from the first difference to the last."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    same = next(
        (n for n in range(shorter - start) if before[-1 - n] != after[-1 - n]), shorter - start
    )
    return TextChange(uri, TextRange(start, len(before) - same), after[start : len(after) - same])
