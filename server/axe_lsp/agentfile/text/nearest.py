"""The known name that was probably meant, also among thousands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property, lru_cache

KEPT = 8192
"""The number of remembered answers about names that never change. Each keystroke asks for them again."""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of `names`, if one is similar enough to be worth a question.

    Of names that differ in case only it is the first.
    """
    from difflib import get_close_matches

    by_lower: dict[str, str] = {}
    for each in names:
        by_lower.setdefault(each.lower(), each)
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[matches[0]] if matches else None


@lru_cache(maxsize=KEPT)
def nearest_of(name: str, names: tuple[str, ...] | frozenset[str]) -> str | None:
    """`nearest`, for the names of a table that stays as it is: the answer is remembered."""
    return nearest(name, names)


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
        """The few names that `name` might stand for."""
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
