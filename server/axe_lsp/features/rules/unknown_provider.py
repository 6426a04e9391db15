"""A provider that neither axe nor axe-lsp supports."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.providers import (
    PROVIDERS,
    REPLAY_PROVIDER,
    ModelNameError,
    parse_model_name,
)
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, find_value, replace, respell
from axe_lsp.features.rule import Rule, once_looked, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    yield from _of_config(file)
    yield from _of_model(snapshot, file)


def _of_config(file: AgentFile) -> Iterator[Finding]:
    """Report providers that config.toml has settings for. A newer axe may know more of them."""
    for problem in problems_of(file, RULE.code):
        similar = nearest(problem.found, PROVIDERS)
        severity = Severity.WARNING if similar else Severity.INFORMATION
        hint = f". Did you mean `{similar}`?" if similar else ""
        message = problem.message + hint
        yield RULE.finding(problem.range, message, severity=severity, suggestion=similar)


def _of_model(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if file.model is None:
        return
    try:
        provider = parse_model_name(file.model.value).provider
    except ModelNameError:
        return  # Another rule's business.
    if provider in (*PROVIDERS, REPLAY_PROVIDER):
        return
    facts = snapshot.facts_about(file)
    named = facts.named_providers
    known = (*PROVIDERS, *(named or ()))
    similar = nearest(provider, known)
    # The user's config.toml may add the provider, which nobody has looked at for most files.
    if facts.key is not None or (named is None and not similar):
        return
    hint = f"Did you mean `{similar}`?" if similar else f"Supported are: {', '.join(known)}."
    message = f'unsupported provider "{provider}". {hint}'
    yield RULE.finding(file.model.range, message, suggestion=similar)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the provider that was meant."""
    found, similar = find_value(case), case.finding.suggestion
    if similar is None:
        return
    model = found.decoded(case) if found is not None else None
    if found is None:  # The name of a table in config.toml.
        yield replace(case, similar)
    elif isinstance(model, str):
        provider, _, name = model.partition("/")
        certain = similar.lower() == provider.strip().lower()
        yield respell(case, f"{similar}/{name}", certain=certain)


RULE = Rule(
    code="unknown-provider",
    severity=Severity.ERROR,
    summary="A provider that is not supported.",
    documentation="""
Built in are `anthropic`, `openai`, `google`, `openrouter`, `bedrock` and others, `ollama`, and `replay`
for recorded answers. Names are lower case and must match exactly. Another provider needs a table
`[providers.NAME]` with a `wire` in the user's config.toml; without `wire`, no model can use it. A
name that is similar to the name of a built-in provider is a warning, any other name is information.
""",
    check=check,
    fixes=fixes,
    is_settled=once_looked,
)
