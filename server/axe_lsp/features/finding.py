"""The findings of a rule in a file: diagnostics without LSP types."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.workspace.file_values import Where, found


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
