"""An agent that calls itself something else than its file."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text import quoted
from axe_lsp.features.rule import Finding, Rule, Severity
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    name, stem = file.name, file.place.stem
    if file.place.scope is Scope.LOOSE or name is None or name.value in ("", stem):
        return
    if not name.value.strip():
        return  # A missing name, which is another rule's business.
    message = (
        f"the agent is found as {quoted(stem)}, by the name of its file, "
        f"but calls itself {quoted(name.value)}"
    )
    yield Finding(RULE.code, RULE.severity, name.range, message, suggestion=quoted(stem))


RULE = Rule(
    code="name-mismatch",
    severity=Severity.WARNING,
    summary="`name` differs from the name of the file.",
    documentation="""
`axe run`, `sub_agents` and every other reference find an agent by the name of its file without `.toml`. Lists show
the `name` key. When the two differ, people call the agent by a name that does not work.
""",
    check=check,
)
