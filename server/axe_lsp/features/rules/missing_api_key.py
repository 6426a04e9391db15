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
    yield RULE.finding(file.model.range, message, path=("model",))


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a place for the key in the user's own config.toml. Only the user knows the key itself."""
    key = case.snapshot.facts_about(case.file).key
    if key is not None and case.snapshot.places.config_file:
        title = f"Enter the key of {key.provider} in config.toml"
        yield Fix(title, (), preferred=True, secret=Secret(key.provider))


RULE = Rule(
    code="missing-api-key",
    severity=Severity.INFORMATION,
    summary="No API key for the provider is in the environment or in config.toml.",
    documentation="""
The file is correct, but a run would fail before anything is sent. Set the variable that the message
names, or add the key to axe's configuration, never to an agent file:

```toml
# ~/.config/axe/config.toml
[providers.anthropic]
api_key = "…"
```

The check uses the environment of the language server, which comes from the editor: an editor that
was started from a desktop may lack variables of your shell. Unsaved text of an open config.toml
counts for this check, but not for runs. Keys are never shown. Ollama needs no key. The fix adds an
empty `api_key` to config.toml and opens the file there.
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_settled=once_looked,
)
