"""The places that name an agent: in all files, or in the open one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.naming import named_at, type_keys
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import Kind, Meaning, mentions, mentions_in
from axe_lsp.workspace.snapshot import Snapshot


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
    """The places that name the agent that is named at `offset` of an open file, its definition first."""
    named = named_at(snapshot, file, offset)
    if named is None:
        return []
    declared = _declarations(snapshot, named.meaning) if include_declaration else ()
    found = mentions(snapshot, named.meaning)
    return [*declared, *(Location(each.file.uri, each.reference.range) for each in found)]


def highlights(snapshot: Snapshot, file: AgentFile, offset: int) -> list[Highlight]:
    """The same as far as it is in the file itself, in the order of the text."""
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
