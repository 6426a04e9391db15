"""Which agent, or which inline type of `Task`, is named at an offset."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import KeyPart
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import Kind, Meaning, agent_meaning, meaning
from axe_lsp.workspace.snapshot import Snapshot

_NAME: KeyPath = ("name",)
_TYPE: KeyPath = ("task", "type")


class Named(Struct, frozen=True):
    """A name and what it means. `range` is what is written there, quotes included."""

    meaning: Meaning
    range: TextRange


def named_at(snapshot: Snapshot, file: AgentFile, offset: int) -> Named | None:
    """The name at `offset` of an open file: in a list, as its `name`, or as an inline type."""
    for reference in file.references:
        if reference.range.touches(offset):
            return Named(meaning(snapshot, file, reference), reference.range)
    if file.open is None:
        return None
    name = file.open.find(_NAME)
    if name is not None and name.entry.range.touches(offset):
        written = file.name.range if file.name is not None else name.entry.key.range
        return Named(agent_meaning(file), written)
    for part in _type_parts(file.open):
        if part.range.touches(offset):
            return Named(Meaning(Kind.INLINE_TYPE, part.name, file.uri), part.range)
    return None


def type_keys(file: AgentFile, name: str) -> list[TextRange]:
    """Where an inline type of an open file is defined: its name in headers and in dotted keys."""
    parts = _type_parts(file.open) if file.open is not None else ()
    return [part.range for part in parts if part.name == name]


def _type_parts(lookup: Lookup) -> Iterator[KeyPart]:
    """The parts of keys that are names of inline types, in the order of the text."""
    headers = [table.header for table in lookup.parse.document.tables]
    paths = [(key.names, key.parts) for key in headers if key is not None]
    paths += [(item.path, item.entry.key.parts) for item in lookup.located]
    found = []
    for path, parts in paths:
        index = len(_TYPE) - (len(path) - len(parts))
        if path[: len(_TYPE)] == _TYPE and 0 <= index < len(parts):
            found.append(parts[index])
    yield from sorted(found, key=lambda part: part.range)
