"""Parameters that the model's provider has no field for."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.providers import PROVIDERS, WIRES
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, remove_key
from axe_lsp.features.rule import Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    key = snapshot.facts_about(file).key
    if key is None:
        return
    provider = PROVIDERS.get(key.provider)
    sent = WIRES[key.wire].params | (provider.params if provider else frozenset())
    for param in file.outside.params:
        if param.value not in sent:
            message = f"params.{param.value} is not sent: {key.provider} has no such parameter"
            yield RULE.finding(param.range, message, unnecessary=True, path=param.key)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the file without the parameter."""
    yield from remove_key(case, preferred=True)


RULE = Rule(
    code="unused-param",
    severity=Severity.WARNING,
    summary="A parameter that the model's provider does not support.",
    is_failure=True,
    documentation="""
Providers support different parameters: for example, only Ollama has `num_ctx`, and Anthropic has no
`seed`. A run also warns about such a key and does not send it. The page on providers has a table of
the parameters.
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_settled=once_looked,
)
