"""A tool that a test expects to be called, and that the agent does not have."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.tools import ALL_TOOLS
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import last_caller
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if not (file.calls and snapshot.is_settled(file.place)):
        return
    called_by: dict[str, frozenset[str]] = {}
    for call in file.calls:
        caller = last_caller(snapshot, file, call.callers)
        if caller is None or call.name in caller.offered:
            continue
        if call.name not in ALL_TOOLS:
            # A slip is reported by `bad-test`; the tools of servers are known by a run only.
            is_slip = nearest_of(call.name, tuple(ALL_TOOLS)) is not None
            if caller.uri not in called_by:
                called_by[caller.uri] = frozenset(each.name for each in caller.references)
            if is_slip or caller.outside.servers or call.name in called_by[caller.uri]:
                continue
        who = quoted(caller.place.stem)
        message = (
            f"{who} does not have the tool {quoted(call.name)}, so this expectation always fails"
        )
        yield RULE.finding(call.range, message)


# It has no fixes: the agent may lack the tool, or the test expect the wrong one.
RULE = Rule(
    code="unknown-call",
    severity=Severity.WARNING,
    summary="A tool that a test expects to be called, and that the agent does not have.",
    is_failure=True,
    documentation="""
An agent has the tools that `tools` and `tool_policy` allow, `call_agent` with `sub_agents`, `Task` with
`[task]`, a tool for each of its agents with `[input]`, and the tools of its MCP servers, which are not checked. A
test (`axe/tests/*.toml`) that expects a call of any other tool never passes, unless the call is expected
to fail (`error = true`).
""",
    check=check,
    is_for=Dialects.OTHERS,
    is_settled=once_complete,
)
