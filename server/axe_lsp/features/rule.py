"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum, auto

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.key_spec import KeyPath
from axe_lsp.agentfile.problem import Problem
from axe_lsp.agentfile.text import TextRange
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.reading import Where, found
from axe_lsp.workspace.snapshot import Snapshot


class Severity(IntEnum):
    """How bad it is. The numbers are LSP's (3.17, DiagnosticSeverity)."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4


class Related(Struct, frozen=True):
    """Another place that helps to understand a finding. Nobody looks for it unless it is shown."""

    uri: str
    where: Where
    message: str

    @property
    def range(self) -> TextRange:
        return found(self.where)


class Finding(Struct, frozen=True):
    """One diagnostic.

    `unnecessary` text is shown faded; `suggestion` would be better text for it. `path` is the key
    that it is about, where that does not follow from the place.
    """

    code: str
    severity: Severity
    range: TextRange
    message: str
    related: tuple[Related, ...] = ()
    unnecessary: bool = False
    suggestion: str | None = None
    path: KeyPath = ()

    def with_severity(self, severity: Severity) -> Finding:
        return replace(self, severity=severity)


Check = Callable[[Snapshot, AgentFile], Iterable[Finding]]
Settled = Callable[[Snapshot, AgentFile], bool]


def always(_: Snapshot, __: AgentFile) -> bool:
    """The file itself tells everything."""
    return True


def once_complete(snapshot: Snapshot, file: AgentFile) -> bool:
    """All other files have to be known."""
    return snapshot.is_settled(file.place)


def once_looked(snapshot: Snapshot, file: AgentFile) -> bool:
    """What lies outside the file has to be known."""
    facts = snapshot.facts.get(file.uri)
    return facts is not None and facts.question == file.question


class Subject(Enum):
    """What a rule is about. Where a file has none of it the rule finds nothing, and need not be asked."""

    FILE = auto()
    PROBLEMS = auto()
    """What is wrong with the file by itself."""
    REFERENCES = auto()
    """The names in its lists of agents."""
    FACTS = auto()
    """What was found outside it."""


class Rule(Struct, frozen=True):
    """One kind of diagnostic: its stable code, how it is found, and its page in the documentation.

    One that is not `is_on` is only checked where the user has given it a severity. Where it
    `is_settled`, nothing that is still to come will add to what it finds.
    """

    code: str
    severity: Severity
    summary: str
    documentation: str
    check: Check
    is_on: bool = True
    about: Subject = Subject.FILE
    is_settled: Settled = always


def problems_with(code: str, severity: Severity) -> Check:
    """The check of a rule that only repeats what `agentfile.check` has found."""

    def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
        for problem in problems_of(file, code):
            is_said = not problem.found or problem.message.endswith(problem.found)
            value = "" if is_said else f" (it is {problem.found})"
            message = problem.message + value
            yield Finding(code, severity, problem.range, message, path=problem.path)

    return check


def problems_of(file: AgentFile, code: str) -> Iterator[Problem]:
    """The problems with this code that the file has by itself."""
    return (problem for problem in file.problems if problem.code == code)
