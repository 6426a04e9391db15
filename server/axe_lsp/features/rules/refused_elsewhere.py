"""An agent that another program, which reads the folder, too, does not load."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    fault = file.refusal
    if fault is not None and file.place.project in snapshot.layers.projects_with_copilot:
        yield RULE.finding(fault.range, f"Copilot reads this folder, too: {fault.message}")


RULE = Rule(
    code="refused-elsewhere",
    severity=Severity.WARNING,
    summary="Another program that reads the folder does not load the agent.",
    documentation="""
Copilot CLI reads `.claude/agents`, too, and is stricter than Claude Code: a value with `: ` in it needs quotes, a key
may stand once, tabs do not indent, and a fault in a key that both have drops the file. Such a file is reported
if the project has agents of Copilot itself, in `.github/agents`.

```yaml
description: Use when: asked      # Claude Code reads it, Copilot CLI does not
```
""",
    check=check,
    is_for=Dialects.OTHERS,
    is_settled=once_complete,
)
