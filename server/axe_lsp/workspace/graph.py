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
    name = file.place.stem
    for uri in snapshot.callers(name):
        caller = snapshot.file(uri)
        if caller is not None and name in caller.sub_agents:
            target = snapshot.agent(name, caller.place)
            if target is not None and target.uri == file.uri:
                yield caller


def is_on_cycle(snapshot: Snapshot, file: AgentFile) -> bool:
    """Whether `file` can call itself, directly or through others.

    Looks down and up by turns, and is done where the shorter way ends: most agents call few others,
    or are called by few, even if there are thousands on their other side.
    """
    below, above = _below(snapshot, file), _above(snapshot, file)
    return any(
        file.uri in (lower.uri, upper.uri) for lower, upper in zip(below, above, strict=False)
    )


def cycle_through(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """A shortest way from `file` back to itself, both ends included; empty if there is none."""
    if not is_on_cycle(snapshot, file):
        return ()
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
    if not is_on_cycle(snapshot, file):
        return set()
    below = {each.uri for each in _below(snapshot, file)}
    return {each.uri for each in _above(snapshot, file) if each.uri in below}


def _below(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    return _reach(file, lambda each: called(snapshot, each))


def _above(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    return _reach(file, lambda each: calling(snapshot, each))


def _reach(
    start: AgentFile, step: Callable[[AgentFile], Iterable[AgentFile]]
) -> Iterator[AgentFile]:
    """What `step` leads to from `start`, near ones first; `start` itself if it leads back."""
    seen: set[str] = set()
    queue = deque([start])
    while queue:
        for target in step(queue.popleft()):
            if target.uri not in seen:
                seen.add(target.uri)
                queue.append(target)
                yield target
