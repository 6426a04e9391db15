"""The known name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

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
