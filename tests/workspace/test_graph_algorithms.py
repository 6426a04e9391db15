"""Knots, ways round and ways down, against what looking at every way says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.workspace.graph_algorithms import (
    shortest_cycle,
    steps_from,
    strongly_connected,
    way_to,
)

NODES = "abcdef"
GRAPHS = st.fixed_dictionaries(
    {node: st.lists(st.sampled_from(NODES), max_size=3) for node in NODES}
)


def reached(graph: dict[str, list[str]], start: str) -> set[str]:
    """Return what can be reached in one step or more."""
    found: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += graph[node]
    return found


@given(GRAPHS)
def test_a_knot_is_what_leads_to_each_other(graph: dict[str, list[str]]) -> None:
    expected = {
        frozenset(other for other in reached(graph, node) if node in reached(graph, other))
        for node in NODES
        if node in reached(graph, node)
    }
    found = list(strongly_connected(graph))
    assert len(found) == len(set(found))
    assert set(found) == expected


@given(GRAPHS, st.sets(st.sampled_from(NODES)))
def test_what_spreads_reaches_everything_step_by_step(
    graph: dict[str, list[str]], starts: set[str]
) -> None:
    found = steps_from(graph, sorted(starts))
    assert set(found) == starts.union(*(reached(graph, start) for start in starts))
    for node, (depth, _) in found.items():
        steps = [found[before].depth for before in found if node in graph[before]]
        assert depth == (0 if node in starts else min(steps) + 1)


@given(GRAPHS, st.sampled_from(NODES))
def test_ways_down_are_those_that_were_found(graph: dict[str, list[str]], start: str) -> None:
    found = steps_from(graph, [start])
    for node, step in found.items():
        way = way_to(found, node)
        assert (way[0], way[-1], len(way)) == (start, node, step.depth + 1)
        assert all(after in graph[before] for before, after in pairwise(way))


@given(GRAPHS, st.sampled_from(NODES))
def test_a_way_round_is_a_shortest_one(graph: dict[str, list[str]], start: str) -> None:
    way = shortest_cycle(graph, start)
    if not way:
        assert start not in reached(graph, start)
        return
    assert way[0] == way[-1] == start
    assert all(after in graph[before] for before, after in pairwise(way))
    assert len(way) - 2 == steps_from(graph, graph[start])[start].depth


def test_long_chains_and_large_circles_need_no_stack() -> None:
    count = 20_000
    chain = {str(number): [str(number + 1)] for number in range(count)} | {str(count): []}
    assert list(strongly_connected(chain)) == []
    circle = {**chain, str(count): ["0"]}
    (part,) = strongly_connected(circle)
    assert len(part) == count + 1
    assert len(shortest_cycle(circle, "0")) == count + 2
