"""The meaning of names in lists of agents, and the other places with the same meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from axe_lsp.agentfile.dialects import AXE
from axe_lsp.agentfile.other_programs import without_program
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.workspace.agent_file import TASK_TYPES, AgentFile, Reference
from axe_lsp.workspace.layers import file_of
from axe_lsp.workspace.snapshot import Snapshot

DECLARED: KeyPath = ("agents",)
"""The key of names that settings declare."""


class Kind(Enum):
    """The kinds of things that a name can mean."""

    AGENT = auto()
    INLINE_TYPE = auto()
    """A table `[task.type.<name>]` of the file itself."""
    BUILT_IN_TYPE = auto()
    MISSING = auto()


class Meaning(NamedTuple):
    """The meaning of a name. `uri` is that of the defining file, if there is one."""

    kind: Kind
    name: str
    uri: str = ""


class Mention(NamedTuple):
    """A name in a list, and the file that it is in."""

    file: AgentFile
    reference: Reference


def meaning(snapshot: Snapshot, file: AgentFile, reference: Reference) -> Meaning:
    """Return the meaning of a name in `file`. In `task.types`, types take precedence over agents."""
    name = reference.name
    if reference.key == TASK_TYPES and name in file.inline_types:
        return Meaning(Kind.INLINE_TYPE, name, file.uri)
    if reference.key == TASK_TYPES and name in BUILT_IN_TYPES:
        return Meaning(Kind.BUILT_IN_TYPE, name)
    agent = snapshot.agent(name, file)
    return agent_meaning(agent) if agent is not None else Meaning(Kind.MISSING, name)


def agent_meaning(agent: AgentFile) -> Meaning:
    """Return the names that mean this file."""
    return Meaning(Kind.AGENT, agent.called, agent.uri)


def mentions(snapshot: Snapshot, meant: Meaning) -> Iterator[Mention]:
    """Yield the names in lists that have this meaning, file by file in the order of the texts."""
    agent = snapshot.file(meant.uri)
    uris = set[str]()
    for name in _names_of(snapshot, agent, meant):
        listings = agent.listings(name) if agent is not None else (name,)
        uris.update(uri for each in listings for uri in snapshot.callers(each))
    if meant.kind is Kind.INLINE_TYPE:
        uris = {meant.uri}
    declared = snapshot.layers.declared.get(meant.uri, ())
    for uri in sorted({*uris, *(each.settings for each in declared)}):
        file = snapshot.file(uri)
        if file is not None:
            yield from mentions_in(snapshot, file, meant)


def _names_of(snapshot: Snapshot, agent: AgentFile | None, meant: Meaning) -> set[str]:
    """Return the names by which files may mean an agent: Codex knows one by the name in its file."""
    known = snapshot.layers.name_of(agent) if agent is not None else ""
    is_agent = meant.kind is Kind.AGENT and known
    return {meant.name, known} if is_agent else {meant.name}


def last_caller(snapshot: Snapshot, tests: AgentFile, callers: Sequence[str]) -> AgentFile | None:
    """Return the last of some agents that call each other in a test, if axe runs its file. Each is looked up from its caller."""
    here = tests
    for name in callers:
        found = snapshot.agent(name, here)
        if found is None or found.place.kind is not AXE.agent:
            return None
        here = found
    return here if callers else None


def agents_of_tests(snapshot: Snapshot, tests: AgentFile) -> Iterator[str]:
    """Yield the URIs of the agents that a file of tests names, and of all that these may call, each once."""
    seen = {tests.uri}
    waiting = [tests]
    while waiting:
        file = waiting.pop()
        for reference in file.references:
            agent = snapshot.agent(reference.name, file)
            if agent is not None and agent.uri not in seen:
                seen.add(agent.uri)
                waiting.append(agent)
                yield agent.uri


def mentions_in(snapshot: Snapshot, file: AgentFile, meant: Meaning) -> Iterator[Mention]:
    """Yield the names in the lists of one file that have this meaning."""
    names = _names_of(snapshot, snapshot.file(meant.uri), meant)
    named = [each for each in file.references if without_program(each.name) in names]
    if len(named) > 1:  # Places are not looked for where they make no difference.
        named.sort(key=lambda each: each.range)
    for reference in named:
        if meaning(snapshot, file, reference) == meant:
            yield Mention(file, reference)
    for declaration in file.declarations:
        if file_of(file, declaration) == meant.uri:
            for where in declaration.names:
                yield Mention(file, Reference(declaration.name, where, DECLARED))
