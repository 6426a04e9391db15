"""A model whose name differs by a slip from one that its provider has."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.models import nearly_named
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import respell_as_suggested
from axe_lsp.features.rule import Rule
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    similar = nearly_named(file.model.value) if file.model is not None else None
    if file.model is None or similar is None:
        return
    message = f"{similar.provider} has no known model of this name. Did you mean `{similar}`?"
    where = file.model.range
    yield RULE.finding(where, message, suggestion=str(similar))


RULE = Rule(
    code="similar-model",
    severity=Severity.HINT,
    summary="The name of a model differs by a slip from a known one.",
    documentation="""
Case, separators and the place of numbers are not compared. A name with other digits is another
version, which is not reported: new models appear before the list of models knows them. Runs use any
name.

```toml
model = "anthropic/claude-sonet-5-5"     # claude-sonnet-5-5?
model = "openai/gpt-6-1-sol"             # gpt-6.1-sol?
```
""",
    check=check,
    fixes=respell_as_suggested,
)
