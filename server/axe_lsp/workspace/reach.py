"""How far down calls go from the roots of a graph, and where they end too early."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from axe_lsp.workspace.strongly_connected import Graph, Step, spread, way_down


class Reach(Struct, frozen=True):
    """What stands below the roots.

    `depths` counts from the nearest root. `too_deep` has a way down to each node that is one step
    out of reach, whatever root one begins at; what is below those only is out of reach as well.
    """

    depths: Mapping[str, int]
    in_reach: frozenset[str]
    too_deep: tuple[tuple[str, ...], ...]


def reach(graph: Graph, limits: Mapping[str, int]) -> Reach:
    """What can be reached from roots, each of which has its limit of steps.

    Roots with the same limit spread as one: there may be thousands, but limits are a handful.
    """
    spreads = {
        limit: spread(graph, [root for root, its in limits.items() if its == limit])
        for limit in sorted(set(limits.values()))
    }
    in_reach = frozenset(
        node
        for limit, steps in spreads.items()
        for node, step in steps.items()
        if step.depth <= limit
    )
    depths = {node: step.depth for node, step in spread(graph, limits).items()}
    return Reach(depths, in_reach, tuple(_too_deep(spreads, in_reach).values()))


def _too_deep(
    spreads: Mapping[int, Mapping[str, Step]], in_reach: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """A shortest way to each node that is one step out of reach."""
    found: dict[str, tuple[str, ...]] = {}
    for limit, steps in spreads.items():
        for node, step in steps.items():
            if step.depth == limit + 1 and node not in in_reach and node not in found:
                found[node] = way_down(steps, node)
    return found
