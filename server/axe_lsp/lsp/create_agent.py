"""`axe.createAgent`: creates an agent in a folder where its callers find it, and shows it.

The agent that it is created for can get its name into `sub_agents`, by an edit of the client.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.agentfile import lookup_order
from axe_lsp.agentfile.scaffold import scaffold
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.daemon.uris import canonical, uri_of
from axe_lsp.features.edit import NewFile
from axe_lsp.features.new_agent import agent_uri, listing, new_agent
from axe_lsp.lsp.agent_folders import agent_folders, folder_at
from axe_lsp.lsp.apply_action import create_file, have_edited
from axe_lsp.lsp.code_action import CREATE_AGENT
from axe_lsp.lsp.positions import Locations
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.show_document import show_file
from axe_lsp.lsp.workspace_edit import workspace_edit
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.default_model import model_to_begin_with
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile


def create(session: Session, params: Any) -> Coroutine[Any, Any, JsonObject]:
    """Create the agent `name` for the agent at `uri`, in `folder`, or in the default folder."""
    members = params if isinstance(params, dict) else {}
    name, uri, folder = members.get("name"), members.get("uri"), members.get("folder")
    if not isinstance(name, str):
        raise JsonRpcInvalidParams(f'{CREATE_AGENT}: "name" must be a string')
    for member, value in (("uri", uri), ("folder", folder)):
        if value is not None and not isinstance(value, str):
            raise JsonRpcInvalidParams(f'{CREATE_AGENT}: "{member}" must be a string')
    if uri is not None and folder is not None:
        raise JsonRpcInvalidParams(f'{CREATE_AGENT}: give either "uri" or "folder"')
    objection = lookup_order.objection(name)
    if objection is not None:
        raise RequestFailed(objection)
    caller = _caller(session, uri) if uri is not None else None
    new = _new_file(session, name, caller, folder)
    return _create(session, new, caller if members.get("list") is True else None, name)


async def _create(
    session: Session, new: NewFile, listed_by: AgentFile | None, name: str
) -> JsonObject:
    await create_file(session, new)
    if listed_by is not None:
        await _list(session, listed_by, name)
    show_file(session, new.uri)
    return {"uri": new.uri}


async def _list(session: Session, caller: AgentFile, name: str) -> None:
    locations = Locations(session)
    change = listing(caller, locations.text_of(caller.uri), name)
    if change is not None:
        await have_edited(
            session, f"List {quoted(name)}", workspace_edit(session, (change,), locations)
        )


def _caller(session: Session, uri: str) -> AgentFile:
    caller = session.view.snapshot.file(canonical(uri))
    if caller is None:
        raise RequestFailed(f"{uri} is not a known agent")
    return caller


def _new_file(session: Session, name: str, caller: AgentFile | None, folder: str | None) -> NewFile:
    snapshot = session.view.snapshot
    if caller is not None:
        new = new_agent(snapshot, name, caller)
    elif folder is not None:
        new = NewFile(agent_uri(uri_of(folder_at(session, folder)), name), _text(session, name))
    else:
        new = _in_default_folder(session, name)
    if new is None:
        raise RequestFailed(
            f"there is no folder for the agent {quoted(name)}: open a folder with an axe/agents in "
            "it, or set HOME"
        )
    if snapshot.file(new.uri) is not None:
        raise RequestFailed(f"there is an agent {quoted(name)} already: {new.uri}")
    return new


def _in_default_folder(session: Session, name: str) -> NewFile | None:
    """Return a new file in the project's folder of agents if there is one, else in the user's."""
    folder = next((each for each in agent_folders(session) if each.exists or each.is_users), None)
    return NewFile(agent_uri(folder.uri, name), _text(session, name)) if folder else None


def _text(session: Session, name: str) -> str:
    """Return the text of a new agent, with a model of a provider that has a key. Raises RequestFailed."""
    try:
        config = load_user_config(session.daemon.environment)
    except ConfigError as error:
        raise RequestFailed(str(error)) from error
    return scaffold(name, model_to_begin_with(config))
