"""A model that is not `provider/model-name`."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.model_name import ModelNameError, parse_model_name
from axe_lsp.features.rule import Finding, Rule, Severity
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if file.model is None or not file.model.value.strip():
        return
    try:
        parse_model_name(file.model.value)
    except ModelNameError as error:
        yield Finding(RULE.code, RULE.severity, file.model.range, str(error))


RULE = Rule(
    code="model-format",
    severity=Severity.ERROR,
    summary="The model is not `provider/model-name`.",
    documentation="""
The text before the first slash says who serves the model, the rest is the name that this provider uses.

```toml
model = "anthropic/claude-sonnet-4-5"
model = "ollama/llama3.1:8b"
```
""",
    check=check,
)
