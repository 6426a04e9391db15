"""From LSP's words to ours."""

from __future__ import annotations

from collections.abc import Mapping

from axe_lsp.features.diagnostics import Severities
from axe_lsp.features.rule import Severity

_SEVERITIES: Mapping[str, Severity | None] = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "information": Severity.INFORMATION,
    "hint": Severity.HINT,
    "off": None,
}


def severities(setting: Mapping[str, str]) -> Severities:
    """The setting `axe.diagnostics`."""
    return {code: _SEVERITIES[name] for code, name in setting.items()}
