"""Everything that is worth saying about one file, by all rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from axe_lsp.agentfile.secrets import without_secrets
from axe_lsp.features.rule import Finding, Severity, problems_of
from axe_lsp.features.rules import RULES, plain_secret
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

Severities = Mapping[str, Severity | None]
"""Diagnostic codes to another severity than the rule's own, or to None for "off"."""


def diagnostics(
    snapshot: Snapshot, file: AgentFile, severities: Severities | None = None
) -> tuple[Finding, ...]:
    """The findings about `file`, in the order of the text."""
    found = _findings(snapshot, file, severities or {})
    if any(problems_of(file, plain_secret.RULE.code)):
        found = (replace(each, message=without_secrets(each.message)) for each in found)
    return tuple(sorted(found, key=lambda finding: finding.range))


def _findings(snapshot: Snapshot, file: AgentFile, severities: Severities) -> Iterator[Finding]:
    for rule in RULES:
        if rule.code in severities:
            severity = severities[rule.code]
            if severity is not None:
                for finding in rule.check(snapshot, file):
                    yield finding.with_severity(severity)
        elif rule.is_on:
            yield from rule.check(snapshot, file)
