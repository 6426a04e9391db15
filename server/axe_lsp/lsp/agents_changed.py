"""`axe/agentsChanged`: sent when the answers to `axe/agents` and `axe/graph` have changed.

Problems don't count: they come as diagnostics. So typing in a prompt sends nothing.
"""

from __future__ import annotations

import asyncio

from axe_lsp.lsp.session import Session
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Update

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
    """The parts of a file that the answers show."""
    if file is None:
        return None
    model = file.model.value if file.model is not None else ""
    named = [(each.key, each.name) for each in file.references]
    return file.description, model, file.tools, named, file.inline_types, file.depth_limit
