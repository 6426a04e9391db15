"""Few enough offers for an editor, out of thousands."""

from __future__ import annotations

from collections.abc import Sequence

from axe_lsp.features.fuzzy import Matcher
from axe_lsp.features.offer import Completion

MOST = 300
"""More than anybody reads; a list of this length takes some milliseconds to send."""


def shortlist(offers: Sequence[Completion], text: str, offset: int) -> Sequence[Completion]:
    """The offers, or the best of those that fit what is typed in front of `offset`."""
    if len(offers) <= MOST:
        return offers
    matcher = Matcher(text[offers[0].replace.start : offset])
    scored = ((matcher.score(each.label), each) for each in offers)
    fitting = [(score, each) for score, each in scored if score is not None]
    return [each for _, each in sorted(fitting, key=lambda pair: pair[0])][:MOST]
