"""A string of a file, with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from axe_lsp.agentfile.key_spec import KeyPath
from axe_lsp.agentfile.lookup import Lookup
from axe_lsp.agentfile.parse import Parse
from axe_lsp.agentfile.text import TextRange
from axe_lsp.agentfile.tree import Value, ValueKind
from axe_lsp.agentfile.values import decode


class Written(NamedTuple):
    """A string in the file and where it stands, quotes included."""

    value: str
    range: TextRange


def written(lookup: Lookup, path: KeyPath) -> Written | None:
    """The string that a key is set to. On a line that is broken it is still being typed."""
    value = lookup.value(path)
    decoded = lookup.decoded(path)
    if value is None or not isinstance(decoded, str):
        return None
    return None if _is_beside_a_problem(lookup.parse, value) else Written(decoded, value.range)


def _is_beside_a_problem(parse: Parse, value: Value) -> bool:
    if not parse.problems:
        return False  # As nearly always, and then nobody may have to know the lines.
    line_of = parse.lines.line_at
    return any(line_of(each.range.start) == line_of(value.range.end) for each in parse.problems)


def written_items(lookup: Lookup, path: KeyPath) -> Sequence[Written]:
    """The strings in the array that a key is set to; it may be unfinished."""
    item = lookup.find(path)
    if item is None or item.entry.value is None:
        return ()
    value, text = item.entry.value, lookup.parse.text
    return lookup.once(value, "strings", lambda: tuple(_strings(value, text)))


def _strings(value: Value, text: str) -> Iterator[Written]:
    for each in value.items:
        if each.kind is ValueKind.STRING and isinstance(name := decode(text, each), str):
            yield Written(name, each.range)
