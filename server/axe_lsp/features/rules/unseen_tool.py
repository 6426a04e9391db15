"""A name that neither a tool of axe-lsp nor the last seen tools of the file's MCP servers have."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from axe_lsp.agentfile.schema.tools import is_tool_glob, tools_meant
from axe_lsp.agentfile.text.nearest import KEPT, nearest_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import respell_as_suggested
from axe_lsp.features.rule import Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_MOST_COMPARED = 2000
"""Pairs of names that are compared for "did you mean", as that takes long: the first names get a hint."""


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    servers = snapshot.facts_about(file).servers
    if not servers or any(each.tools is None for each in servers):
        return  # One that no run has seen may have any tool.
    names = _sorted(frozenset(tool.name for each in servers for tool in each.tools or ()))
    known = frozenset(names)
    left = _MOST_COMPARED
    for each in file.outside.denied:
        is_glob = is_tool_glob(each.value)
        if each.value in known or tools_meant([each.value]):
            continue
        if is_glob and _fits(each.value, names):
            continue
        similar = None
        if not is_glob and left > 0:
            similar = nearest_of(each.value, names)
            left -= len(names)
        seen = "no MCP server of this file had such a tool when a run last saw its tools"
        hint = f". Did you mean `{similar}`?" if similar else ""
        message = f"{quoted(each.value)}: {seen}{hint}"
        yield RULE.finding(each.range, message, suggestion=similar)


@lru_cache(maxsize=8)
def _sorted(names: frozenset[str]) -> tuple[str, ...]:
    """Return the same object for the same names, so that it is compared at once with that of the last keystroke."""
    return tuple(sorted(names))


@lru_cache(maxsize=KEPT)
def _fits(glob: str, names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for name in names)


RULE = Rule(
    code="unseen-tool",
    severity=Severity.INFORMATION,
    summary="A tool to deny that the MCP servers of the file did not have.",
    documentation="""
A name or glob in `tool_policy.deny` fits neither a tool of axe-lsp nor a tool that an MCP server of
the file had when a run last saw its tools. It may be misspelt, and then the model gets the tool.

```toml
[tool_policy]
deny = ["create_isue"]                         # the server has create_issue

[[mcp_servers]]
name = "issues"
url = "https://mcp.example.com/mcp"
transport = "streamable-http"
```

The editor knows the tools of a server from the last run that has used it; it never contacts a
server. Nothing is reported until a run has seen all servers of the file, and `axe-lsp check` does
not report it. A server may have other tools by now. In a file with very many such names only the
first ones get a "did you mean".
""",
    check=check,
    fixes=respell_as_suggested,
    about=Subject.FACTS,
    is_settled=once_looked,
)
