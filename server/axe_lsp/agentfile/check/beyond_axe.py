"""Differences from axe: keys that axe ignores, and values for which it rejects the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

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

_AGREED = frozenset(
    path for path in KNOWN_TO_AXE if agent_keys.key(path).names not in (Names.TOOL, Names.MODEL)
)
"""Most of them: there axe refuses no word that axe-lsp takes."""

_TOP = frozenset(key.path[:1] for key in agent_keys.KEYS)


def beyond_axe(lookup: Lookup) -> Iterator[Problem]:
    """A problem for each; of a table that axe ignores as a whole only for the table."""
    told: set[KeyPath] = set()
    tables = [table for table in lookup.parse.document.tables if table.complete]
    for table in tables:
        is_news = table.path not in KNOWN_TO_AXE and table.path not in told
        if is_news and table.header is not None:
            yield from _ignored(table.path, table.header.parts, told)
    for table in tables:
        for index, path in enumerate(table.paths):
            if path in _AGREED or path in told or path[:1] in told or path[:1] not in _TOP:
                continue
            item = table.located[index]
            yield from _ignored(path, item.entry.key.parts, told)
            yield from _refused(lookup, item)


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
