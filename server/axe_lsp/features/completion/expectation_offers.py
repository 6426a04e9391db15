"""Completion of expectations in files of tests: the tools of the agent, its agents and the members of its answer; those of its input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axe_lsp.agentfile.schema.agent_keys import TOOLS
from axe_lsp.agentfile.schema.key_spec import EXTENSION, KeyPath, KeySpec, KeyType
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.features.completion.cursor import Cursor
from axe_lsp.features.describe_facts import seen_tools
from axe_lsp.workspace.agent_file import CALLS, AgentFile
from axe_lsp.workspace.meaning import last_caller
from axe_lsp.workspace.snapshot import Snapshot

_ANSWER, _INPUT = ("answer", "equals"), ("case", "input")
_CHILD, _TOOL = ("children", "agent"), CALLS[-3:]
_CALLING_AGENTS = {"call_agent": "Calls an agent.", "Task": "Calls an agent."}


def member_keys(
    snapshot: Snapshot, file: AgentFile, lookup: Lookup, cursor: Cursor
) -> Sequence[KeySpec]:
    """The members of the expected answer at the cursor, or of the input of a case."""
    parent, start = cursor.parent, cursor.range.start
    if lookup.schema is not TESTS:
        return ()
    if parent == _INPUT:
        agent = _agent_at(snapshot, file, ("case",), start)
        members = agent.input if agent is not None else ()
    elif parent[-2:] == _ANSWER:
        agent = _agent_at(snapshot, file, parent[:-2], start)
        members = agent.output if agent is not None else ()
    else:
        return ()
    return [
        KeySpec((*parent, each.name), KeyType.ANY, each.description, since=EXTENSION)
        for each in members
    ]


def callable_names(snapshot: Snapshot, file: AgentFile, cursor: Cursor) -> frozenset[str]:
    """The agents that the one can call of which a child is expected at the cursor."""
    if file.schema is not TESTS or cursor.path[-2:] != _CHILD:
        return frozenset()
    caller = _agent_at(snapshot, file, cursor.path[:-2], cursor.range.start)
    return frozenset(each.name for each in caller.references) if caller is not None else frozenset()


def expected_tools(
    snapshot: Snapshot, file: AgentFile, cursor: Cursor
) -> Iterator[tuple[str, str]]:
    """The tools of the agent that is expected to call one at the cursor, with their meaning; all if it is not known."""
    caller = None
    if cursor.path[-3:] == _TOOL:
        caller = _agent_at(snapshot, file, cursor.path[:-3], cursor.range.start)
    if caller is None:
        yield from {**TOOLS, **_CALLING_AGENTS}.items()
        return
    for tool in caller.offered:
        yield tool, {**TOOLS, **_CALLING_AGENTS}.get(tool, "")
    for name in dict.fromkeys(each.name for each in caller.references):
        agent = snapshot.agent(name, caller)
        if agent is not None and agent.typed is not None:
            yield name, agent.description or "An agent with an input."
    for name, (seen, server) in seen_tools(snapshot, caller).items():
        yield name, f"{server}: {seen.description}".rstrip(": ")


def _agent_at(snapshot: Snapshot, file: AgentFile, path: KeyPath, offset: int) -> AgentFile | None:
    """The agent whose run the expectations of a path are about: that of the case, or the last child that is named before."""
    names = [file.outside.tested]
    for number, part in enumerate(path, 1):
        if part == _CHILD[0]:
            key = (*path[:number], _CHILD[1])
            begin = _begin_of(file, path[:number], offset)
            named = [
                each
                for each in file.references
                if each.key == key and begin <= each.range.start < offset
            ]
            if not named:
                return None
            names.append(max(named, key=lambda each: each.range.start).name)
    return last_caller(snapshot, file, names)


def _begin_of(file: AgentFile, path: KeyPath, offset: int) -> int:
    """Where the last table of a path, or of one above it, begins before an offset: those before it are of another case or child."""
    tables = file.open.parse.document.tables if file.open is not None else ()
    begins = (
        each.range.start
        for each in tables
        if each.path and each.path == path[: len(each.path)] and each.range.start <= offset
    )
    return max(begins, default=0)
