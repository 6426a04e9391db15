"""A tool of an MCP server that a tool of axe-lsp hides."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    servers = snapshot.facts_about(file).servers
    for written, known in zip(file.outside.servers, servers, strict=False):  # Facts may lag behind.
        for tool in known.tools or ():
            if tool.name in file.offered:
                message = (
                    f"the model does not get {quoted(tool.name)} of this server, since the agent "
                    "has a tool of axe-lsp with this name"
                )
                yield RULE.finding(written.range, message)


RULE = Rule(
    code="shadowed-tool",
    severity=Severity.WARNING,
    summary="A tool of an MCP server with the name of a tool of axe-lsp.",
    documentation="""
An agent gets the tool of axe-lsp, and not the one of the server. That also holds for the tools that
come with `sub_agents` and `background`: `call_agent`, `check_agents`, `wait_agents`,
`message_agent` and `stop_agent`. The editor knows the tools of a server from the last run that has
used it; `axe-lsp check` does not report it.
""",
    check=check,
    about=Subject.FACTS,
    is_settled=once_looked,
)
