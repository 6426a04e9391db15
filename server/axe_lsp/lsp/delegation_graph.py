"""`axe/graph` and the command `axe.showGraph`: the delegation graph as data or as text (docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.agentfile.dialects import program_title
from axe_lsp.agentfile.schema.models import known_model
from axe_lsp.daemon.uris import canonical
from axe_lsp.features.delegation_graph import (
    DelegationGraph,
    Node,
    around,
    delegation_graph,
    dot,
    mermaid,
)
from axe_lsp.features.describe import differences
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.show_document import show_text
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile

_FORMATS = ("json", "mermaid", "dot")
_DOCUMENTS = {
    "mermaid": ("delegation-graph.md", "```mermaid\n{}```\n"),
    "dot": ("delegation-graph.dot", "{}"),
}
"""File names and frames of the texts: Mermaid goes into Markdown, in which editors draw it."""


def register(session: Session) -> None:
    @session.feature("axe/graph")
    def on_graph(params: Any) -> JsonObject:
        return _answer(session, _checked(params, "json"))

    @session.command("axe.showGraph")
    def on_show_graph(params: Any = None) -> JsonObject:
        answer = _answer(session, _checked(params, "mermaid"))
        if answer["format"] in _DOCUMENTS:
            name, frame = _DOCUMENTS[answer["format"]]
            show_text(session, name, frame.format(answer["text"]))
        return answer


def _checked(params: Any, default: str) -> tuple[str, str | None]:
    """Return the format, and the URI of the agent whose surroundings are wanted, if any."""
    members = {} if params is None else params
    if not isinstance(members, dict):
        raise JsonRpcInvalidParams("axe/graph: params must be an object")
    wanted, uri = members.get("format", default), members.get("uri")
    if wanted not in _FORMATS:
        raise JsonRpcInvalidParams('axe/graph: "format" must be "json", "mermaid" or "dot"')
    if uri is not None and not isinstance(uri, str):
        raise JsonRpcInvalidParams('axe/graph: "uri" must be a string')
    return wanted, uri


def _answer(session: Session, wanted: tuple[str, str | None]) -> JsonObject:
    format_, uri = wanted
    linked = session.view.linked_agents()
    graph = delegation_graph(session.view.snapshot, linked)
    if uri is not None:
        agent = linked.get(canonical(uri), canonical(uri))
        if all(node.id != agent for node in graph.nodes):
            raise JsonRpcInvalidParams(f"axe/graph: {uri} is not in a folder of agents")
        graph = around(graph, agent)
    if format_ == "json":
        return {"format": format_, **_json(session, graph)}
    return {"format": format_, "text": mermaid(graph) if format_ == "mermaid" else dot(graph)}


def _json(session: Session, graph: DelegationGraph) -> JsonObject:
    spelled = {node.id: session.opened.name(node.id) for node in graph.nodes}
    return {
        "complete": session.view.snapshot.complete and not session.view.snapshot.unread,
        "nodes": [_node(node, spelled) for node in graph.nodes],
        "edges": [
            {"from": spelled[each.source], "to": spelled[each.target], "via": each.via.value}
            for each in graph.edges
        ],
        "cycles": [
            {
                "agents": [spelled[agent] for agent in each.agents],
                "path": [spelled[agent] for agent in each.path],
            }
            for each in graph.cycles
        ],
        "unreachable": [
            {"agent": spelled[each.agent], "path": [spelled[agent] for agent in each.path]}
            for each in graph.unreachable
        ],
    }


def _node(node: Node, spelled: dict[str, str]) -> JsonObject:
    return {
        "id": spelled[node.id],
        "name": node.name,
        "defined": node.file is not None,
        "root": node.is_root,
        "reachable": node.is_reachable,
        "depth": node.depth,
        **dict(_facts(node, spelled)),
    }


def _twin(agent: AgentFile, twin: AgentFile, spelled: dict[str, str]) -> JsonObject:
    return {
        "uri": spelled.get(twin.uri, twin.uri),
        "program": program_title(twin.place.dialect.program),
        "differs": differences(agent, twin),
    }


def _facts(node: Node, spelled: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield the members of an agent that a file defines."""
    if node.file is None:
        return
    yield "uri", spelled[node.id]
    yield "scope", node.file.place.scope.name.lower()
    program = node.file.place.dialect.program
    if program is not None:
        yield "program", program_title(program)
    if node.twins:
        yield "twins", [_twin(node.file, each, spelled) for each in node.twins]
    model = node.file.model.value if node.file.model is not None else ""
    known = known_model(model)
    if model:
        yield "model", model
    if known is not None:
        yield "price", {"input": known.input_price, "output": known.output_price}
