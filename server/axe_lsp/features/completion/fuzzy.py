"""The score of a name for the typed part, and the names that match best."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import IntEnum
from heapq import nsmallest
from typing import NamedTuple

MOST = 300
"""More than anybody reads; a list of this length takes some milliseconds to send."""

_WORD = re.compile(r"[A-Z]?[^\W_A-Z\d]+|[A-Z]+(?![^\W_A-Z\d])|\d+")
_SEPARATORS = r"[\W_]*"


class Fit(IntEnum):
    """Ways to fit, the best first."""

    EXACT = 0
    PREFIX = 1
    WORD_STARTS = 2
    """The query is made of beginnings of words, in their order: `cr` or `codrev` of `code-reviewer`."""
    SUBSEQUENCE = 3


class Score(NamedTuple):
    """Smaller is better. `spread` is how many letters stand between those that were typed."""

    fit: Fit
    spread: int
    length: int


class Matcher:
    """A query, in which neither case counts nor what separates words."""

    def __init__(self, query: str) -> None:
        self._query = "".join(filter(str.isalnum, query)).casefold()
        letters = [re.escape(letter) for letter in self._query]
        together = _SEPARATORS.join(letters)
        self._beginning = re.compile(_SEPARATORS + together + _SEPARATORS)
        self._word = re.compile(r"(?:[\W_]|(?<=\D)(?=\d))" + together)
        # Up to the next letter that is looked for: there is one way only, so none is tried in vain.
        self._apart = re.compile("".join(f"[^{each}]*{each}" for each in letters))

    def score(self, name: str) -> Score | None:
        """Return how well a name fits, or None if it does not. An empty query fits every name."""
        text = name.casefold()
        found = self._apart.match(text)
        if found is None:
            return None
        beginning = self._beginning.match(text)
        if beginning is not None:
            fit = Fit.EXACT if beginning.end() == len(text) else Fit.PREFIX
        elif self._word.search(text) is not None or self._is_of_beginnings(name):
            fit = Fit.WORD_STARTS
        else:
            spread = found.end() - text.index(self._query[0]) - len(self._query)
            return Score(Fit.SUBSEQUENCE, spread, len(name))
        return Score(fit, 0, len(name))

    def _is_of_beginnings(self, name: str) -> bool:
        """Return whether the query is made of beginnings of some words of `name`, in their order."""
        query = self._query
        reached = {0}
        for word in map(str.casefold, _WORD.findall(name)):
            for start in tuple(reached):
                end = start
                while query[end : end + 1] == word[end - start : end - start + 1] != "":
                    end += 1
                    reached.add(end)
        return len(query) in reached


def shortlist(names: Collection[str], typed: str) -> list[str]:
    """Return the names in alphabetical order; of too many, those that fit best what has been typed."""
    if len(names) <= MOST or not typed:
        return sorted(names)[:MOST]
    matcher = Matcher(typed)
    scored = ((score, name) for name in names if (score := matcher.score(name)) is not None)
    return [name for _, name in nsmallest(MOST, scored)]
