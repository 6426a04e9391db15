"""`axe/agents`: all agents, each with its problems; `axe/agentsChanged`: sent when that answer or `axe/graph` has changed.

Problems don't count: they come as diagnostics. So typing in a prompt sends nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any

from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES, AgentType
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Update


def register(session: Session) -> None:
    @session.feature("axe/agents")
    def on_agents(_: Any) -> list[JsonObject]:
        return _agents(session)


def _agents(session: Session) -> list[JsonObject]:
    """Return all agents, by name; of several files that define one, the file that is used comes first.

    The built-in types, which need no file, come last among those of their name.
    """
    files, linked = session.view.snapshot.files(), session.view.linked_agents()
    found = [file for file in files if file.holds_agent and file.uri not in linked]
    found.sort(key=lambda each: (each.place.scope, each.uri))
    all_agents = [_agent(session, file) for file in found]
    all_agents += [_built_in(name, type_) for name, type_ in BUILT_IN_TYPES.items()]
    return sorted(all_agents, key=lambda each: str(each["name"]))


def problems_of(session: Session, file: AgentFile) -> list[JsonObject]:
    """Return the problems of an agent, without their places."""
    severities = session.severities(file.uri)
    return [
        {"code": each.code, "severity": each.severity.name.lower(), "message": each.message}
        for each in diagnostics(session.view.snapshot, file, severities)
    ]


def _agent(session: Session, file: AgentFile) -> JsonObject:
    return {
        "name": file.called,
        "uri": session.opened.name(file.uri),
        "scope": file.place.scope.name.lower(),
        "description": file.description,
        "model": file.model.value if file.model is not None else "",
        "subAgents": list(file.sub_agents),
        "tools": list(file.tools),
        "problems": problems_of(session, file),
    }


def _built_in(name: str, type_: AgentType) -> JsonObject:
    """Return a built-in type in the same form: it has no file, and takes its model from its caller."""
    return {
        "name": name,
        "uri": None,
        "scope": "builtin",
        "description": type_.description,
        "model": "",
        "subAgents": [],
        "tools": list(type_.tools),
        "problems": [],
    }


SUPPORT = "experimental.axe.agentsChanged"

_PAUSE = 0.2
"""Seconds for which changes are collected."""


class AgentsChanged:
    """Notifies one client, if its capabilities ask for it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen = session.view.snapshot
        self._is_waiting = False

    def follow(self, update: Update) -> None:
        """Compare an update with the state before."""
        before, self._seen = self._seen, update.snapshot
        if self._is_waiting or not self._session.client.supports(SUPPORT):
            return
        if _differs(before, update):
            self._is_waiting = True
            self._session.start(self._notify(), name="sending axe/agentsChanged")

    async def _notify(self) -> None:
        try:
            await asyncio.sleep(_PAUSE)
        finally:
            self._is_waiting = False
        self._session.notify("axe/agentsChanged", {})


def _differs(before: Snapshot, update: Update) -> bool:
    after = update.snapshot
    return (
        before.names is not after.names
        or before.real_uris is not after.real_uris
        or before.complete is not after.complete
        or before.unread != after.unread
        or any(_shown(before.file(uri)) != _shown(after.file(uri)) for uri in update.affected)
    )


def _shown(file: AgentFile | None) -> object:
    """Return the parts of a file that the answers show."""
    if file is None:
        return None
    model = file.model.value if file.model is not None else ""
    named = [(each.key, each.name) for each in file.references]
    return file.description, model, file.tools, named, file.inline_types, file.depth_limit
