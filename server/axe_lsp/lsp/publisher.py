"""Sends diagnostics: of the file that is being edited at once, of all others when there is time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator

from lsprotocol import types

from axe_lsp.daemon.daemon import Daemon
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.lsp import from_proto, to_proto
from axe_lsp.lsp.language_server import LanguageServer
from axe_lsp.lsp.open_agents import OpenAgents
from axe_lsp.workspace.graph import reachable
from axe_lsp.workspace.places import Scope

PAUSE = 0.05
"""Seconds in which changes that concern other files are collected."""

_SLICE = 0.005
"""Seconds of work before a keystroke gets its turn."""


class Publisher:
    """One client's diagnostics. Knows what was sent, so that nothing is sent twice.

    Files that nobody has open are reported if they lie in the workspace.
    """

    def __init__(self, server: LanguageServer, daemon: Daemon, opened: OpenAgents) -> None:
        self._server = server
        self._daemon = daemon
        self._opened = opened
        self._sent: dict[str, list[types.Diagnostic]] = {}
        self._waiting: dict[str, None] = {}
        self._deeper: set[str] = set()
        self._is_flushing = False

    def publish(self, uri: str) -> None:
        """Send what there is to say about a file now, if it is not what was said last."""
        self._waiting.pop(uri, None)
        document = self._opened.document(uri)
        found = self._diagnostics(uri)
        is_new = uri not in self._sent and (document is not None or bool(found))
        if not is_new and found == self._sent.get(uri, []):
            return
        self._sent[uri] = found
        if not found and document is None:
            del self._sent[uri]
        version = document.version if document is not None else None
        name = document.uri if document is not None else uri
        params = types.PublishDiagnosticsParams(name, found, version)
        self._server.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def forget(self, uri: str, name: str) -> None:
        """Take back what was said of a document that was closed, under the name it was opened by."""
        if self._sent.pop(uri, None):
            params = types.PublishDiagnosticsParams(name, [])
            self._server.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def publish_later(self, uris: Iterable[str], deeper: Iterable[str] = ()) -> None:
        """Look at these files again, soon; at those in `deeper` with all that they may call."""
        self._waiting.update(dict.fromkeys(uris))
        self._deeper.update(deeper)
        if (self._waiting or self._deeper) and not self._is_flushing:
            self._is_flushing = True
            self._server.start(self._flush(), name="publishing diagnostics")

    def publish_all(self) -> None:
        """Look at all files again, those that are no longer known included, soon."""
        known = (file.uri for file in self._daemon.snapshot.files())
        self.publish_later({**self._sent, **dict.fromkeys(known)})

    async def _flush(self) -> None:
        try:
            await asyncio.sleep(PAUSE)
            pause_at = time.monotonic() + _SLICE
            for _ in self._work():
                if time.monotonic() > pause_at:
                    await asyncio.sleep(0)
                    pause_at = time.monotonic() + _SLICE
        finally:
            self._is_flushing = False

    def _work(self) -> Iterator[None]:
        """Everything that waits, a step at a time."""
        while self._waiting or self._deeper:
            deeper, self._deeper = self._deeper, set()
            for file in reachable(self._daemon.snapshot, deeper):
                self._waiting[file.uri] = None
                yield
            if self._waiting:
                self.publish(next(iter(self._waiting)))
                yield

    def _diagnostics(self, uri: str) -> list[types.Diagnostic]:
        snapshot = self._daemon.snapshot
        file = snapshot.file(uri)
        if file is None or (file.open is None and file.place.scope is not Scope.WORKSPACE):
            return []
        severities = from_proto.severities(self._daemon.settings.diagnostics)
        found = diagnostics(snapshot, file, severities)
        if not found:
            return []
        lines, encoding = self._daemon.lines(uri), self._server.position_encoding
        return [
            to_proto.diagnostic(finding, lines, encoding, self._daemon.lines) for finding in found
        ]
