"""What is in reach of roots and what is too deep, against what walking every way says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.workspace.graph_algorithms import depths_below

NODES = "abcdefg"
GRAPHS = st.fixed_dictionaries(
    {node: st.lists(st.sampled_from(NODES), max_size=2) for node in NODES}
)
LIMITS = st.dictionaries(st.sampled_from(NODES), st.integers(1, 4))


def distance(graph: dict[str, list[str]], start: str, end: str) -> int | None:
    """Return how many steps it takes, found by walking one step after the other."""
    level = {start}
    for steps in range(len(graph) + 1):
        if end in level:
            return steps
        level = {target for node in level for target in graph[node]}
    return None


@given(GRAPHS, LIMITS)
def test_depth_is_that_below_the_nearest_root(
    graph: dict[str, list[str]], limits: dict[str, int]
) -> None:
    found = depths_below(graph, limits)
    for node in NODES:
        known = [steps for root in limits if (steps := distance(graph, root, node)) is not None]
        assert found.depths.get(node) == min(known, default=None)


@given(GRAPHS, LIMITS)
def test_what_some_root_lets_calls_get_to_is_in_reach(
    graph: dict[str, list[str]], limits: dict[str, int]
) -> None:
    found = depths_below(graph, limits)
    for node in NODES:
        ways = {root: distance(graph, root, node) for root in limits}
        expected = any(way is not None and way <= limits[root] for root, way in ways.items())
        assert (node in found.in_reach) == expected


@given(GRAPHS, LIMITS)
def test_what_is_called_from_within_reach_and_is_out_of_it_has_a_way_down(
    graph: dict[str, list[str]], limits: dict[str, int]
) -> None:
    found = depths_below(graph, limits)
    called = {target for node in found.in_reach for target in graph[node]}
    assert {way[-1] for way in found.too_deep} == called - found.in_reach
    assert len(found.too_deep) == len(called - found.in_reach)
    for way in found.too_deep:
        assert len(way) - 2 == limits[way[0]]
        assert set(way[:-1]) <= found.in_reach
        assert all(after in graph[before] for before, after in pairwise(way))
