"""The file of an agent that does not exist yet, and its place in the list of who calls it."""

from __future__ import annotations

from urllib.parse import quote

from axe_lsp.agentfile import lookup_order
from axe_lsp.agentfile.lookup_order import SUFFIX
from axe_lsp.agentfile.scaffold import NO_MODEL, scaffold
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.providers import ModelNameError, parse_model_name
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.splices import literal, with_item, with_line
from axe_lsp.agentfile.text.tree import ValueKind
from axe_lsp.features.edit import NewFile, TextChange
from axe_lsp.workspace.agent_file import SUB_AGENTS, AgentFile
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


def new_agent(snapshot: Snapshot, name: str, seen_from: AgentFile) -> NewFile | None:
    """Return a file that makes `name` mean something in another file, with the model of that one.

    None for what can't be the name of an agent, and where there is no folder for it.
    """
    folder = folder_for(snapshot, seen_from)
    if not folder or lookup_order.objection(name) is not None:
        return None
    return NewFile(agent_uri(folder, name), scaffold(name, model_for(seen_from)))


def listing(caller: AgentFile, text: str, name: str) -> TextChange | None:
    """Return the change that puts `name` into the `sub_agents` of a file.

    None if it already exists, and where the key has a value that is no list.
    """
    parse = Parse(text)
    listed = Lookup(parse).value(SUB_AGENTS)
    if listed is None:
        splice = with_line(parse, (), f"{SUB_AGENTS[0]} = [{literal(name)}]")
    elif listed.kind is ValueKind.ARRAY and name not in caller.sub_agents:
        splice = with_item(text, listed, literal(name))
    else:
        splice = None
    return TextChange(caller.uri, splice.range, splice.text) if splice is not None else None


def agent_uri(folder: str, name: str) -> str:
    """Return where the agent of a name lies in a folder."""
    return f"{folder}/{quote(name, safe='')}{SUFFIX}"


def folder_for(snapshot: Snapshot, seen_from: AgentFile) -> str:
    """Return the folder of the file itself if agents are found there, else another one; "" if there is none."""
    if seen_from.place.scope is not Scope.LOOSE:
        return seen_from.place.folder
    folders = (
        each.place.folder
        for each in snapshot.files()
        if each.place.holds_agent and each.place.scope is Scope.WORKSPACE
    )
    return min(folders, default=snapshot.places.user_folder)


def model_for(caller: AgentFile) -> str:
    """Return the model of an agent that another one calls: that one's, if it can be used again."""
    model = caller.model.value if caller.model is not None else ""
    try:
        return str(parse_model_name(model))
    except ModelNameError:
        return NO_MODEL
