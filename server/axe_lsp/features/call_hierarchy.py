"""The callers of an agent, and the agents that it calls, one level at a time."""

from __future__ import annotations

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.references import named_at
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import Kind, agent_meaning, meaning, mentions
from axe_lsp.workspace.snapshot import Snapshot


class Call(Struct, frozen=True):
    """The agent at the other end, and the names in the caller's file that lead from one to the other."""

    agent: AgentFile
    names: tuple[TextRange, ...]


def hierarchy_of(snapshot: Snapshot, file: AgentFile, offset: int) -> AgentFile | None:
    """Return the agent that is named at `offset` of an open file; elsewhere in it, the agent that it is."""
    named = named_at(snapshot, file, offset)
    if named is None:
        return file
    return snapshot.file(named.meaning.uri) if named.meaning.kind is Kind.AGENT else None


def incoming_calls(snapshot: Snapshot, agent: AgentFile) -> list[Call]:
    """Return the agents that may call this one."""
    callers: dict[str, list[TextRange]] = {}
    files = {}
    for file, reference in mentions(snapshot, agent_meaning(agent)):
        files[file.uri] = file
        callers.setdefault(file.uri, []).append(reference.range)
    return [Call(files[uri], tuple(names)) for uri, names in callers.items()]


def outgoing_calls(snapshot: Snapshot, agent: AgentFile) -> list[Call]:
    """Return the agents that this one may call, in the order in which it names them."""
    called: dict[str, list[TextRange]] = {}
    for reference in agent.references:
        meant = meaning(snapshot, agent, reference)
        if meant.kind is Kind.AGENT:
            called.setdefault(meant.uri, []).append(reference.range)
    files = ((snapshot.file(uri), names) for uri, names in called.items())
    return [Call(file, tuple(names)) for file, names in files if file is not None]
