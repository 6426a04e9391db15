"""The data of a rule: its code, its check, its fixes and its documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto

from msgspec import Struct

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.dialects import AXE, Dialect
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.finding import Finding, Related, Severity
from axe_lsp.features.fix import Case, Fix, Fixer
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

Check = Callable[[Snapshot, AgentFile], Iterable[Finding]]
Settled = Callable[[Snapshot, AgentFile], bool]


def always(_: Snapshot, __: AgentFile) -> bool:
    """Return True: the check needs only the file itself."""
    return True


def once_complete(snapshot: Snapshot, file: AgentFile) -> bool:
    """Return whether all other files are read, which the check needs."""
    return snapshot.is_settled(file.place)


def once_looked(snapshot: Snapshot, file: AgentFile) -> bool:
    """Return whether the facts from outside the file are there, which the check needs."""
    facts = snapshot.facts.get(file.uri)
    return facts is not None and facts.question == file.question


def no_fixes(_: Case) -> Iterable[Fix]:
    """Return what was meant is not known."""
    return ()


class Subject(Enum):
    """The input of a rule. In a file without such an input the rule finds nothing, and is not called."""

    FILE = auto()
    PROBLEMS = auto()
    """The problems of the file by itself."""
    REFERENCES = auto()
    """The names in its lists of agents."""
    FACTS = auto()
    """The facts from outside the file."""
    RUNS = auto()
    """The runs of the agent, which editors know."""


class Dialects(Enum):
    """The dialects of the files that a rule is about."""

    AXE = auto()
    OTHERS = auto()
    ALL = auto()

    def has(self, dialect: Dialect) -> bool:
        """Return whether it is about files of a dialect."""
        return self is Dialects.ALL or (self is Dialects.AXE) == (dialect is AXE)


class Rule(Struct, frozen=True):
    """One kind of diagnostic: its stable code, its check, its fixes, and its page in the documentation.

    A rule without a `check` only repeats what `agentfile.check` has found. One that is not `is_on` is
    checked only if the user has given it a severity. If it `is_settled` for a file, no later
    information can add to its findings. One that `is_protecting` tells what a file could do to its user: nothing in a workspace silences it or makes it milder.
    What a rule that `is_failure` reports fails in a run or has no effect.
    """

    code: str
    severity: Severity
    summary: str
    documentation: str
    check: Check | None = None
    fixes: Fixer = no_fixes
    is_on: bool = True
    about: Subject = Subject.FILE
    is_for: Dialects = Dialects.AXE
    is_settled: Settled = always
    is_protecting: bool = False
    is_failure: bool = False

    def found_in(self, snapshot: Snapshot, file: AgentFile) -> Iterable[Finding]:
        """Return the findings about a file."""
        if self.check is not None:
            return self.check(snapshot, file)
        return self.repeated(file)

    def repeated(self, file: AgentFile) -> Iterator[Finding]:
        """Yield the findings that repeat problems of the file by itself."""
        # Of thousands of problems, so each is made at once.
        for problem in problems_of(file, self.code):
            is_said = not problem.found or problem.message.endswith(problem.found)
            message = problem.message if is_said else f"{problem.message} (it is {problem.found})"
            is_judged_alone = file.schema.is_judged_alone
            usual = Severity.ERROR if is_judged_alone and problem.fatal else self.severity
            severity = Severity.WARNING if problem.is_warning else usual
            meant = problem.meant or None
            yield Finding(
                self.code, severity, problem.range, message, path=problem.path, suggestion=meant
            )

    def finding(
        self,
        where: TextRange,
        message: str,
        *,
        severity: Severity | None = None,
        related: tuple[Related, ...] = (),
        unnecessary: bool = False,
        suggestion: str | None = None,
        path: KeyPath = (),
    ) -> Finding:
        """Return a finding of this rule, with its severity if no other one is given."""
        severity = severity or self.severity
        return Finding(self.code, severity, where, message, related, unnecessary, suggestion, path)


def problems_of(file: AgentFile, code: str) -> Sequence[Problem]:
    """Return the problems with this code that the file has by itself."""
    return file.problems_by_code.get(code, ())
