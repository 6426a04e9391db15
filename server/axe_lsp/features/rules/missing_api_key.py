"""A provider whose key is nowhere to be found."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.edit import Secret
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rule import Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    key = snapshot.facts_about(file).key
    if file.model is None or key is None or not key.is_missing:
        return
    message = (
        f"no API key for provider {quoted(key.provider)}: set {key.variable} "
        "in the environment, or api_key in config.toml"
    )
    yield Finding(RULE.code, RULE.severity, file.model.range, message, path=("model",))


def fixes(case: Case) -> Iterator[Fix]:
    """A place for the key in the user's own config.toml. The key itself nobody but the user knows."""
    key = case.snapshot.facts_about(case.file).key
    if key is not None and case.snapshot.places.config_file:
        title = f"Enter the key of {key.provider} in config.toml"
        yield Fix(title, (), preferred=True, secret=Secret(key.provider))


RULE = Rule(
    code="missing-api-key",
    severity=Severity.INFORMATION,
    summary="No API key for the provider is in the environment or in config.toml.",
    documentation="""
The file is correct, but a run here would fail before anything is sent. The key belongs in the variable that the message
names, or in axe's configuration, never in an agent file:

```toml
# ~/.config/axe/config.toml
[providers.anthropic]
api_key = "…"
```

What counts is the environment of the language server, which it has from the editor: one that was started from a desktop may lack what
a shell sets. What is typed into an open config.toml counts before it is saved, and for runs once it is. Keys are only looked for, never shown.
Ollama needs none. The fix makes a place for the key in config.toml and opens it there.
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_settled=once_looked,
)
