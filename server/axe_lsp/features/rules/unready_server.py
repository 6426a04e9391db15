"""An MCP server that a run could not connect."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.check.codex_tables import required_commands
from axe_lsp.agentfile.dialects import SERVER
from axe_lsp.agentfile.schema.nested import member_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for each in snapshot.facts_about(file).unready:
        where = file.outside.servers[each.index].range
        if each.program:
            message = f"program {quoted(each.program)} is not on the PATH"
            yield RULE.finding(where, message, path=("mcp_servers", "command"))
        if each.variables:
            names = ", ".join(f"${name}" for name in each.variables)
            message = f"a run needs environment variables that are not set here: {names}"
            yield RULE.finding(where, message, severity=Severity.INFORMATION, path=("mcp_servers",))
    yield from _required(snapshot, file)


def _required(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    """Yield the programs without which Codex starts no session."""
    contents = snapshot.facts_about(file).contents
    for command in required_commands(member_of(file.settings, "mcp_servers")):
        fault = contents.get((SERVER, str(command.value)))
        if fault:
            program = quoted(str(command.value))
            message = f"program {program} {fault}; {file.schema.program} starts no session without this server"
            yield RULE.finding(command.range, message, path=("mcp_servers", "command"))


# It has no fixes: the program or the value of the variable is the user's to get.
RULE = Rule(
    code="unready-server",
    severity=Severity.WARNING,
    summary="An MCP server that a run could not connect.",
    is_failure=True,
    documentation="""
The file is correct, but a run would end before anything is sent to the model: the program of the
server is not on the PATH, or an environment variable in its `headers` or `env` is not set.

```toml
[[mcp_servers]]
name = "git"
command = "uvx"                                # not installed
args = ["mcp-server-git"]
env = { GIT_TOKEN = "${GIT_TOKEN}" }           # not set
```

The check uses the environment of the language server, which comes from the editor: an editor that
was started from a desktop may lack programs and variables of your shell. A missing
variable is only information, since variables are often set for a run only. In a config.toml of Codex only the programs
of servers with `required = true` are looked for.
""",
    is_for=Dialects.ALL,
    check=check,
    about=Subject.FACTS,
    is_settled=once_looked,
)
