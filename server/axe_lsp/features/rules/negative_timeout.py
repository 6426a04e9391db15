"""A timeout below zero."""

from __future__ import annotations

from axe_lsp.features.finding import Severity
from axe_lsp.features.rule import Rule, Subject
from axe_lsp.features.rules.out_of_range import fixes

RULE = Rule(
    code="negative-timeout",
    severity=Severity.ERROR,
    summary="A timeout is negative.",
    documentation="""
`timeout` and `sub_agents_config.timeout` are seconds. 0 means no limit: a run may take any time
while it makes progress, and a sub-agent the rest of its caller's time.
""",
    fixes=fixes,
    about=Subject.PROBLEMS,
)
