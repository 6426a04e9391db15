"""Differences from axe: keys that axe ignores, and values for which it rejects the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from axe_lsp.agentfile.check.plain_values import refusal
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.key_spec import KeyPath, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.tree import KeyPart, Located, ValueKind
from axe_lsp.agentfile.text.values import decode

CODE = "not-axe"


def beyond_axe(lookup: Lookup) -> Iterator[Problem]:
    """A problem for each; of a table that axe ignores as a whole only for the table."""
    told: set[KeyPath] = set()
    tables = [table for table in lookup.parse.document.tables if table.complete]
    for table in tables:
        differs = _differs(table.path)
        if differs is not None and differs not in told and table.header is not None:
            yield from _ignored(table.path, table.header.parts, told)
    for table in tables:
        for index, path in enumerate(table.paths):
            differs = _differs(path)
            if differs is None or differs in told or path[:1] in told:
                continue
            item = table.located[index]
            yield from _ignored(path, item.entry.key.parts, told)
            yield from _refused(lookup, item)


@lru_cache(maxsize=4096)
def _differs(path: KeyPath) -> KeyPath | None:
    """The part of a key's path that axe ignores: the key, or a table above it. Also a key of which axe may refuse a word.

    None for most keys. Each keystroke asks for the same ones again.
    """
    for end in range(1, len(path) + 1):
        spec = agent_keys.find(path[:end])
        if spec is None:
            return None
        if spec.is_extension:
            return path[:end]
    spec = agent_keys.find(path)
    return path if spec is not None and spec.names in (Names.TOOL, Names.MODEL) else None


def _ignored(path: KeyPath, parts: Sequence[KeyPart], told: set[KeyPath]) -> Iterator[Problem]:
    """The key, or the table that holds it, if axe ignores it. `parts` are the end of the path."""
    for end in range(1, len(path) + 1):
        spec = agent_keys.find(path[:end])
        if spec is None:
            return
        if spec.is_extension:
            own = end - 1 - (len(path) - len(parts))
            if own >= 0 and path[:end] not in told:
                told.add(path[:end])
                message = f"axe ignores {quoted('.'.join(path[:end]))}, an extension of axe-lsp"
                yield Problem(CODE, parts[own].range, message, path[:end], 0, fatal=False)
            return


def _refused(lookup: Lookup, item: Located) -> Iterator[Problem]:
    spec, value = agent_keys.find(item.path), item.entry.value
    if spec is None or value is None or spec.is_extension:
        return
    for each in (value, *value.items):
        word = decode(lookup.parse.text, each) if each.kind is ValueKind.STRING else None
        message = refusal(spec, word) if isinstance(word, str) else None
        if message is not None:
            yield Problem(CODE, each.range, message, item.path, 0, fatal=False)
