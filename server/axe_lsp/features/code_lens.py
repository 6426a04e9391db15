"""The code lenses of an agent file (run, preview, and the number of references) and of a file of tests."""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct

from axe_lsp.agentfile.check.agent_tests import read_cases
from axe_lsp.agentfile.dialects import AGENT_TESTS
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
    RUN_TEST = auto()
    RUN_TEST_LIVE = auto()
    RECORD_TEST = auto()


_OF_CASES = (LensKind.RUN_TEST, LensKind.RUN_TEST_LIVE, LensKind.RECORD_TEST)


class Lens(Struct, frozen=True):
    """A line of its own above `range`. What it says about references is counted when it is seen.

    `case` is the name of the case that is tested, "" for agents.
    """

    range: TextRange
    kind: LensKind
    case: str = ""


def code_lenses(file: AgentFile) -> list[Lens]:
    """The lenses of an open file, at the agent's name, or at the names of the cases."""
    if file.place.dialect is AGENT_TESTS and file.open is not None:
        cases = (each for each in read_cases(file.open).cases if each.name)
        return [Lens(case.range, kind, case.name) for case in cases for kind in _OF_CASES]
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
