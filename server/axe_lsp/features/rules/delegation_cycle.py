"""Agents that can call each other round in a circle."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity, calls_along, reference_to
from axe_lsp.features.fix import remove_item
from axe_lsp.features.rule import Rule, Subject, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.graph import cycle_through
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    cycle = cycle_through(snapshot, file) if file.sub_agents else ()
    if not cycle:
        return
    first = reference_to(file, cycle[1])
    if first is None:
        return
    way = " → ".join(each.place.stem for each in cycle)
    message = f"delegation comes back to this agent: {way}. Only the depth limit ends it."
    yield RULE.finding(first.range, message, related=calls_along(cycle[1:]))


RULE = Rule(
    code="delegation-cycle",
    severity=Severity.WARNING,
    summary="A cycle of the delegation graph contains this agent.",
    documentation="""
An agent that can call itself, directly or through others, may do so until the depth limit, and each
call costs tokens. The message shows a shortest cycle. Cycles of more than 50 agents are not
searched, since the depth limit is reached long before.
""",
    check=check,
    fixes=remove_item,
    about=Subject.REFERENCES,
    is_settled=once_complete,
)
