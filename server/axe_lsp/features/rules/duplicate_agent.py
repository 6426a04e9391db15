"""The same name twice in a list of agents."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Related, Severity
from axe_lsp.features.fix import Case, Fix, remove_item
from axe_lsp.features.rule import Rule, Subject
from axe_lsp.workspace.agent_file import AgentFile, Reference
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    first: dict[tuple[str, tuple[str, ...]], Reference] = {}
    for reference in file.references:
        earlier = first.setdefault((reference.name, reference.key), reference)
        if earlier is not reference:
            yield RULE.finding(
                reference.range,
                f'"{reference.name}" is listed already',
                related=(Related(file.uri, earlier.range, "here"),),
                unnecessary=True,
            )


def fixes(case: Case) -> Iterator[Fix]:
    """Name the agent once."""
    yield from remove_item(case, "Remove the duplicate", preferred=True, certain=True)


RULE = Rule(
    code="duplicate-agent",
    severity=Severity.HINT,
    summary="A name twice in `sub_agents`.",
    documentation="""
A second mention has no effect, except that the model reads it twice.
""",
    check=check,
    fixes=fixes,
    about=Subject.REFERENCES,
)
