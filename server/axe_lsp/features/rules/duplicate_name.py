"""Several files that define an agent of one name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.features.edit import RenameError
from axe_lsp.features.finding import Finding, Related, Severity
from axe_lsp.features.fix import Case, Fix, open_related
from axe_lsp.features.rename import rename_agent
from axe_lsp.features.rule import Rule, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    stem = file.place.stem
    if file.place.scope is Scope.LOOSE or len(snapshot.names.get(stem, ())) < 2:
        return
    ordered = snapshot.agents(stem, file)
    others = [
        each for each in ordered if each.uri != file.uri and not snapshot.is_one_file(each, file)
    ]
    alike = [each for each in others if each.place.scope is file.place.scope]
    first = {each.uri for each in ordered[: ordered.index(file)]} if file in ordered else set()
    above = [each for each in others if each.place.scope < file.place.scope and each.uri in first]
    if alike:
        message = (
            f"another file defines {quoted(stem)} too; which one is called depends on the caller"
        )
        yield _finding(file, RULE.severity, message, alike)
    elif above:
        message = f"{quoted(stem)} of the workspace is called in place of this agent of the user"
        yield _finding(file, Severity.INFORMATION, message, above)


def _finding(file: AgentFile, severity: Severity, message: str, others: list[AgentFile]) -> Finding:
    related = tuple(Related(each.uri, TextRange(0, 0), "defined here") for each in others)
    return RULE.finding(file.start, message, severity=severity, related=related)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a name of its own for the agent, or a look at the other one. Which of them is meant, only the author knows."""
    name = _free_name(case.snapshot, case.file.place.stem)
    try:
        edit = rename_agent(case.snapshot, case.file, name, case.context.text_of)
    except RenameError:
        pass  # It means something else to who calls it, such as a type of `Task`.
    else:
        yield Fix(f"Rename this agent to {quoted(name)}, and its references", edit)
    yield from open_related(case)


def _free_name(snapshot: Snapshot, stem: str) -> str:
    """Return the name with the first number behind it that no agent has, however it is written."""
    taken = {file.place.stem.casefold() for file in snapshot.files()}
    numbered = (f"{stem}-{number}" for number in count(2))
    return next(name for name in numbered if name.casefold() not in taken)


RULE = Rule(
    code="duplicate-name",
    severity=Severity.WARNING,
    summary="Several files define an agent of this name.",
    documentation="""
Agents are found by the names of their files, in a fixed order of folders (`docs/agent-files.md`):
of several agents with the same name, the one in the caller's own folder is called, then one of the workspace
folder, then the user's. Two in the same scope are a warning, because the caller decides which one is called.
A user's agent that an agent of the workspace overrides is only information, because that is usually intended. A file and a link to it are one agent, and
a repository inside the workspace folder, such as a submodule, has its own agents. The fix adds a number to this agent's name, and renames its references.
""",
    check=check,
    fixes=fixes,
    is_settled=once_complete,
)
