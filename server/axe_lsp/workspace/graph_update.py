"""Updates of the delegation graph after changes of files."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from axe_lsp.workspace.agent_file import SUB_AGENTS, AgentFile
from axe_lsp.workspace.calls import Calls, Edges
from axe_lsp.workspace.snapshot import Snapshot


class Rewired(Struct, frozen=True):
    """The agents whose calls are others than before, and whom they call now or did before."""

    callers: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()

    def __or__(self, other: Rewired) -> Rewired:
        return Rewired(self.callers | other.callers, self.called | other.called)


UNCHANGED = Rewired()


def all_calls(snapshot: Snapshot) -> Calls:
    """The calls of all agents, computed from the beginning."""
    calling = (file for file in snapshot.files() if file.references)
    below = Edges({file.uri: _called(snapshot, file) for file in calling})
    calls = Calls(below, below.reversed())
    return calls.with_started(_started(snapshot, calls, _ambiguous(snapshot)))


def calls_after(
    before: Calls, snapshot: Snapshot, uris: Collection[str], names: Collection[str]
) -> Calls:
    """The calls of all agents in `snapshot`, where only the lists of the files at `uris` mean other agents than before.

    `names` are those that other lists have than before, and those that other files define.
    """
    files = {uri: snapshot.file(uri) for uri in uris}
    calls = before.with_lists(
        {uri: _called(snapshot, file) if file is not None else () for uri, file in files.items()}
    )
    return calls.with_started(_started(snapshot, calls, names))


def rewired(before: Calls, after: Calls, uris: Collection[str]) -> Rewired:
    """The paths that have changed, if only calls of the files at `uris` could change."""
    callers = {uri for uri in uris if before.below.of(uri) != after.below.of(uri)}
    called = (each.below.of(uri) for each in (before, after) for uri in callers)
    return Rewired(frozenset(callers), frozenset[str]().union(*called))


def _called(snapshot: Snapshot, file: AgentFile) -> tuple[str, ...]:
    found = (snapshot.agent(name, file) for name in file.sub_agents)
    return tuple(dict.fromkeys(target.uri for target in found if target is not None))


def _ambiguous(snapshot: Snapshot) -> set[str]:
    """The names that need not mean an agent, or the same one, wherever they are listed."""
    lists = (file.references for file in snapshot.files())
    elsewhere = {each.name for names in lists for each in names if each.key != SUB_AGENTS}
    return elsewhere | {name for name, uris in snapshot.names.items() if len(uris) > 1}


def _started(snapshot: Snapshot, calls: Calls, names: Iterable[str]) -> dict[str, bool]:
    """Whether the agents with these names are called by some, and named by others."""
    return {
        uri: 0 < len(calls.above.of(uri)) < len({*snapshot.callers(name)} - {uri})
        for name in names
        for uri in snapshot.names.get(name, ())
    }
