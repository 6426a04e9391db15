"""The known name that was probably meant, also among thousands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property, lru_cache

KEPT = 8192
"""The number of remembered answers about names that never change. Each keystroke asks for them again."""


_CUTOFF = 0.6
"""The least similarity, of `difflib.SequenceMatcher`, that is worth a question."""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of `names`, if one is similar enough to be worth a question.

    Of names that differ in case only it is the first.
    """
    return _LetterIndex(names).nearest(name)


@lru_cache(maxsize=KEPT)
def nearest_of(name: str, names: tuple[str, ...] | frozenset[str]) -> str | None:
    """Return `nearest` among the names of a constant table. The index of the table is cached."""
    return _index_of(names).nearest(name)


@lru_cache(maxsize=64)
def _index_of(names: tuple[str, ...] | frozenset[str]) -> _LetterIndex:
    return _LetterIndex(names)


class _LetterIndex:
    """Names with their letters as bits, so that only those with enough letters in common are compared.

    The common letters of two names bound their similarity (`SequenceMatcher.quick_ratio`). A bit stands for the n-th
    occurrence of a letter, so the bits that two names share are these letters. Thousands of unknown names of a file
    cost microseconds each.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_lower: dict[str, str] = {}
        for each in names:
            self._by_lower.setdefault(each.lower(), each)
        self._bits: dict[tuple[str, int], int] = {}
        self._letters = [(each, self._letters_of(each, adds=True)) for each in self._by_lower]
        self._by_length: dict[int, list[tuple[str, int, float]]] = {}
        self._longest = max(map(len, self._by_lower), default=0)

    def nearest(self, name: str) -> str | None:
        lower = name.lower()
        comparable = self._comparable(len(lower))
        letters = self._letters_of(lower) if comparable else 0
        alike = [
            (common / (len(lower) + len(each)), each)
            for each, theirs, least in comparable
            if (common := 2 * (letters & theirs).bit_count()) >= least
        ]
        if not alike:
            return None
        from difflib import SequenceMatcher

        matcher = SequenceMatcher()
        matcher.set_seq2(lower)
        best = (_CUTOFF, "")
        for bound, each in sorted(alike, reverse=True):
            if bound < best[0]:
                break
            matcher.set_seq1(each)
            best = max(best, (matcher.ratio(), each))
        return self._by_lower[best[1]] if best[1] else None

    def _comparable(self, length: int) -> list[tuple[str, int, float]]:
        """Return the names whose length is near enough, with their letters and twice the least number in common."""
        if length > 3 * self._longest:
            return []  # Lengths of any number need not be remembered.
        if length not in self._by_length:
            self._by_length[length] = [
                (each, letters, _CUTOFF * (length + len(each)))
                for each, letters in self._letters
                if 2 * min(length, len(each)) >= _CUTOFF * (length + len(each)) > 0
            ]
        return self._by_length[length]

    def _letters_of(self, lower: str, *, adds: bool = False) -> int:
        seen: dict[str, int] = {}
        letters = 0
        for letter in lower:
            occurrence = seen[letter] = seen.get(letter, 0) + 1
            if adds:
                self._bits.setdefault((letter, occurrence), 1 << len(self._bits))
            letters |= self._bits.get((letter, occurrence), 0)
        return letters


_NEIGHBOURS = 4
"""How many names on each side, in each order, are worth a closer look."""


class Spelling:
    """A set of names that doesn't change.

    Where a name has a mistake, what was meant agrees with it in front of the mistake or behind it,
    so it stands near by when all names are sorted by their beginnings, or by their ends. Thousands
    of other names need not be looked at.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = names

    def near(self, name: str) -> tuple[str, ...]:
        """Return the few names that `name` might stand for."""
        backwards = (each[::-1] for each in _around(self._by_end, name[::-1]))
        return tuple(dict.fromkeys([*_around(self._by_beginning, name), *backwards]))

    @cached_property
    def _by_beginning(self) -> list[str]:
        return sorted(self._names)

    @cached_property
    def _by_end(self) -> list[str]:
        return sorted(each[::-1] for each in self._names)


def _around(ordered: list[str], name: str) -> list[str]:
    place = bisect_left(ordered, name)
    return ordered[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS]
