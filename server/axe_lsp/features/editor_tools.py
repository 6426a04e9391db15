"""Hints at tools that ask the editor, for editors that do not answer them."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.check.ignores import Silenced
from axe_lsp.agentfile.dialects import AXE
from axe_lsp.agentfile.schema.tools import EDITOR_TOOLS
from axe_lsp.features.diagnostics import Severities
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rules.no_effect import RULE
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.file_values import FileValues


def unanswered_tools(file: AgentFile, severities: Severities) -> Iterator[Finding]:
    """Yield a hint at each tool of an open agent file that this editor would not answer."""
    if (
        file.open is None
        or file.place.dialect is not AXE
        or severities.get(RULE.code, True) is None
    ):
        return
    comments = Silenced(file.ignores)
    for each in FileValues(file.open).strings(("tools",)):
        if each.value in EDITOR_TOOLS and not comments.holds(RULE.code, each.range.start):
            message = (
                f"runs of this editor go without `{each.value}`, which asks the language servers of "
                "VS Code"
            )
            severity = severities.get(RULE.code) or Severity.HINT
            yield RULE.finding(each.range, message, severity=severity)
