"""A key that its program reads, and that has no effect in an agent."""

from __future__ import annotations

from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import remove_key
from axe_lsp.features.rule import Dialects, Rule, Subject

RULE = Rule(
    code="no-effect",
    severity=Severity.WARNING,
    summary="A key that has no effect in an agent.",
    documentation="""
Codex takes all keys of config.toml in an agent file, and ignores some of them there: a spawned agent
works in the sandbox of its parent, with its approvals, MCP servers and provider. `sandbox_mode =
"read-only"` does not keep the agent from writing.
""",
    is_for=Dialects.OTHERS,
    fixes=remove_key,
    about=Subject.PROBLEMS,
)
