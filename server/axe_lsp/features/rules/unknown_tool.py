"""A tool that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.tools import TOOL_ALIASES, TOOLS
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, find_value, remove_item, respell
from axe_lsp.features.rule import Dialects, Rule, Subject, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_NAMES = (*TOOLS, *TOOL_ALIASES)


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if file.place.kind.syntax is not None:
        yield from RULE.repeated(file)
        return
    for problem in problems_of(file, RULE.code):
        if not problem.fatal:
            message = f"{problem.message}: no tool matches"
            yield RULE.finding(problem.range, message, severity=Severity.WARNING)
            continue
        similar = nearest_of(problem.found, _NAMES)
        hint = f"Did you mean `{similar}`?" if similar else f"There are: {', '.join(TOOLS)}."
        if similar is None and file.outside.servers:
            hint = "Tools of MCP servers are not listed: the model gets all of them."
        if problem.found == "call_agent":
            similar, hint = None, "The model gets it if `sub_agents` names an agent."
        yield RULE.finding(problem.range, f"{problem.message}. {hint}", suggestion=similar)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the tool that was meant, or none."""
    found, similar = find_value(case), case.finding.suggestion
    name = found.decoded(case) if found is not None else None
    if similar is not None and isinstance(name, str):
        yield respell(case, similar, certain=similar.lower() == name.strip().lower())
    yield from remove_item(case, preferred=similar is None)


RULE = Rule(
    code="unknown-tool",
    severity=Severity.ERROR,
    summary="A tool name that does not exist.",
    is_failure=True,
    documentation="""
An agent with an unknown name in `tools` does not run. `call_agent` must not be listed: the model
gets it if `sub_agents` names an agent. A glob that matches no tool is a warning.

```toml
tools = ["read_file", "list_directory", "run_command"]
```
""",
    is_for=Dialects.ALL,
    check=check,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
