"""The agents that there are, with what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.lsp import from_proto
from axe_lsp.lsp.messages import JsonObject
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Scope

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def agents(server: AxeServer) -> Iterator[JsonObject]:
    """All agents, by name; where several files define one, the one that counts comes first."""
    files = server.daemon.snapshot.files()
    found = [file for file in files if file.place.scope is not Scope.LOOSE]
    for file in sorted(found, key=lambda each: (each.place.stem, each.place.scope, each.uri)):
        yield _agent(server, file)


def problems_of(server: AxeServer, file: AgentFile) -> list[JsonObject]:
    """What is wrong with an agent, without the places."""
    severities = from_proto.severities(server.daemon.settings.diagnostics)
    return [
        {"code": each.code, "severity": each.severity.name.lower(), "message": each.message}
        for each in diagnostics(server.daemon.snapshot, file, severities)
    ]


def _agent(server: AxeServer, file: AgentFile) -> JsonObject:
    return {
        "name": file.place.stem,
        "uri": server.opened.name(file.uri),
        "scope": file.place.scope.name.lower(),
        "description": file.description,
        "model": file.model.value if file.model is not None else "",
        "subAgents": list(file.sub_agents),
        "tools": list(file.tools),
        "problems": problems_of(server, file),
    }
