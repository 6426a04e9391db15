"""Ways round and ways down in the graph of delegation, against what walking every way says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from axe_lsp.workspace.graph import LONGEST, cycle_through, entangled, too_deep
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from support.fixture import FOLDER, PLACES

NAMES = "abcdefgh"
GRAPHS = st.fixed_dictionaries(
    {name: st.lists(st.sampled_from(NAMES), max_size=2) for name in NAMES}
)


def snapshot_of(graph: Mapping[str, Sequence[str]]) -> Snapshot:
    changes = [
        Change(f"{FOLDER}/{name}.toml", f"sub_agents = {list(called)}\n")
        for name, called in graph.items()
    ]
    return Workspace(PLACES).apply(changes, complete=True).snapshot


def way_round(snapshot: Snapshot, name: str) -> list[str]:
    file = snapshot.file(f"{FOLDER}/{name}.toml")
    assert file is not None
    return [each.place.stem for each in cycle_through(snapshot, file)]


def steps_round(graph: Mapping[str, Sequence[str]], start: str) -> int | None:
    """How many steps it takes to come back, found by walking one step after the other."""
    level = set(graph[start])
    for steps in range(1, len(graph) + 1):
        if start in level:
            return steps
        level = {target for name in level for target in graph[name]}
    return None


@given(GRAPHS)
def test_the_way_round_is_a_shortest_one(graph: dict[str, list[str]]) -> None:
    snapshot = snapshot_of(graph)
    for name in NAMES:
        way, steps = way_round(snapshot, name), steps_round(graph, name)
        assert len(way) == (steps + 1 if steps is not None else 0)
        assert way[:1] == way[-1:] == ([name] if way else [])
        assert all(after in graph[before] for before, after in pairwise(way))


@given(GRAPHS)
def test_what_is_entangled_shares_a_way_round(graph: dict[str, list[str]]) -> None:
    snapshot = snapshot_of(graph)
    for file in snapshot.files():
        for uri in entangled(snapshot, file):
            assert steps_round(graph, uri.removeprefix(f"{FOLDER}/").removesuffix(".toml"))


def ring(count: int) -> dict[str, list[str]]:
    return {f"n{number}": [f"n{(number + 1) % count}"] for number in range(count)}


def test_a_way_that_nobody_would_read_is_not_looked_for() -> None:
    assert len(way_round(snapshot_of(ring(LONGEST)), "n0")) == LONGEST + 1
    assert way_round(snapshot_of(ring(LONGEST + 1)), "n0") == []


class Counted(dict[str, tuple[str, ...]]):
    """The names of a snapshot, with the number of times that one was looked up."""

    count = 0

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override] # for counting
        self.count += 1
        return super().get(key, default)


def test_thousands_of_agents_in_circles_cost_each_other_little() -> None:
    count = 2_000
    # Each calls two others, so that all are a few steps from each other.
    graph = {f"n{i}": [f"n{(2 * i + 1) % count}", f"n{(2 * i + 2) % count}"] for i in range(count)}
    for each in (graph, ring(count)):
        snapshot = snapshot_of(each)
        names = Counted(snapshot.names)
        counted = replace(snapshot, names=names)
        files = list(counted.files())[::100]
        for file in files:
            cycle_through(counted, file)
        assert names.count < 500 * len(files)
        for file in files:
            too_deep(counted, file)
        assert names.count < 6_000 * len(files)
