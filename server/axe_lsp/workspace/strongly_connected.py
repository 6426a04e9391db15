"""The knots in a graph: what can be reached from each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

Graph = Mapping[str, Sequence[str]]
"""Nodes to those that they lead to. Every node is a key."""


def knots(graph: Graph) -> Iterator[frozenset[str]]:
    """The largest sets of nodes of which each leads to each, and to itself."""
    for component in _components(graph):
        if len(component) > 1 or component[0] in graph[component[0]]:
            yield frozenset(component)


def way_round(graph: Graph, start: str) -> tuple[str, ...]:
    """A shortest way from a node back to itself, both ends included; empty if there is none."""
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


def spread(graph: Graph, starts: Iterable[str]) -> dict[str, Step]:
    """What can be reached from some nodes, themselves included, each on a shortest way."""
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


def way_down(steps: Mapping[str, Step], end: str) -> tuple[str, ...]:
    """The way to a node that `spread` has found, from where it began."""
    way = [end]
    while (above := steps[way[-1]].above) is not None:
        way.append(above)
    return tuple(reversed(way))


def _components(graph: Graph) -> Iterator[list[str]]:
    """All strongly connected components (Tarjan), without recursion: chains may be long."""
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
