"""Differences from axe: keys that axe ignores, and values for which it rejects the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.tree import KeyPart, Located, ValueKind
from axe_lsp.agentfile.text.values import decode

CODE = "not-axe"


KNOWN_TO_AXE = frozenset(
    key.path
    for key in agent_keys.KEYS
    if not any(agent_keys.key(key.path[:end]).is_extension for end in range(1, len(key.path) + 1))
)
"""The keys that axe does not ignore."""


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


def refusal(spec: KeySpec, word: str) -> str | None:
    """Why axe does not take a word that axe-lsp takes, if it doesn't."""
    if spec.names is Names.TOOL and not _is_tool_of_axe(word):
        return f"axe rejects the file: it has no tool {quoted(word)}"
    provider, slash, _ = word.partition("/")
    if spec.names is Names.MODEL and slash and provider not in PROVIDERS:
        return f"axe does not know the provider {quoted(provider)}"
    return None


def _is_tool_of_axe(word: str) -> bool:
    """Unknown words are reported by another diagnostic."""
    if word in agent_keys.TOOLS:
        return word not in agent_keys.EXTENSION_TOOLS
    return word not in agent_keys.TOOL_ALIASES and not any(
        fnmatchcase(t, word) for t in agent_keys.TOOLS
    )
