"""The session of one client, which all handlers take: its view of the files, its open documents, the connection, and the last results of its tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import PositionEncoding
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.daemon.project_severities import Remembered
from axe_lsp.daemon.uris import canonical
from axe_lsp.features.diagnostics import Severities
from axe_lsp.features.markdown import without_links
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.documents import Document, Documents
from axe_lsp.rpc.language_server import LanguageServer
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.places import Places

LANGUAGE_ID = "axe-agent"
"""A document with this language id is an agent file in any folder, even if it was never saved."""

_SERVED = ("file:", "untitled:")
"""Documents of other schemes, such as `git:` and `fugitive:`, are old states of files."""


class OpenAgents:
    """The open documents by our URIs. A client may spell a URI otherwise, and gets its own back.

    Of several spellings that it has opened, that of the last edit.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._names: dict[str, list[str]] = {}

    def add(self, document: Document, places: Places) -> str | None:
        """Add an opened document. Return its canonical URI, None if it is no agent file."""
        if not self._is_agent(document, places):
            return None
        uri = canonical(document.uri)
        self._names.setdefault(uri, [document.uri])
        return uri

    def turn_to(self, uri: str, name: str) -> str | None:
        """Use this spelling of a URI from now on; returns the one before if it was another."""
        names = self._names[uri]
        before = names[-1]
        if before == name:
            return None
        self._names[uri] = [*(each for each in names if each != name), name]
        return before

    def misplaced(self, places: Places) -> list[Document]:
        """Return the open documents that have become agent files, or have ceased to be."""
        return [
            document
            for document in self._documents
            if self._is_agent(document, places) != (self.uri(document.uri) is not None)
        ]

    def remove(self, name: str) -> str | None:
        """Remove a closed document. Return its canonical URI, None if it was no agent file."""
        uri = canonical(name)
        if uri not in self._names:
            return None
        names = [each for each in self._names.pop(uri) if each != name]
        if names:
            self._names[uri] = names
        return uri

    def uri(self, name: str) -> str | None:
        """Return the canonical URI of an open agent file, None for other documents."""
        uri = canonical(name)
        return uri if uri in self._names else None

    def document(self, uri: str) -> Document | None:
        """Return the open document at our URI."""
        names = self._names.get(uri)
        return self._documents.get(names[-1]) if names is not None else None

    def name(self, uri: str) -> str:
        """Return the client's spelling of our URI; the same if the file is not open."""
        return self._names[uri][-1] if uri in self._names else uri

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @staticmethod
    def _is_agent(document: Document, places: Places) -> bool:
        uri = canonical(document.uri)
        is_called_so = document.language_id == LANGUAGE_ID and uri.startswith(_SERVED)
        return is_called_so or places.is_ours(uri)


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
        self.adoption: asyncio.Future[None] | None = None
        """Done when this client has looked for runs of a former server; None for clients that don't."""
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

    @property
    def is_closed(self) -> bool:
        """Whether the client has left, or is about to."""
        return self._protocol.is_closing

    @property
    def ends_with_server(self) -> bool:
        """Whether the session ends because the server does, and not by its client alone."""
        is_last = self.daemon.is_ending or not self.daemon.has_many_clients
        return self._protocol.is_closing and is_last

    def severities(self, uri: str) -> Severities:
        """Return the severities of codes for a file: those of its project, and of the client's settings above them."""
        found = self._severities.of(uri, self.view.settings.diagnostics)
        for complaint in self._severities.news():
            self.show_message(complaint)
        return found

    def forget_severities(self) -> None:
        """Look for those of projects again."""
        self._severities = Remembered()

    def show_message(self, text: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        """Show a message to the user (`window/showMessage`)."""
        shown = without_links(text)
        self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(kind, shown))

    async def end(self) -> None:
        """End the subscriptions of the client and close its view."""
        for end in chain.from_iterable(self.subscriptions.values()):
            end()
        await self.daemon.close_view(self.view)


_SHOWN = {"failed", "stale", "provider"}
"""The verdicts whose failures are diagnostics. A missing recording is one without a run."""


class _Kept(NamedTuple):
    """The result of a case, and the text of the file that was tested."""

    result: JsonObject
    text: str


class TestResults:
    """The last results of the cases that a client has run: shown by hover, and as diagnostics until the next edit.

    They are kept by the URI of a file and the name of a case. `listeners` are called with the URI of each new one.
    """

    __test__ = False
    """For pytest: this is no test."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, _Kept]] = {}
        self.listeners: list[Callable[[str], None]] = []

    def keep(self, uri: str, result: JsonObject, text: str) -> None:
        """Keep a result in place of the last one of its case."""
        self._kept.setdefault(uri, {})[result["name"]] = _Kept(result, text)
        for listener in self.listeners:
            listener(uri)

    def markdown(self, uri: str, name: str) -> str | None:
        """Return the last result of a case. Failures quote what models say, so they are shown as code."""
        kept = self._kept.get(uri, {}).get(name)
        if kept is None:
            return None
        result = kept.result
        is_kept = result["verdict"] != "passed" and "runId" in result
        run = f" · run `{result['runId'][:8]}`" if is_kept else ""
        failures = [f"line {each['line']}: {each['message']}" for each in result["failures"]]
        lines = "\n".join(failures).splitlines()
        parts = [
            f"Last result: **{result['verdict']}**{run}",
            *(["\n".join(f"    {line}" for line in lines)] if lines else []),
        ]
        return "\n\n".join(parts)

    def has(self, uri: str) -> bool:
        """Return whether a case of the file was run."""
        return uri in self._kept

    def failures(self, uri: str, text: str) -> Iterator[tuple[str, int, str]]:
        """Yield verdict, line from 0 and message of all failures in a file whose text has not changed since the test."""
        for result, tested in self._kept.get(uri, {}).values():
            if result["verdict"] in _SHOWN and tested == text:
                for each in result["failures"]:
                    yield result["verdict"], each["line"] - 1, each["message"]
