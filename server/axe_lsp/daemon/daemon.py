"""The state that all connections share: the supervisor of runs, the models of Ollama, the index of the disk.

What a client has open, and which settings are in force for it, is its own (`axe_lsp.daemon.view`).
"""

from __future__ import annotations

import asyncio
import os
from functools import cached_property
from typing import TYPE_CHECKING

from axe_lsp.daemon.index import Index
from axe_lsp.daemon.view import View
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.tasks import Tasks

if TYPE_CHECKING:
    from axe_lsp.daemon.ollama_models import Ollama
    from axe_lsp.hosting.supervisor.supervisor import Runs

_LAST_SECONDS = 1.0
"""Seconds to wait at the end for reads from a slow disk."""


class Daemon:
    """One per process, however many clients it has. Lives on one event loop."""

    def __init__(
        self, environment: Environment | None = None, *, has_many_clients: bool = False
    ) -> None:
        self.environment: Environment = os.environ if environment is None else environment
        self.has_many_clients = has_many_clients
        self.is_ending = False
        """Whether the process has been told to end."""
        self._index = Index() if has_many_clients else None
        self._views: set[View] = set()
        self._background = Tasks()

    @cached_property
    def runs(self) -> Runs:
        """The runs of all clients. Imported with the first one."""
        from axe_lsp.hosting.supervisor.supervisor import Runs

        return Runs()

    @cached_property
    def ollama(self) -> Ollama:
        """The user's own models. Imported with the first question about them."""
        from axe_lsp.daemon.ollama_models import Ollama

        return Ollama(self.environment, self._background)

    def open_view(self) -> View:
        """Return the agent files as a new client sees them."""
        view = View(self.environment, self._index)
        self._views.add(view)
        return view

    async def close_view(self, view: View) -> None:
        """Close the view of a client that has gone, and forget what only it has had read."""
        self._views.discard(view)
        if self._index is not None:
            self._index.keep_only(each.snapshot.closed for each in self._views)
        await view.close(within=_LAST_SECONDS)

    def settings_have_changed(self) -> None:
        """Let runs begin that waited for their turn, if they need not wait any more."""
        if "runs" in vars(self):
            self.runs.admit()

    async def close(self) -> None:
        """End the runs and everything that goes on in the background."""
        await asyncio.gather(*(view.close(within=_LAST_SECONDS) for view in self._views))
        await self._background.stop(within=_LAST_SECONDS)
        if "runs" in vars(self):
            await self.runs.close()
