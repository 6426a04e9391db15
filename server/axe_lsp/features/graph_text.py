"""The delegation graph for programs that draw: Mermaid (flowchart) and Graphviz (DOT)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.features.delegation_graph import DelegationGraph, Edge, Node, Via
from axe_lsp.workspace.places import Scope

_PLAIN = re.compile(r"[^\W_]|[ .-]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def mermaid(graph: DelegationGraph) -> str:
    """A flowchart. Names are written in entity codes, apart from what means nothing to Mermaid."""
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
    """A directed graph."""
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
    """Ids that need no quotes in either language, and are no word of theirs."""
    return {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}


def _label(node: Node) -> str:
    is_users = node.file is not None and node.file.place.scope is Scope.USER
    # Mermaid wants some character.
    return _CONTROL.sub(" ", f"{node.name} (user)" if is_users else node.name) or " "


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
    """Backslashes are the beginnings of escapes, ampersands those of HTML entities."""
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
