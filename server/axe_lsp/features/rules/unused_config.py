"""Tables and keys that have no effect."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, remove_key, remove_table
from axe_lsp.features.rule import Rule, once_complete, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.graph import calling
from axe_lsp.workspace.meaning import agent_meaning, mentions
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for problem in problems_of(file, RULE.code):
        yield RULE.finding(problem.range, problem.message, unnecessary=True, path=problem.path)
    if file.typed is None or file.place.scope is Scope.LOOSE or not snapshot.is_settled(file.place):
        return
    if not any(calling(snapshot, file)) and not _is_tested(snapshot, file):
        message = f"no agent lists {quoted(file.place.stem)} in its sub_agents, so no model uses this input"
        yield RULE.finding(file.typed, message, unnecessary=True)


def _is_tested(snapshot: Snapshot, file: AgentFile) -> bool:
    """Return whether a file of tests names the agent, which then gets an input, as its judge does."""
    named = mentions(snapshot, agent_meaning(file))
    return any(each.file.place.dialect is AGENT_TESTS for each in named)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the file without the table or the key."""
    if case.finding.path == ("isolation", "changes"):
        yield from remove_key(case, preferred=True)
    for path in (("sub_agents_config",), ("input",)):
        if case.lookup.place(path) == case.finding.range:
            yield from remove_table(case, path, preferred=True)


RULE = Rule(
    code="unused-config",
    severity=Severity.HINT,
    summary="A table or a key that has no effect.",
    documentation="""
`[sub_agents_config]` needs agents to call: `sub_agents`, or `[task]`. An `[input]` is for models of
agents that list this agent in `sub_agents`, and for [tests](testing.md), also as their judge; if
none names it, only programs that run it with an `input` use it. `isolation.changes` is for agents that work in a copy, with `isolation.mode = "copy"`.
""",
    check=check,
    fixes=fixes,
    is_settled=once_complete,
)
