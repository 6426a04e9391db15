"""Who delegates to whom."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from axe_lsp.workspace.agent_file import MAX_MAX_DEPTH, AgentFile
from axe_lsp.workspace.snapshot import Snapshot

LONGEST = 50
"""Agents on a way that anybody reads."""

MOST_CALLS = 5_000
"""Calls that are looked at for one file: among thousands of agents that all call each other no root is found."""


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


def _callers(snapshot: Snapshot, file: AgentFile) -> list[AgentFile]:
    """Those that may call `file`, in the same order each time."""
    return sorted(calling(snapshot, file), key=lambda each: each.uri)


def cycle_through(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """A shortest way from `file` back to itself, both ends included; empty if there is none.

    Goes down and up, a level at a time, on the side where fewer agents are to be looked at, and is done
    where the sides meet or one of them ends: most agents call few others, or are called by few, even if
    there are thousands on their other side. Calls nest at most `MAX_MAX_DEPTH` deep, so a way through more
    than `LONGEST` agents is not looked for.
    """
    down, up = _Side(file, partial(called, snapshot)), _Side(file, partial(_callers, snapshot))
    for _ in range(LONGEST):
        nearer, other = (down, up) if len(down.level) <= len(up.level) else (up, down)
        nearer.go_on()
        met = [each for each in nearer.level if each.uri in other.depths]
        if met:
            meeting = min(met, key=lambda each: other.depths[each.uri])
            return (*reversed(down.way_to(meeting)), *up.way_to(meeting)[1:])
        if not nearer.level:
            return ()
    return ()


class _Side:
    """What can be reached from an agent on one side, level by level, in the end the agent itself."""

    def __init__(self, file: AgentFile, step: Callable[[AgentFile], Iterable[AgentFile]]) -> None:
        self.level = [file]
        self.depths = {file.uri: 0}
        self._file = file
        self._step = step
        self._came_from: dict[str, AgentFile] = {}

    def go_on(self) -> None:
        """Reach the next level."""
        before, self.level = self.level, []
        for current in before:
            for target in self._step(current):
                if target.uri not in self._came_from:
                    self._came_from[target.uri] = current
                    self.depths.setdefault(target.uri, self.depths[current.uri] + 1)
                    self.level.append(target)

    def way_to(self, end: AgentFile) -> list[AgentFile]:
        """From what has been reached back to where this side began."""
        way = [end]
        while (before := self._came_from.get(way[-1].uri)) is not None:
            way.append(before)
            if before.uri == self._file.uri:
                break
        return way


def entangled(snapshot: Snapshot, file: AgentFile) -> set[str]:
    """The URIs of the files that share a cycle with `file`."""
    if not cycle_through(snapshot, file):
        return set()
    below = {each.uri for each in _below(snapshot, file)}
    return {each.uri for each in _above(snapshot, file) if each.uri in below}


def too_deep(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """A shortest way from a root down to `file`, if `file` is too deep below every root to call.

    A root is an agent that no other one calls, or that `Task` may start. Empty if some root is near
    enough, or if there is none above because the ways up go round in circles. Nor is one looked for
    further than `LONGEST` steps up, or behind more than `MOST_CALLS`.
    """
    came_from: dict[str, AgentFile | None] = {file.uri: None}
    level, depth, looked_at = [file], 0, 0
    found: tuple[AgentFile, ...] = ()
    while level and depth < LONGEST and not (found and depth >= MAX_MAX_DEPTH):
        above: list[AgentFile] = []
        for current in level:
            callers = [each for each in _callers(snapshot, current) if each.uri != current.uri]
            if _is_root(snapshot, current, callers):
                if depth < current.depth_limit:
                    return ()
                found = found or _way_down(came_from, current)
            looked_at += len(callers)
            if looked_at > MOST_CALLS:
                return ()
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
