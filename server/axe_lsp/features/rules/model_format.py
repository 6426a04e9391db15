"""A model that is not `provider/model-name`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.schema.providers import PROVIDERS, ModelNameError, parse_model_name
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, find_value, respell
from axe_lsp.features.rule import Rule
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if file.model is None or not file.model.value.strip():
        return
    try:
        parse_model_name(file.model.value)
    except ModelNameError as error:
        models = meant(snapshot, file.model.value)
        hint = f". Did you mean `{models[0]}`?" if models else ""
        yield RULE.finding(file.model.range, f"{error}{hint}")


_SEPARATOR = re.compile(r"\s*(?:[:\\.]|//|\s)\s*")

_MAKERS = {"claude": "anthropic", "gpt": "openai", "gemini": "google", "llama": "ollama"}
"""The beginnings of the names of well-known models, and their providers."""


def meant(snapshot: Snapshot, written: str) -> list[str]:
    """Return the likely models for a model without its provider, the likeliest first."""
    return list(dict.fromkeys(_meant(snapshot, written.strip("/ "))))


def _meant(snapshot: Snapshot, written: str) -> Iterator[str]:
    provider, *name = _SEPARATOR.split(written, maxsplit=1)
    if provider.lower() in PROVIDERS and name:
        yield f"{provider.lower()}/{name[0]}"
    used = {each.model.value for each in snapshot.files() if each.model is not None}
    yield from sorted(
        model for model in used if all(model.partition("/")) and written in model.split("/", 1)
    )
    for beginning, maker in _MAKERS.items():
        if written.lower().startswith(beginning):
            yield f"{maker}/{written}"


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the provider that is missing in front of the model's name."""
    found = find_value(case)
    written = found.decoded(case) if found is not None else None
    if isinstance(written, str):
        for rank, model in enumerate(meant(case.snapshot, written)):
            yield respell(case, model, preferred=rank == 0)


RULE = Rule(
    code="model-format",
    severity=Severity.ERROR,
    summary="The model is not `provider/model-name`.",
    documentation="""
The text before the first slash is the provider, the rest is the provider's name of the model.

```toml
model = "anthropic/claude-sonnet-5-5"
model = "ollama/llama3.1:8b"
```
""",
    check=check,
    fixes=fixes,
)
