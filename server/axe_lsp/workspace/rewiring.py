"""What changes of files come to in who calls whom."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from axe_lsp.workspace.calls import Calls
from axe_lsp.workspace.snapshot import Snapshot


class Rewired(Struct, frozen=True):
    """The agents whose calls are others than before, and whom they call now or did before."""

    callers: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()

    def __or__(self, other: Rewired) -> Rewired:
        return Rewired(self.callers | other.callers, self.called | other.called)


UNCHANGED = Rewired()


def all_calls(snapshot: Snapshot) -> Calls:
    """Who calls whom, found out from the beginning."""
    return calls_after(Calls(), snapshot, [each.uri for each in snapshot.files()], snapshot.names)


def calls_after(
    before: Calls, snapshot: Snapshot, uris: Collection[str], names: Collection[str]
) -> Calls:
    """Who calls whom in `snapshot`, where only the lists of the files at `uris` mean other agents than before.

    `names` are those that other lists have than before, and those that other files define.
    """
    calls = before.with_lists({uri: _called(snapshot, uri) for uri in uris})
    agents = {uri for name in names for uri in snapshot.names.get(name, ())}
    return calls.with_started({uri: _is_started(snapshot, calls, uri) for uri in agents})


def rewired(before: Calls, after: Calls, uris: Collection[str]) -> Rewired:
    """What is another way than before, where only what the files at `uris` call can be."""
    callers = {uri for uri in uris if before.below.get(uri) != after.below.get(uri)}
    called = (each.below.get(uri, ()) for each in (before, after) for uri in callers)
    return Rewired(frozenset(callers), frozenset[str]().union(*called))


def _called(snapshot: Snapshot, uri: str) -> tuple[str, ...]:
    file = snapshot.file(uri)
    if file is None:
        return ()
    found = (snapshot.agent(name, file.place) for name in file.sub_agents)
    return tuple(dict.fromkeys(target.uri for target in found if target is not None))


def _is_started(snapshot: Snapshot, calls: Calls, uri: str) -> bool:
    callers = calls.above.get(uri, ())
    naming = set(snapshot.callers(snapshot.places.locate(uri).stem)) - {uri}
    return 0 < len(callers) < len(naming)
