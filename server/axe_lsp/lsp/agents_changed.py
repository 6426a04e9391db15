"""`axe/agentsChanged`: says when `axe/agents` and `axe/graph` have something new to tell.

Problems are no news here: they come as diagnostics. So typing in a prompt tells nobody anything.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Update

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

SUPPORT = "experimental.axe.agentsChanged"

_PAUSE = 0.2
"""Seconds in which changes are collected."""


class AgentNews:
    """Tells one client, if it has said that it wants to know."""

    def __init__(self, server: AxeServer) -> None:
        self._server = server
        self._seen = server.view.snapshot
        self._is_waiting = False

    def follow(self, update: Update) -> None:
        """There is a new state of all files."""
        before, self._seen = self._seen, update.snapshot
        if self._is_waiting or not self._server.client.supports(SUPPORT):
            return
        if _is_news(before, update):
            self._is_waiting = True
            self._server.start(self._tell(), name="telling of agents")

    async def _tell(self) -> None:
        try:
            await asyncio.sleep(_PAUSE)
        finally:
            self._is_waiting = False
        self._server.notify("axe/agentsChanged", {})


def _is_news(before: Snapshot, update: Update) -> bool:
    after = update.snapshot
    return (
        before.names is not after.names
        or before.real_uris is not after.real_uris
        or before.complete is not after.complete
        or before.unread != after.unread
        or any(_told(before.file(uri)) != _told(after.file(uri)) for uri in update.affected)
    )


def _told(file: AgentFile | None) -> object:
    """What the requests tell of a file itself."""
    if file is None:
        return None
    model = file.model.value if file.model is not None else ""
    named = [(each.key, each.name) for each in file.references]
    return file.description, model, file.tools, named, file.inline_types, file.depth_limit
