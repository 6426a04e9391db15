"""The delegation graph: which agent calls which others, and its updates after changes of files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from axe_lsp.workspace.agent_file import MAX_MAX_DEPTH, SUB_AGENTS, AgentFile
from axe_lsp.workspace.calls import Calls, Edges, Levels, levels
from axe_lsp.workspace.snapshot import Snapshot

LONGEST = 50
"""Agents on a way that anybody reads."""

MOST_CALLS = 5_000
"""Calls above one file, beyond which nobody learns anything from a way down to it."""


def calling(snapshot: Snapshot, file: AgentFile) -> Iterator[AgentFile]:
    """Yield the files that may call `file`."""
    name = file.place.stem
    for uri in snapshot.callers(name):
        caller = snapshot.file(uri)
        if caller is not None and name in caller.sub_agents:
            target = snapshot.agent(name, caller)
            if target is not None and target.uri == file.uri:
                yield caller


def cycle_through(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """Return a shortest way from `file` back to itself, both ends included; empty if there is none.

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
    """Yield the agents of a cycle: from an agent to its first callee that is `steps` above it, and back down to it."""
    yield uri
    for left in range(steps, -1, -1):
        level = above.at(left)
        uri = next(each for each in calls.below.of(uri) if each in level)
        yield uri


def too_deep(snapshot: Snapshot, file: AgentFile) -> tuple[AgentFile, ...]:
    """Return a shortest way from a root down to `file`, if `file` is too deep below every root to call.

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
    """Return whether one of these roots lets calls go deeper than so many steps."""
    return any(each.depth_limit > steps for each in _files(snapshot, roots))


def _way_up(
    calls: Calls, uri: str, above: Levels, roots: frozenset[str], distance: int
) -> Iterator[str]:
    """Yield the agents from `uri` up to one of the `roots` at this distance, by the first caller on each level."""
    leading = [roots] if distance else []  # The roots are known already.
    for steps in range(distance - 1, 0, -1):
        leading.append(above.at(steps) & calls.below.of_all(leading[-1]))
    yield uri
    for level in reversed(leading):
        uri = min(each for each in calls.above.of(uri) if each in level)
        yield uri


def _levels_above(snapshot: Snapshot, file: AgentFile) -> Levels:
    return snapshot.calls.levels_above(file.uri, is_open=file.open is not None)


def _files(snapshot: Snapshot, uris: Iterable[str]) -> Iterator[AgentFile]:
    return (file for uri in uris if (file := snapshot.file(uri)) is not None)


class Indirect(Struct, frozen=True):
    """Files that an update concerns because of who calls whom. What several updates concern is joined by `|`.

    How deep an agent is called may have changed for all that those in `deeper` may call. Cycles may
    have appeared or gone where the calls of `callers` are others: `called` are whom they call now, or did before.
    """

    deeper: frozenset[str] = frozenset()
    callers: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()

    def __or__(self, other: Indirect) -> Indirect:
        return Indirect(
            self.deeper | other.deeper, self.callers | other.callers, self.called | other.called
        )

    def __bool__(self) -> bool:
        return bool(self.deeper or self.callers or self.called)

    def uris(self, snapshot: Snapshot) -> Iterator[str]:
        """Yield the files in `snapshot`, near ones first, found as they are asked for; a file may come twice."""
        for level in levels(snapshot.calls.below, self.deeper):
            yield from (file.uri for file in _files(snapshot, level))
        yield from (file.uri for file in self.entangled(snapshot))

    def entangled(self, snapshot: Snapshot) -> Iterator[AgentFile]:
        """Yield the files on cycles that lead through calls that are others than before, or did before."""
        above = set[str]().union(*levels(snapshot.calls.above, self.callers))
        for level in levels(snapshot.calls.below, above & self.called):
            yield from _files(snapshot, level & above)


NOTHING_FURTHER = Indirect()


def all_calls(snapshot: Snapshot) -> Calls:
    """Return the calls of all agents, computed from the beginning."""
    calling = (file for file in snapshot.files() if file.references)
    below = Edges({file.uri: _called(snapshot, file) for file in calling})
    calls = Calls(below, below.reversed())
    return calls.with_started(_started(snapshot, calls, _ambiguous(snapshot)))


def calls_after(
    before: Calls, snapshot: Snapshot, uris: Collection[str], names: Collection[str]
) -> Calls:
    """Return the calls of all agents in `snapshot`, where only the lists of the files at `uris` mean other agents than before.

    `names` are those that other lists have than before, and those that other files define.
    """
    files = {uri: snapshot.file(uri) for uri in uris}
    calls = before.with_lists(
        {uri: _called(snapshot, file) if file is not None else () for uri, file in files.items()}
    )
    return calls.with_started(_started(snapshot, calls, names))


def rewired(before: Calls, after: Calls, uris: Collection[str]) -> Indirect:
    """Return the paths that have changed, if only calls of the files at `uris` could change."""
    callers = {uri for uri in uris if before.below.of(uri) != after.below.of(uri)}
    called = (each.below.of(uri) for each in (before, after) for uri in callers)
    return Indirect(callers=frozenset(callers), called=frozenset[str]().union(*called))


def _called(snapshot: Snapshot, file: AgentFile) -> tuple[str, ...]:
    found = (snapshot.agent(name, file) for name in file.sub_agents)
    return tuple(dict.fromkeys(target.uri for target in found if target is not None))


def _ambiguous(snapshot: Snapshot) -> set[str]:
    """Return the names that need not mean an agent, or the same one, wherever they are listed."""
    lists = (file.references for file in snapshot.files())
    elsewhere = {each.name for names in lists for each in names if each.key != SUB_AGENTS}
    if snapshot.repositories:
        return elsewhere | {*snapshot.names}
    return elsewhere | {name for name, uris in snapshot.names.items() if len(uris) > 1}


def _started(snapshot: Snapshot, calls: Calls, names: Iterable[str]) -> dict[str, bool]:
    """Return whether the agents with these names are called by some, and named by others."""
    return {
        uri: 0 < len(calls.above.of(uri)) < len({*snapshot.callers(name)} - {uri})
        for name in names
        for uri in snapshot.names.get(name, ())
    }
