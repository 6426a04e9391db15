"""The code lenses of an agent file (run, preview, the numbers of references and tests) and of a file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from msgspec import Struct

from axe_lsp.agentfile.check.agent_tests import outline
from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.agentfile.other_programs import PROGRAMS
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
    TESTS = auto()
    RUN_TEST = auto()
    RUN_TEST_LIVE = auto()
    RECORD_TEST = auto()
    RUNS = auto()
    SHOW_RUNS = auto()


_OF_CASES = (LensKind.RUN_TEST, LensKind.RUN_TEST_LIVE, LensKind.RECORD_TEST)


class Lens(Struct, frozen=True):
    """A line of its own above `range`. What it says about references and tests is counted when it is seen.

    `case` is the name of the case that is tested, "" for agents.
    """

    range: TextRange
    kind: LensKind
    case: str = ""


def code_lenses(snapshot: Snapshot, file: AgentFile) -> list[Lens]:
    """Return the lenses of an open file, at the agent's name, or at the names of the cases."""
    if file.place.dialect is AGENT_TESTS and file.open is not None:
        cases = ((name, where) for name, where in outline(file.open).names() if name)
        return [Lens(where, kind, name) for name, where in cases for kind in _OF_CASES]
    program = file.place.dialect.program
    if (
        not file.place.kind.is_agent
        or file.is_prose
        or (program is not None and program not in PROGRAMS)
    ):
        return []
    kinds = [LensKind.RUN]
    if file.typed is not None:
        kinds.append(LensKind.RUN_WITH_INPUT)
    kinds.append(LensKind.PREVIEW)
    # Nobody can name a file in no folder of agents; and references are found from the name.
    if file.name is not None and file.place.scope is not Scope.LOOSE:
        kinds.append(LensKind.REFERENCES)
        if next(tests_of(snapshot, file), None) is not None:
            kinds.append(LensKind.TESTS)
    if file.uri in snapshot.run_log.files:
        kinds.append(LensKind.RUNS)
    elif file.program in snapshot.run_log.unasked:
        kinds.append(LensKind.SHOW_RUNS)
    return [Lens(file.start, kind) for kind in kinds]


def tests_of(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    """Yield the files with tests of an agent."""
    for uri in snapshot.callers(file.place.stem):
        tests = snapshot.file(uri)
        if (
            tests is not None
            and tests.place.dialect is AGENT_TESTS
            and tests.outside.tested == file.place.stem
        ):
            agent = snapshot.agent(tests.outside.tested, tests)
            if agent is not None and agent.uri == file.uri:
                yield tests


class CaseCount(Struct, frozen=True):
    """How many cases an agent has, and how many of their recordings are known to be stale."""

    cases: int
    stale: int

    def __str__(self) -> str:
        stale = f", {self.stale} stale" if self.stale else ""
        return f"{self.cases} test{'' if self.cases == 1 else 's'}{stale}"


def count_of_tests(snapshot: Snapshot, file: AgentFile) -> CaseCount:
    """Return the numbers of the tests of an agent. Each case has a recording, there or not."""
    cases, stale = 0, 0
    for tests in tests_of(snapshot, file):
        reasons = snapshot.facts_about(tests).stale
        cases += len(tests.outside.paths)
        stale += sum(1 for each in tests.outside.paths if reasons.get(each.value))
    return CaseCount(cases, stale)


def reference_count(snapshot: Snapshot, file: AgentFile) -> int:
    """Return how often the agent is named."""
    return sum(1 for _ in mentions(snapshot, agent_meaning(file)))
