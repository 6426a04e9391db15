"""The session of one client, which all handlers take: its view of the files, its documents, and the connection."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import PositionEncoding
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.daemon.project_severities import Remembered
from axe_lsp.daemon.uris import canonical
from axe_lsp.features.diagnostics import Severities
from axe_lsp.lsp.open_agents import OpenAgents
from axe_lsp.lsp.test_results import TestResults
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.documents import Documents
from axe_lsp.rpc.language_server import LanguageServer


class Session:
    """One client's session. It knows none of the features that use it.

    `feature` and `command` register a handler, `notify` and `request` send to the client, and `start`
    runs a coroutine in the background, as `LanguageServer` documents them.
    """

    def __init__(self, server: LanguageServer, daemon: Daemon) -> None:
        self._protocol = server.protocol
        self.feature, self.command = server.feature, server.command
        self.notify, self.request, self.start = server.notify, server.request, server.start
        self.notify_together = self._protocol.notify_together
        self.progress = self._protocol.progress
        self.daemon = daemon
        """The part that all clients share."""
        self.view = daemon.open_view()
        """The files as this client sees them: its folders, its settings, its unsaved texts."""
        self._severities = Remembered()
        self.documents = Documents(canonical)
        self.opened = OpenAgents(self.documents)
        self.own_runs: set[str] = set()
        """The ids of the unfinished runs that this client has started."""
        self.test_results = TestResults()
        """The last results of the cases that this client has run."""
        self.subscriptions: dict[str | None, list[Callable[[], None]]] = {}
        """Functions that end a subscription, by the id of the root run; under None those to all runs."""

    @property
    def client(self) -> Client:
        """The client's name, folders, options and capabilities; complete after `initialize`."""
        return self._protocol.client

    @property
    def position_encoding(self) -> PositionEncoding:
        """The unit in which positions of this session count columns."""
        return self._protocol.client.position_encoding

    def severities(self, uri: str) -> Severities:
        """The severities of codes for a file: those of its project, and of the client's settings above them."""
        found = self._severities.of(uri, self.view.settings.diagnostics)
        for complaint in self._severities.news():
            self.show_message(complaint)
        return found

    def forget_severities(self) -> None:
        """Look for those of projects again."""
        self._severities = Remembered()

    def show_message(self, text: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        """Show a message to the user (`window/showMessage`)."""
        self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(kind, text))

    async def end(self) -> None:
        """End the subscriptions of the client and close its view."""
        for end in chain.from_iterable(self.subscriptions.values()):
            end()
        await self.daemon.close_view(self.view)
