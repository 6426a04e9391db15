"""All agents, who calls whom, how deep, and where calls go round in circles; for programs that draw: Mermaid and DOT."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from axe_lsp.agentfile.dialects import program_title
from axe_lsp.workspace.agent_file import SUB_AGENTS, TASK_TYPES, AgentFile
from axe_lsp.workspace.graph_algorithms import (
    Depths,
    depths_below,
    shortest_cycle,
    steps_from,
    strongly_connected,
)
from axe_lsp.workspace.linked_agents import LinkedAgents
from axe_lsp.workspace.meaning import Kind, meaning
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


class Via(Enum):
    """The list that an edge comes from. The value is its key."""

    SUB_AGENTS = ".".join(SUB_AGENTS)
    TASK_TYPES = ".".join(TASK_TYPES)


class Node(Struct, frozen=True):
    """An agent; without a file, one that is missed. Ids are URIs, of a missing agent its name.

    A root is an agent that no other one lists in `sub_agents`, or that `Task` may start. `depth` is
    how far below the nearest root an agent stands; None if all ways up go round in circles. `twins` are the agents of
    the same name for other programs.
    """

    id: str
    name: str
    file: AgentFile | None
    is_root: bool = False
    is_reachable: bool = False
    depth: int | None = None
    twins: tuple[AgentFile, ...] = ()


class Edge(Struct, frozen=True):
    """One agent may call another one."""

    source: str
    target: str
    via: Via


class Cycle(Struct, frozen=True):
    """Agents of which each can come to call each, and a shortest way round through the first."""

    agents: tuple[str, ...]
    path: tuple[str, ...]


class Unreachable(Struct, frozen=True):
    """An agent one step deeper than any root lets calls go, and a way down to it from a root.

    What stands below such agents alone can't be reached either, and needs no way of its own.
    """

    agent: str
    path: tuple[str, ...]


class DelegationGraph(Struct, frozen=True):
    """Nodes are in the order of their names."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    cycles: tuple[Cycle, ...]
    unreachable: tuple[Unreachable, ...]


def delegation_graph(snapshot: Snapshot, linked: LinkedAgents | None = None) -> DelegationGraph:
    """Return the graph of all agents that can be found by name. Of those that are `linked` others stand for them."""
    instead = linked or {}
    found = (file for file in snapshot.files() if file.holds_agent and file.uri not in instead)
    files = {
        file.uri: file
        for file in sorted(found, key=lambda each: (each.called, each.place.scope, each.uri))
    }
    edges = tuple(
        dict.fromkeys(edge for file in files.values() for edge in _edges(snapshot, file, instead))
    )
    calls: dict[str, list[str]] = {uri: [] for uri in files}
    for edge in edges:
        if edge.via is Via.SUB_AGENTS and edge.target in files:
            calls[edge.source].append(edge.target)
    limits = {uri: files[uri].depth_limit for uri in _roots(files, edges)}
    below = depths_below(calls, limits)
    missing = sorted({edge.target for edge in edges} - files.keys())
    return DelegationGraph(
        nodes=(
            *(_node(snapshot, file, limits, below) for file in files.values()),
            *(Node(name, name, None) for name in missing),
        ),
        edges=edges,
        cycles=tuple(_cycles(calls)),
        unreachable=tuple(Unreachable(path[-1], path) for path in below.too_deep),
    )


def around(graph: DelegationGraph, agent: str) -> DelegationGraph:
    """Return the part of a graph that an agent calls, directly or through others, or is called by."""
    down: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    up: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        down[edge.source].append(edge.target)
        up[edge.target].append(edge.source)
    kept = steps_from(down, [agent]).keys() | steps_from(up, [agent]).keys()
    return DelegationGraph(
        nodes=tuple(node for node in graph.nodes if node.id in kept),
        edges=tuple(edge for edge in graph.edges if {edge.source, edge.target} <= kept),
        cycles=tuple(cycle for cycle in graph.cycles if kept.issuperset(cycle.agents)),
        unreachable=tuple(each for each in graph.unreachable if kept.issuperset(each.path)),
    )


