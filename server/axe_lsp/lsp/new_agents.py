"""`axe.createAgent`: a new agent where those who call it will find it, and in front of the user."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.agentfile import agent_name
from axe_lsp.agentfile.scaffold import scaffold
from axe_lsp.agentfile.text import quoted
from axe_lsp.daemon.uris import canonical, uri_of
from axe_lsp.features.edit import NewFile
from axe_lsp.features.new_agent import agent_uri, new_agent
from axe_lsp.lsp.applying import create_file
from axe_lsp.lsp.code_actions import CREATE_AGENT
from axe_lsp.lsp.language_server import RequestFailed
from axe_lsp.lsp.messages import JsonObject
from axe_lsp.lsp.shown_texts import show_file
from axe_lsp.workspace.places import AGENT_FOLDERS

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def create(server: AxeServer, params: Any) -> Coroutine[Any, Any, JsonObject]:
    """Create the agent `name` for the agent at `uri`, or for whom it may concern."""
    members = params if isinstance(params, dict) else {}
    name, uri = members.get("name"), members.get("uri")
    if not isinstance(name, str):
        raise JsonRpcInvalidParams(f'{CREATE_AGENT}: "name" must be a string')
    if uri is not None and not isinstance(uri, str):
        raise JsonRpcInvalidParams(f'{CREATE_AGENT}: "uri" must be a string')
    objection = agent_name.objection(name)
    if objection is not None:
        raise RequestFailed(objection)
    return _create(server, _new_file(server, name, uri))


async def _create(server: AxeServer, new: NewFile) -> JsonObject:
    await create_file(server, new)
    show_file(server, new.uri)
    return {"uri": new.uri}


def _new_file(server: AxeServer, name: str, uri: str | None) -> NewFile:
    snapshot = server.daemon.snapshot
    caller = snapshot.file(canonical(uri)) if uri is not None else None
    if uri is not None and caller is None:
        raise RequestFailed(f"{uri} is no agent that is known here")
    new = new_agent(snapshot, name, caller) if caller is not None else _for_anybody(server, name)
    if new is None:
        raise RequestFailed(
            f"there is no folder for the agent {quoted(name)}: open a folder with an axe/agents in "
            "it, or set HOME"
        )
    if snapshot.file(new.uri) is not None:
        raise RequestFailed(f"there is an agent {quoted(name)} already: {new.uri}")
    return new


def _for_anybody(server: AxeServer, name: str) -> NewFile | None:
    """A file in the project's folder of agents if it has one, else in the user's."""
    usual = (root / name.strip("/") for root in server.daemon.roots for name in AGENT_FOLDERS)
    present = (folder for folder in usual if folder.is_dir())
    folder = next(iter((*present, *server.daemon.folders)), None)
    return NewFile(agent_uri(uri_of(folder), name), scaffold(name)) if folder else None
