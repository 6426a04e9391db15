"""The key that an unknown key resembles, by its name alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, Schema
from axe_lsp.agentfile.text.nearest import KEPT, nearest_of

_LONG = 12
"""Letters of a name from which on a slip leaves nearly all of it."""
_ALIKE = 0.75
"""The least ratio of two long names of which one stands for the other."""
_MANY = 3
"""The number of keys of other tables from which a list of them is no help any more."""

_SHORTEST = 3
"""The least letters that may be short for a key."""


@lru_cache(maxsize=KEPT)
def similar_key(schema: Schema, path: KeyPath, *, in_header: bool = False) -> str | None:
    """Return the key of the same table that an unknown key resembles, the part of a header if it is `in_header`."""
    *table, name = path
    siblings = _siblings(schema, tuple(table), in_header=in_header)
    spelled = siblings.spelled_as(name)
    if spelled:
        return spelled[0].path[-1]
    is_elsewhere = keys_elsewhere(schema, path, in_header=in_header)
    similar = nearest_of(name, siblings.names) if not is_elsewhere else None
    return similar if similar is not None and _is_slip(name, similar) else None


def _is_slip(name: str, key: str) -> bool:
    """Return whether a long name differs from the key by a few letters, and not by one of its words."""
    from difflib import SequenceMatcher

    is_long = min(len(name), len(key)) >= _LONG
    return not is_long or SequenceMatcher(None, name, key).ratio() >= _ALIKE


@lru_cache(maxsize=KEPT)
def keys_elsewhere(schema: Schema, path: KeyPath, *, in_header: bool = False) -> tuple[str, ...]:
    """Return the keys of other tables that have the name of an unknown key, or begin with it."""
    *table, name = path
    keys = _own_names(schema, in_header=in_header)
    spelled = keys.spelled_as(name)
    found = tuple(each.dotted for each in spelled if each.path[:-1] != tuple(table))
    return found if len(found) < _MANY else ()


class _Spellings:
    """Keys, sorted by the letters of their names, so that few of them are compared with each unknown name."""

    def __init__(self, keys: Iterable[KeySpec], *, in_header: bool) -> None:
        """Leave out keys that can't have a header, if that is where the unknown ones stand."""
        self._keys = [each for each in keys if each.is_table or not in_header]
        self.names = tuple(each.path[-1] for each in self._keys)
        self._sorted = sorted((_letters(name), row) for row, name in enumerate(self.names))

    def spelled_as(self, name: str) -> list[KeySpec]:
        """Return the keys with another spelling of a name, `max-depth` or `maxDepth`, or for which it is short."""
        letters = _letters(name)
        fits = str.startswith if len(letters) >= _SHORTEST else str.__eq__
        first = place = bisect_left(self._sorted, (letters,))
        while place < len(self._sorted) and fits(self._sorted[place][0], letters):
            place += 1
        return [self._keys[row] for row in sorted(row for _, row in self._sorted[first:place])]


@lru_cache(maxsize=1024)
def _siblings(schema: Schema, table: KeyPath, *, in_header: bool) -> _Spellings:
    """Return the keys of a table that have names of their own."""
    keys = (each for each in schema.keys_of(table) if each.path[-1] != ANY_NAME)
    return _Spellings(keys, in_header=in_header)


@lru_cache(maxsize=32)
def _own_names(schema: Schema, *, in_header: bool) -> _Spellings:
    """Return the keys of all tables that have names of their own."""
    keys = (each for each in schema.keys if ANY_NAME not in each.path)
    return _Spellings(keys, in_header=in_header)


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
