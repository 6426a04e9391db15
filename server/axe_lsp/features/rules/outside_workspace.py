"""Something outside the workspace that an agent of the workspace asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from axe_lsp.agentfile import rights
from axe_lsp.agentfile.rights import Reach
from axe_lsp.agentfile.schema.tools import WEB_TOOLS
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, change, find_value, remove_item
from axe_lsp.features.rule import Dialects, Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.outside_values import Outside
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    reaches = snapshot.facts_about(file).reaches
    if not reaches:
        return  # The places of globs would be looked for in vain.
    outside, globs = file.outside, file.question.globs
    by_pattern = {each.value: each.range for each in reversed(outside.globs)}
    for each in reaches:
        where = _place(outside, globs, by_pattern, each)
        if where is not None:
            severity = Severity.WARNING if each.refused else RULE.severity
            path = tuple(each.key.split("."))
            yield RULE.finding(where, _message(each), severity=severity, path=path)


def _message(found: Reach) -> str:
    if found.refused:
        return f"{found} is outside the workspace, and never allowed: {found.refused}"
    return f"{found} is outside the workspace; a run asks the user first (`axe-lsp trust`)"


def _place(
    outside: Outside, globs: Sequence[str], by_pattern: Mapping[str, TextRange], found: Reach
) -> TextRange | None:
    if found.key == rights.SERVER:
        return outside.servers[found.index or 0].range
    if found.key == rights.FILES:
        return by_pattern.get(globs[found.index or 0])
    if found.key in WEB_TOOLS:
        return next((each.range for each in outside.web if each.value == found.key), None)
    written = {
        rights.SKILL: outside.skill,
        rights.WORKDIR: outside.workdir,
        rights.MEMORY: outside.memory_path,
    }[found.key]
    return written.range if written is not None else None


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the file without what reaches out of the workspace."""
    found = find_value(case)
    if found is None:
        return
    if found.array is not None:
        yield from remove_item(case)
    elif (entry := case.lookup.statement_at(case.finding.range.start)) is not None:
        title = f"Remove `{'.'.join(case.finding.path)}`"
        yield change(case, title, splices.without_entry(case.text, entry))


RULE = Rule(
    code="outside-workspace",
    severity=Severity.INFORMATION,
    summary="An agent of a workspace reaches outside the workspace.",
    documentation="""
A file that comes with a repository can't reach outside it unless the user trusts it: no MCP server,
no environment variable in a header, no `url_fetch` or `web_search`, no `skill`, `files`, `workdir` or
`memory.path` elsewhere. Such an agent runs after the user has agreed, in the editor, at the terminal or with `axe-lsp trust`; a
changed file asks again, for tools for the web if the agent can read something else. `axe-lsp run --trust`, for scripts,
allows it for one run.

It is a warning if trust can't allow it: a provider's key in a header of an MCP server, a memory
that is neither below the workspace nor below axe's data folder, or `config.toml` as a skill or in
`files`.

```toml
workdir = "~/elsewhere"

[[mcp_servers]]
name = "search"
url = "https://mcp.example.com"
transport = "streamable-http"
headers = { Authorization = "Bearer ${SEARCH_TOKEN}" }
```

Agents in the folder of axe's configuration (usually `~/.config/axe/agents`) are the user's own and may ask for all of
this. docs/security.md has the whole table.
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_for=Dialects.ALL,
    is_settled=once_looked,
    is_protecting=True,
)
