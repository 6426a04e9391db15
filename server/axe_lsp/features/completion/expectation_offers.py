"""Completion in files of tests: tools, agents, arguments of calls, members of an answer or an input, words that check one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from axe_lsp.agentfile.schema.key_spec import EXTENSION, KeyPath, KeySpec, KeyType
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.test_keys import ARGUMENT_WORDS, TESTS
from axe_lsp.agentfile.schema.tools import ALL_TOOLS, TOOL_ALIASES
from axe_lsp.agentfile.text.tree import Entry, Table, Value
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.completion.cursor import Cursor
from axe_lsp.features.describe_facts import seen_tools
from axe_lsp.workspace.agent_file import CALLS, AgentFile
from axe_lsp.workspace.meaning import last_caller
from axe_lsp.workspace.snapshot import Snapshot

_ANSWER, _INPUT = ("answer", "equals"), ("case", "input")
_CHILD, _TOOL = ("children", "agent"), CALLS[-3:]


def member_keys(
    snapshot: Snapshot, file: AgentFile, lookup: Lookup, cursor: Cursor
) -> Sequence[KeySpec]:
    """Return the members of the expected answer at the cursor, or of the input of a case."""
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
    """Return the agents that the one can call of which a child is expected at the cursor."""
    if file.schema is not TESTS or cursor.path[-2:] != _CHILD:
        return frozenset()
    caller = _agent_at(snapshot, file, cursor.path[:-2], cursor.range.start)
    return frozenset(each.name for each in caller.references) if caller is not None else frozenset()


def expected_tools(
    snapshot: Snapshot, file: AgentFile, cursor: Cursor
) -> Iterator[tuple[str, str]]:
    """Yield the tools of the agent that is expected to call one at the cursor, with their meaning; all if it is not known."""
    caller = None
    if cursor.path[-3:] == _TOOL:
        caller = _agent_at(snapshot, file, cursor.path[:-3], cursor.range.start)
    if caller is None:
        yield from ((name, tool.documentation) for name, tool in ALL_TOOLS.items())
        return
    for tool in caller.offered:
        yield tool, ALL_TOOLS[tool].documentation if tool in ALL_TOOLS else ""
    for name in dict.fromkeys(each.name for each in caller.references):
        agent = snapshot.agent(name, caller)
        if agent is not None and agent.typed is not None:
            yield name, agent.description or "An agent with an input."
    for name, (seen, server) in seen_tools(snapshot, caller).items():
        yield name, f"{server}: {seen.description}".rstrip(": ")


def _agent_at(snapshot: Snapshot, file: AgentFile, path: KeyPath, offset: int) -> AgentFile | None:
    """Return the agent whose run the expectations of a path are about: that of the case, or the last child that is named before."""
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
    """Return where the last table of a path, or of one above it, begins before an offset: those before it are of another case or child."""
    tables = file.open.parse.document.tables if file.open is not None else ()
    begins = (
        each.range.start
        for each in tables
        if each.path and each.path == path[: len(each.path)] and each.range.start <= offset
    )
    return max(begins, default=0)


_ARGS = "args"


def argument_keys(
    snapshot: Snapshot, file: AgentFile, lookup: Lookup, cursor: Cursor
) -> Sequence[KeySpec]:
    """Return the keys that may be written at the cursor, if it is in the arguments of a call."""
    if lookup.schema is not TESTS or _ARGS not in cursor.parent:
        return ()
    below = cursor.parent[cursor.parent.index(_ARGS) + 1 :]
    if len(below) == 1:
        return [
            KeySpec((*cursor.parent, *each.path), each.type, each.doc) for each in ARGUMENT_WORDS
        ]
    if below:
        return ()
    found = _arguments(snapshot, file, _called(lookup, cursor.range.start))
    return [
        KeySpec((*cursor.parent, name), KeyType.STRING, doc, since=EXTENSION) for name, doc in found
    ]


def _arguments(snapshot: Snapshot, file: AgentFile, called: str) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a tool, or the input of an agent that is called as one, each with its meaning."""
    tool = TOOL_ALIASES.get(called, called)
    if tool in ALL_TOOLS:
        yield from ((name, f"An argument of `{tool}`.") for name in ALL_TOOLS[tool].arguments)
        return
    agent = snapshot.agent(called, file)
    for member in agent.input if agent is not None else ():
        yield member.name, member.description or f"A part of the input of agent `{called}`."


def _called(lookup: Lookup, offset: int) -> str:
    """Return the name of the call whose arguments are at an offset, "" if it has none."""
    found = max(
        (each for each in _calls(lookup) if each[0] <= offset),
        key=lambda each: each[0],
        default=(0, ()),
    )
    for entry in found[1]:
        if entry.key.names == ("name",) and entry.value is not None:
            name = decode(lookup.parse.text, entry.value)
            return name if isinstance(name, str) else ""
    return ""


def _calls(lookup: Lookup) -> Iterator[tuple[int, Sequence[Entry]]]:
    """Yield the offset of each call's arguments with the keys of the call."""
    above: Table | None = None
    for table in lookup.parse.document.tables:
        if table.path[-1:] == (_ARGS,) and above is not None:
            yield table.header_range.start, above.entries
        else:
            above = table
        yield from _calls_among(table.entries)


def _calls_among(entries: Sequence[Entry]) -> Iterator[tuple[int, Sequence[Entry]]]:
    for entry in entries:
        if entry.key.names[:1] == (_ARGS,):
            yield entry.range.start, entries
        elif entry.value is not None:
            yield from _calls_in([entry.value])


def _calls_in(values: Iterable[Value]) -> Iterator[tuple[int, Sequence[Entry]]]:
    for value in values:
        yield from _calls_among(value.entries)
        yield from _calls_in(value.items)
