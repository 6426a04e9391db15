"""The delegation graph: which agent calls which others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from axe_lsp.workspace.agent_file import MAX_MAX_DEPTH, AgentFile
from axe_lsp.workspace.calls import Calls, Levels, levels
from axe_lsp.workspace.graph_update import Rewired
from axe_lsp.workspace.snapshot import Snapshot

LONGEST = 50
"""Agents on a way that anybody reads."""

MOST_CALLS = 5_000
"""Calls above one file, beyond which nobody learns anything from a way down to it."""


def calling(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    """The files that may call `file`."""
    name = file.place.stem
    for uri in snapshot.callers(name):
        caller = snapshot.file(uri)
        if caller is not None and name in caller.sub_agents:
            target = snapshot.agent(name, caller)
            if target is not None and target.uri == file.uri:
                yield caller


def cycle_through(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """A shortest way from `file` back to itself, both ends included; empty if there is none.

    Of several it is the one that comes first in the lists. Calls nest at most `MAX_MAX_DEPTH` deep, so a way
    through more than `LONGEST` agents is not looked for.
    """
    calls = snapshot.calls
    first = calls.below.of(file.uri)
    above = _levels_above(snapshot, file)
    for steps in range(LONGEST if first else 0):
        level = above.at(steps)
        if not level:
            return ()
        if not level.isdisjoint(first):
            return tuple(_files(snapshot, _way_back(calls, file.uri, above, steps)))
    return ()


def _way_back(calls: Calls, uri: str, above: Levels, steps: int) -> Iterator[str]:
    """From an agent to the first below it that is so many steps above it, and on down to it."""
    yield uri
    for left in range(steps, -1, -1):
        level = above.at(left)
        uri = next(each for each in calls.below.of(uri) if each in level)
        yield uri


def too_deep(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """A shortest way from a root down to `file`, if `file` is too deep below every root to call.

    A root is an agent that no other one calls, or that `Task` may start. Empty if some root is near
    enough, or if there is none above because the ways up go round in circles. Nor is one looked for
    further than `LONGEST` steps up, or behind more than `MOST_CALLS`.
    """
    calls, above = snapshot.calls, _levels_above(snapshot, file)
    nearest = frozenset[str]()
    distance = looked_at = 0
    for steps in range(LONGEST):
        level = above.at(steps)
        if not level or (nearest and steps >= MAX_MAX_DEPTH):
            break
        roots = calls.roots_in(level)
        if _is_near(snapshot, roots, steps):
            return ()
        looked_at += sum(len(calls.above.of(each)) for each in level)
        if looked_at > MOST_CALLS:
            return ()
        if not nearest:
            nearest, distance = roots, steps
    way = _way_up(calls, file.uri, above, nearest, distance) if nearest else ()
    return tuple(_files(snapshot, reversed(tuple(way))))


def _is_near(snapshot: Snapshot, roots: frozenset[str], steps: int) -> bool:
    """Whether one of these roots lets calls go deeper than so many steps."""
    return any(each.depth_limit > steps for each in _files(snapshot, roots))


def _way_up(
    calls: Calls, uri: str, above: Levels, roots: frozenset[str], distance: int
) -> Iterator[str]:
    """From an agent up to one of the `roots` at this distance: the first way, if callers are sorted."""
    leading = [roots] if distance else []  # The roots are known already.
    for steps in range(distance - 1, 0, -1):
        leading.append(above.at(steps) & calls.below.of_all(leading[-1]))
    yield uri
    for level in reversed(leading):
        uri = min(each for each in calls.above.of(uri) if each in level)
        yield uri


def _levels_above(snapshot: Snapshot, file: AgentFile) -> Levels:
    return snapshot.calls.levels_above(file.uri, is_open=file.open is not None)


def reachable(snapshot: Snapshot, uris: Iterable[str]) -> Iterator[AgentFile]:
    """These files and all that they may call, directly or through others; near ones first."""
    for level in levels(snapshot.calls.below, uris):
        yield from _files(snapshot, level)


def entangled(snapshot: Snapshot, ways: Rewired) -> Iterator[AgentFile]:
    """The files on cycles that lead through what is rewired, or did before."""
    above = set[str]().union(*levels(snapshot.calls.above, ways.callers))
    for level in levels(snapshot.calls.below, above & ways.called):
        yield from _files(snapshot, level & above)


def _files(snapshot: Snapshot, uris: Iterable[str]) -> Iterator[AgentFile]:
    return (file for uri in uris if (file := snapshot.file(uri)) is not None)