def _edges(snapshot: Snapshot, file: AgentFile, instead: LinkedAgents) -> Iterator[Edge]:
    for reference in file.references:
        meant = meaning(snapshot, file, reference)
        via = Via.TASK_TYPES if reference.key == TASK_TYPES else Via.SUB_AGENTS
        if meant.kind is Kind.AGENT:
            yield Edge(file.uri, instead.get(meant.uri, meant.uri), via)
        elif meant.kind is Kind.MISSING:
            yield Edge(file.uri, meant.name, via)


def _roots(files: Iterable[str], edges: Iterable[Edge]) -> Iterator[str]:
    calls = (edge for edge in edges if edge.source != edge.target)
    called = {edge.target for edge in calls if edge.via is Via.SUB_AGENTS}
    started = {edge.target for edge in edges if edge.via is Via.TASK_TYPES}
    return (uri for uri in files if uri not in called or uri in started)


def _node(snapshot: Snapshot, file: AgentFile, roots: Container[str], below: Depths) -> Node:
    depth = below.depths.get(file.uri)
    # If all paths upwards are cycles, runs have to start at an agent in them.
    is_reachable = depth is None or file.uri in below.in_reach
    twins = tuple(snapshot.twins(file))
    return Node(file.uri, file.called, file, file.uri in roots, is_reachable, depth, twins)


def _cycles(calls: Mapping[str, Sequence[str]]) -> list[Cycle]:
    rank = {uri: number for number, uri in enumerate(calls)}
    found = []
    for part in strongly_connected(calls):
        agents = tuple(sorted(part, key=rank.__getitem__))
        inside = {uri: [each for each in calls[uri] if each in part] for uri in agents}
        found.append(Cycle(agents, shortest_cycle(inside, agents[0])))
    return sorted(found, key=lambda cycle: rank[cycle.agents[0]])


_PLAIN = re.compile(r"[^\W_]|[ .-]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def mermaid(graph: DelegationGraph) -> str:
    """Return a flowchart. Names are written in entity codes, apart from what means nothing to Mermaid."""
    ids = _ids(graph)
    lines = ["flowchart TD"]
    for node in graph.nodes:
        style = "".join(f":::{style}" for style in _styles(node))
        lines.append(f'  {ids[node.id]}["{_mermaid_text(_label(node))}"]{style}')
    for edge in graph.edges:
        arrow = "-->" if edge.via is Via.SUB_AGENTS else "-. Task .->"
        lines.append(f"  {ids[edge.source]} {arrow} {ids[edge.target]}")
    lines.append("  classDef missing stroke-dasharray: 4 4")
    lines.append("  classDef unreachable opacity: 0.5")
    return "\n".join(lines) + "\n"


def dot(graph: DelegationGraph) -> str:
    """Return a directed graph."""
    ids = _ids(graph)
    lines = ["digraph agents {", "  node [shape=box];"]
    for node in graph.nodes:
        styles = [_DOT_STYLES[style] for style in _styles(node)]
        attributes = ", ".join([f'label="{_dot_text(_label(node))}"', *styles])
        lines.append(f"  {ids[node.id]} [{attributes}];")
    lines += [
        f"  {ids[edge.source]} -> {ids[edge.target]}{_dot_edge(edge)};" for edge in graph.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


_DOT_STYLES = {"missing": "style=dashed", "unreachable": 'color="gray", fontcolor="gray"'}


def _dot_edge(edge: Edge) -> str:
    return "" if edge.via is Via.SUB_AGENTS else ' [label="Task", style=dashed]'


def _ids(graph: DelegationGraph) -> dict[str, str]:
    """Return an id for each node that is valid in Mermaid and DOT without quotes."""
    return {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}


def _label(node: Node) -> str:
    place = node.file.place if node.file is not None else None
    program = place.dialect.program if place is not None else None
    remarks = [program_title(program)] if program is not None else []
    if place is not None and place.scope is Scope.USER:
        remarks.append("user")
    # Mermaid wants some character.
    return _CONTROL.sub(" ", f"{node.name} ({', '.join(remarks)})" if remarks else node.name) or " "


def _styles(node: Node) -> Iterator[str]:
    if node.file is None:
        yield "missing"
    elif not node.is_reachable:
        yield "unreachable"


def _mermaid_text(label: str) -> str:
    return "".join(
        character if _PLAIN.fullmatch(character) else f"#{ord(character)};" for character in label
    )


def _dot_text(label: str) -> str:
    """Escape backslashes, quotes, and ampersands, which begin HTML entities in DOT."""
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
