"""A sub-agent that no file defines."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.dialects import COPILOT
from axe_lsp.agentfile.lookup_order import SUFFIX
from axe_lsp.agentfile.other_programs import without_program
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, find_value, remove_item, respell
from axe_lsp.features.new_agent import new_agent
from axe_lsp.features.rule import Dialects, Rule, Subject, once_complete
from axe_lsp.workspace.agent_file import TASK_TYPES, AgentFile, Reference
from axe_lsp.workspace.snapshot import Snapshot

_CHILDREN = "children"
"""The key below which tests of agents name called agents, which may be built-in types of the tool `Task`."""


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if not snapshot.is_settled(file.place):
        return  # A folder that has not been read yet may define it.
    if file.place.kind.syntax is not None:
        yield from _in_markdown(snapshot, file)
        return
    for reference in file.references:
        if not _is_defined(snapshot, file, reference):
            similar = _meant(snapshot, file, reference.name)
            hint = f" Did you mean `{similar}`?" if similar else ""
            plain = without_program(reference.name)
            if plain in snapshot.names or plain in snapshot.layers.names_for_axe:
                hint = " An agent of this name belongs to another repository, whose agents can't be called from here."
            yield RULE.finding(
                reference.range,
                f"no agent file defines {quoted(reference.name)}; calling it will fail.{hint}",
                suggestion=similar,
            )


_OF_VS_CODE = frozenset(["*", "agent", "ask", "edit", "plan"])
"""Agents that VS Code has itself."""


def _in_markdown(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    """Yield a name that VS Code reports. No other program says anything of it."""
    if file.place.dialect is not COPILOT:
        return
    program = file.schema.program
    names = tuple(name for each, name in snapshot.layers.names if each == program)
    for reference in file.references:
        name = reference.name
        if name.lower() not in _OF_VS_CODE and not snapshot.defines(name, file):
            similar = nearest_of(name, names)
            hint = f" Did you mean `{similar}`?" if similar else ""
            message = f"VS Code: unknown agent {quoted(name)}.{hint}"
            yield RULE.finding(reference.range, message, suggestion=similar)


def _meant(snapshot: Snapshot, file: AgentFile, name: str) -> str | None:
    """Return an agent, where its file or the path of it is named, or else the one with the nearest name."""
    stem = name.replace("\\", "/").rpartition("/")[2].removesuffix(SUFFIX)
    if stem != name and snapshot.defines(stem, file):
        return stem
    near = (*snapshot.spelling.near(stem), *snapshot.layers.spelling_for_axe.near(stem))
    return nearest_of(stem, tuple(each for each in near if snapshot.defines(each, file)))


def _is_defined(snapshot: Snapshot, file: AgentFile, reference: Reference) -> bool:
    if reference.key == TASK_TYPES and (
        reference.name in BUILT_IN_TYPES or reference.name in file.inline_types
    ):
        return True
    if _CHILDREN in reference.key and reference.name in BUILT_IN_TYPES:
        return True
    return snapshot.defines(reference.name, file)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the agent that was meant, a new one of that name, or none."""
    similar = case.finding.suggestion
    if similar is not None:
        yield respell(case, similar)
    found = find_value(case)
    is_ours = case.file.place.kind.syntax is None
    name = found.decoded(case) if found is not None and is_ours else None
    if isinstance(name, str):
        file = new_agent(case.snapshot, name, seen_from=case.file)
        if file is not None:
            title = f"Create the agent {quoted(name)}"
            yield Fix(title, (file,), preferred=similar is None)
        yield from remove_item(case, f"Remove {quoted(name)} from the list")


RULE = Rule(
    code="unknown-agent",
    severity=Severity.WARNING,
    summary="A sub-agent that no file defines.",
    is_failure=True,
    documentation="""
A name in `sub_agents` (or `task.types`) means the agent file of that name, `<name>.toml`, in the folder of
the file that names it, in the agent folders of the workspace, or in the user's folder
(`docs/agent-files.md` has the exact order), else an agent of another program, that of Codex before those of
Vibe, Claude Code, Copilot, opencode and Gemini CLI. `claude:<name>` means that of one program. axe does not check
these names when it loads a file: the call fails when the model makes it. In agents of Copilot, VS Code
reports unknown names in `agents` and `handoffs`; the other programs in Markdown say nothing of them.
""",
    check=check,
    fixes=fixes,
    is_for=Dialects.ALL,
    about=Subject.REFERENCES,
    is_settled=once_complete,
)
