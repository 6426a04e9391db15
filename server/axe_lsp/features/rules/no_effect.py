"""A key that its program reads, and that has no effect in an agent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.dialects import GEMINI_COMMANDS
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import remove_key
from axe_lsp.features.rule import Dialects, Rule
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    yield from RULE.repeated(file)
    if file.place.dialect is GEMINI_COMMANDS:
        name = _NOT_IN_NAMES.sub("_", file.place.stem)
        if name != file.place.stem:
            message = (
                f"Gemini CLI calls this command `/{name}`, as its names have no other characters"
            )
            yield RULE.finding(TextRange(0, 0), message)


_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


RULE = Rule(
    code="no-effect",
    severity=Severity.WARNING,
    summary="A key that has no effect in an agent.",
    is_failure=True,
    documentation="""
Codex takes all keys of config.toml in an agent file, and ignores some of them there: a spawned agent
works in the sandbox of its parent, with its approvals, MCP servers and provider. `sandbox_mode =
"read-only"` does not keep the agent from writing.

In an agent file of axe, `sub_agents_config.at_end` is for agents that start [side
runs](delegation.md#side-runs), with `background = "optional"` or `"always"`, and these are for
agents with `sub_agents` or `[task]`.

The tools `diagnostics`, `definition`, `references`, `symbols`, `hover` and `call_hierarchy` ask the
[language servers of the editor](editor-tools.md). An editor that does not answer them shows a hint
at their names; in VS Code they work.
""",
    is_for=Dialects.ALL,
    check=check,
    fixes=remove_key,
)
