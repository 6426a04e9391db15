"""From the name of an agent to its file."""

from __future__ import annotations

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


class Target(Struct, frozen=True):
    """Where the name in `origin` leads: `range` of the file at `uri`."""

    origin: TextRange
    uri: str
    range: TextRange


def definition(snapshot: Snapshot, file: AgentFile, offset: int) -> Target | None:
    """The agent file that the name at `offset` means; none for a name that no file defines."""
    for reference in file.references:
        if reference.range.touches(offset):
            agent = snapshot.agent(reference.name, file)
            return Target(reference.range, agent.uri, agent.start) if agent is not None else None
    return None
