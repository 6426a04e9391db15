"""Algorithms on directed graphs: strongly connected parts, shortest ways, depths below roots."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

Graph = Mapping[str, Sequence[str]]
"""Nodes to those that they lead to. Every node is a key."""


def strongly_connected(graph: Graph) -> Iterator[frozenset[str]]:
    """Yield the largest sets of nodes of which each leads to each, and to itself."""
    for component in _components(graph):
        if len(component) > 1 or component[0] in graph[component[0]]:
            yield frozenset(component)


def shortest_cycle(graph: Graph, start: str) -> tuple[str, ...]:
    """Return a shortest way from a node back to itself, both ends included; empty if there is none."""
    came_from: dict[str, str] = {}
    queue = deque([start])
    while queue:
        current = queue.popleft()
        for target in graph[current]:
            if target == start:
                way = [start, current]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return tuple(reversed(way))
            if target not in came_from:
                came_from[target] = current
                queue.append(target)
    return ()


class Step(NamedTuple):
    """How a node is reached: in how many steps, and from which node."""

    depth: int
    above: str | None


def steps_from(graph: Graph, starts: Iterable[str]) -> dict[str, Step]:
    """Return the nodes that can be reached from some nodes, these included, each by a shortest path."""
    found = {start: Step(0, None) for start in starts}
    queue = deque(found)
    while queue:
        current = queue.popleft()
        depth = found[current].depth + 1
        for target in graph[current]:
            if target not in found:
                found[target] = Step(depth, current)
                queue.append(target)
    return found


def way_to(steps: Mapping[str, Step], end: str) -> tuple[str, ...]:
    """Return a shortest way to a node that `steps_from` has found, from where it began."""
    way = [end]
    while (above := steps[way[-1]].above) is not None:
        way.append(above)
    return tuple(reversed(way))


class Depths(Struct, frozen=True):
    """How deep agents are called from the roots.

    `depths` counts from the nearest root. `too_deep` has a way down to each node that is one step
    out of reach, whatever root one begins at; what is below those only is out of reach as well.
    """

    depths: Mapping[str, int]
    in_reach: frozenset[str]
    too_deep: tuple[tuple[str, ...], ...]


def depths_below(graph: Graph, limits: Mapping[str, int]) -> Depths:
    """Return the nodes that can be reached from roots, each of which has its limit of steps.

    Roots with the same limit are looked from at once: there may be thousands, but limits are a handful.
    """
    steps_by_limit = {
        limit: steps_from(graph, [root for root, its in limits.items() if its == limit])
        for limit in sorted(set(limits.values()))
    }
    in_reach = frozenset(
        node
        for limit, steps in steps_by_limit.items()
        for node, step in steps.items()
        if step.depth <= limit
    )
    depths = {node: step.depth for node, step in steps_from(graph, limits).items()}
    return Depths(depths, in_reach, tuple(_too_deep(steps_by_limit, in_reach).values()))


def _too_deep(
    steps_by_limit: Mapping[int, Mapping[str, Step]], in_reach: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Return a shortest way to each node that is one step out of reach."""
    found: dict[str, tuple[str, ...]] = {}
    for limit, steps in steps_by_limit.items():
        for node, step in steps.items():
            if step.depth == limit + 1 and node not in in_reach and node not in found:
                found[node] = way_to(steps, node)
    return found


def _components(graph: Graph) -> Iterator[list[str]]:
    """Yield all strongly connected components (Tarjan), without recursion: chains may be long."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    pending: list[str] = []
    is_pending: set[str] = set()
    for root in graph:
        visits = [] if root in order else [(root, iter(graph[root]))]
        while visits:
            node, targets = visits[-1]
            if node not in order:
                order[node] = lowest[node] = len(order)
                pending.append(node)
                is_pending.add(node)
            for target in targets:
                if target not in order:
                    visits.append((target, iter(graph[target])))
                    break
                if target in is_pending:
                    lowest[node] = min(lowest[node], order[target])
            else:
                visits.pop()
                if visits:
                    above = visits[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == order[node]:
                    component = list(_popped(pending, node))
                    is_pending.difference_update(component)
                    yield component


def _popped(pending: list[str], last: str) -> Iterator[str]:
    while True:
        node = pending.pop()
        yield node
        if node == last:
            return
