"""Keys of `args` in files of tests: the arguments of the expected call, and the words that check one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from axe_lsp.agentfile.schema.agent_keys import TOOL_ALIASES, TOOL_ARGUMENTS
from axe_lsp.agentfile.schema.key_spec import EXTENSION, KeySpec, KeyType
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.test_keys import ARGUMENT_WORDS, TESTS
from axe_lsp.agentfile.text.tree import Entry, Table, Value
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.completion.cursor import Cursor
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_ARGS = "args"


def argument_keys(
    snapshot: Snapshot, file: AgentFile, lookup: Lookup, cursor: Cursor
) -> Sequence[KeySpec]:
    """The keys that may be written at the cursor, if it is in the arguments of a call."""
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
    """The arguments of a tool, or the input of an agent that is called as one, each with its meaning."""
    tool = TOOL_ALIASES.get(called, called)
    if tool in TOOL_ARGUMENTS:
        yield from ((name, f"An argument of `{tool}`.") for name in TOOL_ARGUMENTS[tool])
        return
    agent = snapshot.agent(called, file)
    for member in agent.input if agent is not None else ():
        yield member.name, member.description or f"A part of the input of agent `{called}`."


def _called(lookup: Lookup, offset: int) -> str:
    """The name of the call whose arguments are at an offset, "" if it has none."""
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
    """Where the arguments of each call begin, and the keys of the call."""
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
