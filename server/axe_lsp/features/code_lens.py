"""The code lenses of an agent file: run, preview, and the number of references."""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import agent_meaning, mentions
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


class LensKind(Enum):
    """The action of a lens."""

    RUN = auto()
    RUN_WITH_INPUT = auto()
    PREVIEW = auto()
    REFERENCES = auto()


class Lens(Struct, frozen=True):
    """A line of its own above `range`. What it says about references is counted when it is seen."""

    range: TextRange
    kind: LensKind


def code_lenses(file: AgentFile) -> list[Lens]:
    """The lenses of an open file, at the agent's name."""
    if not file.place.kind.is_agent:
        return []
    kinds = [LensKind.RUN]
    if file.typed is not None:
        kinds.append(LensKind.RUN_WITH_INPUT)
    kinds.append(LensKind.PREVIEW)
    # Nobody can name a file in no folder of agents; and references are found from the name.
    if file.name is not None and file.place.scope is not Scope.LOOSE:
        kinds.append(LensKind.REFERENCES)
    return [Lens(file.start, kind) for kind in kinds]


def reference_count(snapshot: Snapshot, file: AgentFile) -> int:
    """How often the agent is named."""
    return sum(1 for _ in mentions(snapshot, agent_meaning(file)))
