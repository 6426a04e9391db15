"""Who delegates to whom."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from axe_lsp.workspace.agent_file import MAX_MAX_DEPTH, AgentFile
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


def too_deep(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """A shortest way from a root down to `file`, if `file` is too deep below every root to call.

    A root is an agent that no other one calls, or that `Task` may start. Empty if some root is near
    enough, or if there is none above because the ways up go round in circles.
    """
    came_from: dict[str, AgentFile | None] = {file.uri: None}
    level, depth = [file], 0
    found: tuple[AgentFile, ...] = ()
    while level and not (found and depth >= MAX_MAX_DEPTH):
        above: list[AgentFile] = []
        for current in level:
            others = (each for each in calling(snapshot, current) if each.uri != current.uri)
            callers = sorted(others, key=lambda each: each.uri)
            if _is_root(snapshot, current, callers):
                if depth < current.depth_limit:
                    return ()
                found = found or _way_down(came_from, current)
            for caller in callers:
                if caller.uri not in came_from:
                    came_from[caller.uri] = current
                    above.append(caller)
        level, depth = above, depth + 1
    return found


def _is_root(snapshot: Snapshot, file: AgentFile, callers: Sequence[AgentFile]) -> bool:
    if not callers:
        return True
    naming = set(snapshot.callers(file.place.stem)) - {file.uri}
    return len(naming) > len(callers)  # Some name it elsewhere than in `sub_agents`.


def _way_down(came_from: dict[str, AgentFile | None], root: AgentFile) -> tuple[AgentFile, ...]:
    way = [root]
    while (below := came_from[way[-1].uri]) is not None:
        way.append(below)
    return tuple(way)


def reachable(snapshot: Snapshot, uris: Iterable[str]) -> Iterator[AgentFile]:
    """These files and all that they may call, directly or through others."""
    seen: set[str] = set()
    for uri in uris:
        start = snapshot.file(uri)
        if start is None or uri in seen:
            continue
        seen.add(uri)
        yield start
        yield from _reach(start, lambda each: called(snapshot, each), seen)


def _below(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    return _reach(file, lambda each: called(snapshot, each))


def _above(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    return _reach(file, lambda each: calling(snapshot, each))


def _reach(
    start: AgentFile,
    step: Callable[[AgentFile], Iterable[AgentFile]],
    seen: set[str] | None = None,
) -> Iterator[AgentFile]:
    """What `step` leads to from `start`, near ones first; `start` itself if it leads back.

    What is in `seen` is left out, and what is found added to it.
    """
    seen = set() if seen is None else seen
    queue = deque([start])
    while queue:
        for target in step(queue.popleft()):
            if target.uri not in seen:
                seen.add(target.uri)
                queue.append(target)
                yield target
