"""The name that somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of `names`, if one is similar enough to be worth a question."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, needed for mistakes only

    by_lower = {each.lower(): each for each in names}
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[matches[0]] if matches else None
