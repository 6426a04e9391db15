"""A provider that nobody supports."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.model_name import (
    AXE_PROVIDERS,
    REPLAY_PROVIDER,
    RUNNABLE_PROVIDERS,
    ModelNameError,
    parse_model_name,
)
from axe_lsp.agentfile.nearest import nearest
from axe_lsp.features.rule import Finding, Rule, Severity, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    yield from _of_config(file)
    yield from _of_model(file)


def _of_config(file: AgentFile) -> Iterator[Finding]:
    """Providers that config.toml has settings for. A newer axe may know more of them."""
    for problem in problems_of(file, RULE.code):
        similar = nearest(problem.found, AXE_PROVIDERS)
        severity = Severity.WARNING if similar else Severity.INFORMATION
        hint = f". Did you mean `{similar}`?" if similar else ""
        message = problem.message + hint
        yield Finding(RULE.code, severity, problem.range, message, suggestion=similar)


def _of_model(file: AgentFile) -> Iterator[Finding]:
    if file.model is None:
        return
    try:
        provider = parse_model_name(file.model.value).provider
    except ModelNameError:
        return  # Another rule's business.
    if provider in (*RUNNABLE_PROVIDERS, REPLAY_PROVIDER):
        return
    if provider in AXE_PROVIDERS:
        message = f'axe knows the provider "{provider}", but axe-lsp cannot run it yet'
        yield Finding(RULE.code, Severity.INFORMATION, file.model.range, message)
        return
    similar = nearest(provider, AXE_PROVIDERS)
    supported = ", ".join(RUNNABLE_PROVIDERS)
    hint = f"Did you mean `{similar}`?" if similar else f"Supported are: {supported}."
    message = f'unsupported provider "{provider}". {hint}'
    yield Finding(RULE.code, RULE.severity, file.model.range, message, suggestion=similar)


RULE = Rule(
    code="unknown-provider",
    severity=Severity.ERROR,
    summary="A provider that is not supported.",
    documentation="""
Supported are `anthropic`, `openai`, `ollama`, and `replay` for recorded answers. The name is matched exactly, in
lower case. A provider that axe supports and axe-lsp does not run yet is an information, since the file is
correct.

In config.toml a name in `[providers.NAME]` is free, so one that is much like a provider's is a warning, and any other an
information.
""",
    check=check,
)
