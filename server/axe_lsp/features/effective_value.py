"""The effective value of a key, and its origin: the file or a default."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, KeyType
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.secrets import without_secrets
from axe_lsp.agentfile.text.tree import ValueKind
from axe_lsp.agentfile.text.values import decode

_LONGEST = 60
"""Characters of a value that are shown."""


class EffectiveValue(Struct, frozen=True):
    """A value as it would be written, and where it comes from."""

    value: str
    origin: str


def effective_value(lookup: Lookup, spec: KeySpec, path: KeyPath) -> EffectiveValue | None:
    """The value of the key at `path`; None where it is unfinished, or nothing would be sent.

    Of config.toml there is nothing to tell: the environment wins over it, and it holds keys.
    """
    if lookup.schema is not AGENT:
        return None
    written = lookup.find(path)
    if written is None:
        return EffectiveValue(spec.default, "default") if spec.default is not None else None
    value = written.entry.value
    if value is None or not value.complete or value.kind is ValueKind.INVALID:
        return None
    if zero_means_default(spec) and decode(lookup.parse.text, value) == 0:
        return EffectiveValue(spec.default or "", "default, for which 0 stands")
    return EffectiveValue(_short(value.range.of(lookup.parse.text)), "this file")


def table_in_force(lookup: Lookup, path: KeyPath) -> Iterator[tuple[str, EffectiveValue]]:
    """The keys of a table that are in force; of extensions only those that are written."""
    for spec in lookup.schema.keys_of(path):
        own = (*path, spec.path[-1])
        if spec.is_table or (spec.is_extension and not lookup.has(own)):
            continue
        found = effective_value(lookup, spec, own)
        if found is not None:
            yield spec.path[-1], found


def zero_means_default(spec: KeySpec) -> bool:
    """axe can't tell an absent integer from a zero, so both mean the same."""
    return spec.type is KeyType.INTEGER and spec.default not in (None, "0")


def _short(token: str) -> str:
    """A value on one line, without keys that nobody else should see."""
    line = " ".join(without_secrets(token).replace("`", "'").split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
