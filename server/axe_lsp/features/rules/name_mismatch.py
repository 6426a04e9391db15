"""An agent that calls itself something else than its file."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.edit import RenameError
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, respell
from axe_lsp.features.rename import rename_agent
from axe_lsp.features.rule import Rule
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
    yield RULE.finding(name.range, message, suggestion=quoted(stem))


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the name of the file, or another name for the file."""
    yield respell(case, case.file.place.stem)
    if case.file.name is None:
        return
    name = case.file.name.value
    try:
        edit = rename_agent(case.snapshot, case.file, name, case.context.text_of)
    except RenameError:
        return  # It is no name for a file, or another agent has it.
    yield Fix(f"Rename the file to {quoted(f'{name}.toml')}, and its references", edit)


RULE = Rule(
    code="name-mismatch",
    severity=Severity.WARNING,
    summary="`name` differs from the name of the file.",
    documentation="""
`axe run`, `sub_agents` and every other reference use the name of the file without `.toml`. Lists
show the `name` key. If the two differ, people use a name that does not work.
""",
    check=check,
    fixes=fixes,
)
