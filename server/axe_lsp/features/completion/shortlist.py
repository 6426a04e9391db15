"""Few enough names for an editor, out of thousands."""

from __future__ import annotations

from collections.abc import Collection
from heapq import nsmallest

from axe_lsp.features.completion.fuzzy import Matcher

MOST = 300
"""More than anybody reads; a list of this length takes some milliseconds to send."""


def shortlist(names: Collection[str], typed: str) -> list[str]:
    """The names in alphabetical order; of too many, those that fit best what has been typed."""
    if len(names) <= MOST or not typed:
        return sorted(names)[:MOST]
    matcher = Matcher(typed)
    scored = ((score, name) for name in names if (score := matcher.score(name)) is not None)
    return [name for _, name in nsmallest(MOST, scored)]
