"""Agent files to which several paths lead, and the one that stands for all of them.

One file is one agent, unless it makes a difference by which path it is found: where a run starts in another folder, or
where names in its lists mean other agents, since those beside a file come first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import meaning
from axe_lsp.workspace.snapshot import Snapshot

LinkedAgents = Mapping[str, str]
"""The URIs of files that are the same agent as another one, each with the URI of that one."""


def linked_agents(snapshot: Snapshot, start_of: Callable[[AgentFile], Hashable]) -> LinkedAgents:
    """Return which files need no mention beside another. Runs of an agent start at `start_of` its file.

    What agents call may be such files in turn, so all are taken for the same that are linked, until they are found to differ.
    """
    groups = list(_split(_linked(snapshot), start_of))
    while True:
        known = {file.uri: group[0].uri for group in groups for file in group}
        found = list(_split(groups, partial(_called, snapshot, known)))
        if len(found) == len(groups):
            return {uri: first for uri, first in known.items() if uri != first}
        groups = found


def _linked(snapshot: Snapshot) -> Iterator[Sequence[AgentFile]]:
    """Yield groups of paths of one name that lead to the same file, an open one or one of the workspace first."""
    found: dict[tuple[str, str], list[AgentFile]] = defaultdict(list)
    for uri, real in snapshot.real_uris.items():
        file = snapshot.file(uri)
        if file is not None:
            found[file.place.stem, real].append(file)
    for files in found.values():
        yield sorted(files, key=lambda each: (each.open is None, each.place.scope, each.uri))


def _split(
    groups: Iterable[Sequence[AgentFile]], trait: Callable[[AgentFile], Hashable]
) -> Iterator[list[AgentFile]]:
    """Yield the groups, taken apart where files differ in a trait."""
    for group in groups:
        parts: dict[Hashable, list[AgentFile]] = defaultdict(list)
        for file in group:
            parts[trait(file)].append(file)
        yield from parts.values()


def _called(snapshot: Snapshot, known: LinkedAgents, file: AgentFile) -> Hashable:
    meant = [(each.key, *meaning(snapshot, file, each)) for each in file.references]
    return tuple((key, kind, name, known.get(uri, uri)) for key, kind, name, uri in meant)
