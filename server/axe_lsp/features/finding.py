"""The findings of a rule in a file: diagnostics without LSP types; and calls between agents, as findings show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.workspace.agent_file import SUB_AGENTS, AgentFile, Reference
from axe_lsp.workspace.file_values import Written


class Severity(IntEnum):
    """How bad it is. The numbers are LSP's (3.17, DiagnosticSeverity)."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4


SEVERITY_NAMES: Mapping[str, Severity | None] = {
    **{severity.name.lower(): severity for severity in Severity},
    "off": None,
}
"""The severities as settings and options name them."""


class Related(Struct, frozen=True):
    """Another place that helps to understand a finding. Nobody looks for it unless it is shown."""

    uri: str
    where: TextRange | Written
    message: str

    @property
    def range(self) -> TextRange:
        return self.where if isinstance(self.where, TextRange) else self.where.range


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


def calls_along(way: Sequence[AgentFile]) -> tuple[Related, ...]:
    """Return the calls that lead from each of these agents to the next."""
    return tuple(
        _shown(caller, reference)
        for caller, called in pairwise(way)
        if (reference := reference_to(caller, called)) is not None
    )


def calls_of(caller: AgentFile) -> Iterator[Related]:
    """Yield all the calls of one agent that findings may show.

    A file's calls can move without a call being another one. Who was shown them by `calls_along` finds them again
    here, by their words.
    """
    known = set[str]()
    for reference in caller.references:
        if reference.key == SUB_AGENTS and reference.name not in known:
            known.add(reference.name)
            yield _shown(caller, reference)


def reference_to(caller: AgentFile, called: AgentFile) -> Reference | None:
    """Return where `caller` lists `called`, for the first time."""
    for reference in caller.references:
        if reference.key == SUB_AGENTS and reference.name == called.place.stem:
            return reference
    return None


def _shown(caller: AgentFile, reference: Reference) -> Related:
    message = f"{caller.place.stem} may call {reference.name}"
    return Related(caller.uri, reference, message)
