"""From the name of an agent to its file."""

from __future__ import annotations

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.layers import file_of
from axe_lsp.workspace.snapshot import Snapshot


class Target(Struct, frozen=True):
    """Where the name in `origin` leads: `range` of the file at `uri`."""

    origin: TextRange
    uri: str
    range: TextRange


def definition(snapshot: Snapshot, file: AgentFile, offset: int) -> Target | None:
    """Return the agent file that the name at `offset` means; none for a name that no file defines.

    The `name` of an agent that settings declare leads to its declaration.
    """
    for reference in file.references:
        if reference.range.touches(offset):
            agent = snapshot.agent(reference.name, file)
            return Target(reference.range, agent.uri, agent.start) if agent is not None else None
    return _declared(snapshot, file, offset)


def _declared(snapshot: Snapshot, file: AgentFile, offset: int) -> Target | None:
    """Return the file of the declaration at the offset, or the declaration of this file."""
    for each in file.declarations:
        there = (*each.names, *([each.file_range] if each.file_range is not None else ()))
        origin = next((where for where in there if where.touches(offset)), None)
        agent = snapshot.file(file_of(file, each)) if origin is not None else None
        if origin is not None and agent is not None:
            return Target(origin, agent.uri, agent.start)
    declared = snapshot.layers.declared.get(file.uri, ())
    if declared and file.name is not None and file.name.range.touches(offset):
        return Target(file.name.range, declared[0].settings, declared[0].declaration.range)
    return None
