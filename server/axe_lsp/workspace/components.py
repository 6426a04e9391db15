"""The knots in a graph: what can be reached from each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

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


def distances(graph: Graph, start: str) -> dict[str, int]:
    """How many steps it takes to what can be reached from a node, itself included."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        current = queue.popleft()
        for target in graph[current]:
            if target not in found:
                found[target] = found[current] + 1
                queue.append(target)
    return found


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
