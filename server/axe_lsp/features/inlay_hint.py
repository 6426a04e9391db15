"""Inlay hints: the defaults of keys that a table leaves out, and how much globs and prompts bring in."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.schema.agent_types import filled_by
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Located, Table, Value, ValueKind
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.describe import key_markdown, zero_means_default
from axe_lsp.features.describe_facts import (
    glob_markdown,
    prompt_facts,
    prompt_size,
    shown_files,
    shown_tokens,
)
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.snapshot import Snapshot

_GOES_WITHOUT_SAYING = ('""', "[]", "0")
"""Defaults that need no hint, since everybody expects them; 0 stands for no limit."""


class InlayHint(Struct, frozen=True):
    """`label`, shown at `offset` as if it stood there, with an explanation in Markdown.

    Accepting the hint puts `text`, if there is any, at `place`.
    """

    offset: int
    label: str
    tooltip: str
    place: int = 0
    text: str = ""


def inlay_hints(file: AgentFile, within: TextRange) -> list[InlayHint]:
    """Return the hints that stand in a part of an open file, in the order of the text."""
    if file.open is None or file.place.kind.syntax is not None:
        return []
    lookup = file.open
    tables = (table for table in lookup.parse.document.tables if within.touches(_place(table)))
    items = (item for item in lookup.located if within.touches(item.entry.range.end))
    found = [
        *(hint for table in tables for hint in _of_table(lookup, table)),
        *(hint for item in items for hint in _of_entry(lookup, item)),
    ]
    return sorted(found, key=lambda hint: hint.offset)


def _place(table: Table) -> int:
    return table.header_range.end


def _of_table(lookup: Lookup, table: Table) -> Iterator[InlayHint]:
    if table.header is None or table.is_array or not table.complete:
        return
    lines = lookup.parse.lines
    end_of_line = lines.line_range(lines.line_at(table.header_range.end)).end
    for spec in _absent(lookup, table.path):
        label = f"{spec.path[-1]} = {spec.default}"
        tooltip = key_markdown(spec)
        yield InlayHint(_place(table), label, tooltip, end_of_line, f"\n{label}")


def _of_entry(lookup: Lookup, item: Located) -> Iterator[InlayHint]:
    spec, value = lookup.schema.find(item.path), item.entry.value
    if spec is None or value is None or not value.complete:
        return
    if spec.names is Names.PRESET:
        yield from _filled(lookup, item, value)
    elif value.kind is ValueKind.INLINE_TABLE:
        for absent in _absent(lookup, item.path):
            label = f"{absent.path[-1]} = {absent.default}"
            yield InlayHint(value.range.end, label, key_markdown(absent))
    elif zero_means_default(spec) and decode(lookup.parse.text, value) == 0:
        yield InlayHint(value.range.end, f"means {spec.default}", key_markdown(spec))


def _filled(lookup: Lookup, item: Located, value: Value) -> Iterator[InlayHint]:
    """Yield the keys that a preset fills in, which can be written down instead."""
    lines = lookup.parse.lines
    end_of_line = lines.line_range(lines.line_at(item.entry.range.end)).end
    for name, filled in filled_by(decode(lookup.parse.text, value)).items():
        if not lookup.has((name,)):
            label = f"{name} = {json.dumps(filled)}"
            tooltip = key_markdown(lookup.schema.key((name,)))
            yield InlayHint(value.range.end, label, tooltip, end_of_line, f"\n{label}")


def _absent(lookup: Lookup, table: KeyPath) -> Iterator[KeySpec]:
    """Yield the keys that the table lacks and whose defaults are worth a word.

    An extension says something only to those who use it.
    """
    parent = lookup.schema.find(table)
    if parent is None:
        return
    for spec in lookup.schema.keys_of(table):
        if spec.default is None or spec.default in _GOES_WITHOUT_SAYING:
            continue
        is_foreign = spec.is_extension and not parent.is_extension
        if not is_foreign and not lookup.has((*table, spec.path[-1])):
            yield spec


def outside_hints(snapshot: Snapshot, file: AgentFile, within: TextRange) -> list[InlayHint]:
    """Return the hints in a part of an open file, as far as the facts outside the file are known."""
    facts = snapshot.facts_about(file)
    found = [*_of_globs(file, facts), *_of_prompt(file, facts)]
    return [hint for hint in found if within.touches(hint.offset)]


def _of_globs(file: AgentFile, facts: Facts) -> Iterator[InlayHint]:
    for glob in file.outside.globs:
        matches = facts.matches.get(glob.value)
        tooltip = glob_markdown(glob.value, facts)
        if matches is not None and tooltip is not None:
            label = f"{shown_files(matches)}, {shown_tokens(matches.size)}"
            yield InlayHint(glob.range.end, label if matches.count else "no files", tooltip)


def _of_prompt(file: AgentFile, facts: Facts) -> Iterator[InlayHint]:
    """Yield the size of the whole prompt as a hint behind the agent's own prompt."""
    size = prompt_size(file, facts)
    value = file.open.value(("system_prompt",)) if file.open is not None else None
    if size and value is not None:
        added = " with all additions" if facts.added else ""
        label = f"{shown_tokens(size)}{added}"
        yield InlayHint(value.range.end, label, "\n\n".join(prompt_facts(file, facts)))
