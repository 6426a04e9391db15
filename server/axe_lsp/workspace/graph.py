"""Who delegates to whom."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def called(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    """The files that `file` may call, in the order of its list."""
    for name in file.sub_agents:
        target = snapshot.agent(name, file.place)
        if target is not None:
            yield target


def calling(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    """The files that may call `file`."""
    for uri in snapshot.callers.get(file.place.stem, ()):
        caller = snapshot.file(uri)
        if caller is not None and any(each.uri == file.uri for each in called(snapshot, caller)):
            yield caller


def cycle_through(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """A shortest way from `file` back to itself, both ends included; empty if there is none."""
    came_from: dict[str, AgentFile] = {}
    queue = deque([file])
    while queue:
        current = queue.popleft()
        for target in called(snapshot, current):
            if target.uri == file.uri:
                return (*_way(came_from, file, current), target)
            if target.uri not in came_from:
                came_from[target.uri] = current
                queue.append(target)
    return ()


def _way(came_from: dict[str, AgentFile], start: AgentFile, end: AgentFile) -> list[AgentFile]:
    way = [end]
    while way[-1].uri != start.uri:
        way.append(came_from[way[-1].uri])
    return way[::-1]


def entangled(snapshot: Snapshot, file: AgentFile) -> set[str]:
    """The URIs of the files that share a cycle with `file`."""
    below = _reach(file, lambda each: called(snapshot, each))
    above = _reach(file, lambda each: calling(snapshot, each))
    return below & above


def _reach(start: AgentFile, step: Callable[[AgentFile], Iterable[AgentFile]]) -> set[str]:
    seen: set[str] = set()
    queue = [start]
    while queue:
        for target in step(queue.pop()):
            if target.uri not in seen:
                seen.add(target.uri)
                queue.append(target)
    return seen
