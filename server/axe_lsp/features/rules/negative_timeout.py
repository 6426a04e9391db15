"""A timeout below zero."""

from __future__ import annotations

from axe_lsp.features.rule import Rule, Severity, Subject, problems_with

RULE = Rule(
    code="negative-timeout",
    severity=Severity.ERROR,
    summary="A timeout is negative.",
    documentation="""
`timeout` and `sub_agents_config.timeout` are seconds. 0 means the default: 120 for a run, and what is left
of the caller's time for a sub-agent.
""",
    check=problems_with("negative-timeout", Severity.ERROR),
    about=Subject.PROBLEMS,
)
