"""The agent, or the inline type of `Task`, that is named at an offset, and all places that name it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.layers import file_of
from axe_lsp.workspace.meaning import Kind, Meaning, agent_meaning, meaning, mentions, mentions_in
from axe_lsp.workspace.snapshot import Snapshot

_NAME: KeyPath = ("name",)
_TYPE: KeyPath = ("task", "type")


class Named(Struct, frozen=True):
    """A name and its meaning. `range` is that of the written name, with its quotes."""

    meaning: Meaning
    range: TextRange


def named_at(snapshot: Snapshot, file: AgentFile, offset: int) -> Named | None:
    """Return the name at `offset` of an open file: in a list, as its `name`, in settings that declare it, or as an inline type."""
    for reference in file.references:
        if reference.range.touches(offset):
            return Named(meaning(snapshot, file, reference), reference.range)
    if file.open is None:
        return None
    name = file.open.find(_NAME)
    if name is not None and name.entry.range.touches(offset):
        written = file.name.range if file.name is not None else name.entry.key.range
        return Named(agent_meaning(file), written)
    for declaration in file.declarations:
        agent = snapshot.file(file_of(file, declaration))
        where = next((each for each in declaration.names if each.touches(offset)), None)
        if agent is not None and where is not None:
            return Named(agent_meaning(agent), where)
    for part in file.open.names_below(_TYPE):
        if part.range.touches(offset):
            return Named(Meaning(Kind.INLINE_TYPE, part.name, file.uri), part.range)
    return None


def type_keys(file: AgentFile, name: str) -> list[TextRange]:
    """Return where an inline type of an open file is defined: its name in headers and in dotted keys."""
    parts = file.open.names_below(_TYPE) if file.open is not None else ()
    return [part.range for part in parts if part.name == name]


class Location(Struct, frozen=True):
    """A range in a file."""

    uri: str
    range: TextRange


class Highlight(Struct, frozen=True):
    """A range that names the same as the one under the cursor, or is where that is defined."""

    range: TextRange
    is_declaration: bool


def references(
    snapshot: Snapshot, file: AgentFile, offset: int, *, include_declaration: bool
) -> list[Location]:
    """Return the places that name the agent that is named at `offset` of an open file, its definition first."""
    named = named_at(snapshot, file, offset)
    if named is None:
        return []
    declared = _declarations(snapshot, named.meaning) if include_declaration else ()
    found = mentions(snapshot, named.meaning)
    return [*declared, *(Location(each.file.uri, each.reference.range) for each in found)]


def highlights(snapshot: Snapshot, file: AgentFile, offset: int) -> list[Highlight]:
    """Return the same as far as it is in the file itself, in the order of the text."""
    named = named_at(snapshot, file, offset)
    if named is None:
        return []
    declared = [
        Highlight(each.range, is_declaration=True)
        for each in _declarations(snapshot, named.meaning)
        if each.uri == file.uri
    ]
    found = [
        Highlight(each.reference.range, is_declaration=False)
        for each in mentions_in(snapshot, file, named.meaning)
    ]
    return sorted([*declared, *found], key=lambda each: each.range)


def _declarations(snapshot: Snapshot, meant: Meaning) -> Iterator[Location]:
    file = snapshot.file(meant.uri)
    if file is None:
        return
    if meant.kind is Kind.AGENT:
        yield Location(file.uri, file.start)
    elif meant.kind is Kind.INLINE_TYPE:
        for where in type_keys(file, meant.name):
            yield Location(file.uri, where)
