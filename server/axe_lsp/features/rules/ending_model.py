"""A model that its provider has switched off, or will."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.models import ending_of
from axe_lsp.features.describe import ending_line
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import respell_as_suggested
from axe_lsp.features.rule import Rule
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    ending = ending_of(file.model.value) if file.model is not None else None
    if file.model is None or ending is None:
        return
    message = f"The model {file.model.value!r} ends: {ending_line(file.model.value)}."
    where = file.model.range
    yield RULE.finding(where, message, suggestion=ending.successor or None)


RULE = Rule(
    code="ending-model",
    severity=Severity.HINT,
    summary="The provider of a model has switched it off, or has announced the day.",
    documentation="""
The days are those of the providers' own services, as read on the day that [Models](models.md) names.
Other services with the same model, such as Azure, Bedrock and OpenRouter, have dates of their own, which
are not known here.

```toml
model = "openai/gpt-5"                   # until 2026-12-11; gpt-6.1-sol in its place
model = "anthropic/claude-sonnet-4-5"    # until 2026-11-30; claude-sonnet-5-5 in its place
```
""",
    check=check,
    fixes=respell_as_suggested,
)
