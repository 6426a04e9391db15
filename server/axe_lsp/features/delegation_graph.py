"""All agents, who calls whom, how deep, and where calls go round in circles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from axe_lsp.workspace.agent_file import SUB_AGENTS, TASK_TYPES, AgentFile
from axe_lsp.workspace.components import distances, knots, way_round
from axe_lsp.workspace.meaning import Kind, meaning
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


class Via(Enum):
    """The list that an edge comes from. The value is its key."""

    SUB_AGENTS = ".".join(SUB_AGENTS)
    TASK_TYPES = ".".join(TASK_TYPES)


@dataclass(frozen=True, slots=True)
class Depth:
    """How deep an agent is below a root, and whether that root's limit lets it be called."""

    root: str
    depth: int
    is_callable: bool


@dataclass(frozen=True, slots=True)
class Node:
    """An agent; without a file, one that is missed. Ids are URIs, of a missing agent its name.

    A root is an agent that no other one lists in `sub_agents`, or that `Task` may start.
    """

    id: str
    name: str
    file: AgentFile | None
    is_root: bool = False
    is_reachable: bool = False
    depths: tuple[Depth, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """One agent may call another one."""

    source: str
    target: str
    via: Via


@dataclass(frozen=True, slots=True)
class Cycle:
    """Agents of which each can come to call each, and a shortest way round through the first."""

    agents: tuple[str, ...]
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DelegationGraph:
    """Nodes are in the order of their names."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    cycles: tuple[Cycle, ...]


def delegation_graph(snapshot: Snapshot) -> DelegationGraph:
    """The graph of all agents that can be found by name."""
    files = [file for file in snapshot.files() if file.place.scope is not Scope.LOOSE]
    files.sort(key=lambda file: (file.place.stem, file.place.scope, file.uri))
    nodes = {file.uri: Node(file.uri, file.place.stem, file) for file in files}
    edges = tuple(dict.fromkeys(edge for file in files for edge in _edges(snapshot, file)))
    missing = sorted({edge.target for edge in edges} - nodes.keys())
    calls: dict[str, list[str]] = {uri: [] for uri in nodes}
    for edge in edges:
        if edge.via is Via.SUB_AGENTS and edge.target in nodes:
            calls[edge.source].append(edge.target)
    return DelegationGraph(
        nodes=(*_with_depths(nodes, edges, calls), *(Node(name, name, None) for name in missing)),
        edges=edges,
        cycles=tuple(_cycles(calls)),
    )


def around(graph: DelegationGraph, agent: str) -> DelegationGraph:
    """The part of a graph that an agent calls, directly or through others, or is called by."""
    down: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    up: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        down[edge.source].append(edge.target)
        up[edge.target].append(edge.source)
    kept = distances(down, agent).keys() | distances(up, agent).keys()
    nodes = (
        replace(node, depths=tuple(depth for depth in node.depths if depth.root in kept))
        for node in graph.nodes
        if node.id in kept
    )
    return DelegationGraph(
        nodes=tuple(nodes),
        edges=tuple(edge for edge in graph.edges if {edge.source, edge.target} <= kept),
        cycles=tuple(cycle for cycle in graph.cycles if kept.issuperset(cycle.agents)),
    )


def _edges(snapshot: Snapshot, file: AgentFile) -> Iterator[Edge]:
    for reference in file.references:
        meant = meaning(snapshot, file, reference)
        via = Via.SUB_AGENTS if reference.key == SUB_AGENTS else Via.TASK_TYPES
        if meant.kind is Kind.AGENT:
            yield Edge(file.uri, meant.uri, via)
        elif meant.kind is Kind.MISSING:
            yield Edge(file.uri, meant.name, via)


def _with_depths(
    nodes: Mapping[str, Node], edges: Iterable[Edge], calls: Mapping[str, Sequence[str]]
) -> Iterator[Node]:
    called = {
        edge.target for edge in edges if edge.via is Via.SUB_AGENTS and edge.source != edge.target
    }
    started = {edge.target for edge in edges if edge.via is Via.TASK_TYPES}
    depths: dict[str, list[Depth]] = {uri: [] for uri in nodes}
    for root, node in nodes.items():
        if (root in called and root not in started) or node.file is None:
            continue
        for uri, depth in distances(calls, root).items():
            depths[uri].append(Depth(root, depth, depth <= node.file.depth_limit))
    for uri, node in nodes.items():
        found = tuple(depths[uri])
        yield replace(
            node,
            is_root=any(each.root == uri for each in found),
            # Where all ways up go round in circles, somebody has to begin somewhere in them.
            is_reachable=not found or any(each.is_callable for each in found),
            depths=found,
        )


def _cycles(calls: Mapping[str, Sequence[str]]) -> list[Cycle]:
    rank = {uri: number for number, uri in enumerate(calls)}
    found = []
    for knot in knots(calls):
        agents = tuple(sorted(knot, key=rank.__getitem__))
        inside = {uri: [each for each in calls[uri] if each in knot] for uri in agents}
        found.append(Cycle(agents, way_round(inside, agents[0])))
    return sorted(found, key=lambda cycle: rank[cycle.agents[0]])
