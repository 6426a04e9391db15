"""`textDocument/publishDiagnostics`: of the edited file at once, of others when there is time.

A client that pulls diagnostics is told when to pull again, and gets nothing pushed that it pulls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator

from lsprotocol import types

from axe_lsp.lsp.file_diagnostics import FileDiagnostics
from axe_lsp.lsp.pull_diagnostics import PullDiagnostics
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.documents import Document
from axe_lsp.serving.json_rpc import JsonObject, Wire
from axe_lsp.tasks import let_others_go_first
from axe_lsp.workspace.graph import NOTHING_FURTHER, Indirect
from axe_lsp.workspace.workspace import Update

PAUSE = 0.05
"""Seconds for which changes that affect other files are collected, and for which those files wait while the user types."""

_SLICE = 0.001
"""Seconds of work before a keystroke gets its turn."""


class _Published(Wire, frozen=True):
    """`PublishDiagnosticsParams` of LSP."""

    uri: str
    diagnostics: list[JsonObject]
    version: int | None = None


class Publisher:
    """One client's diagnostics. Knows what was sent, so that nothing is sent twice of files that the client does not edit."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._diagnostics = FileDiagnostics(session)
        self._pulling = PullDiagnostics(
            session, self._diagnostics, lambda: not self._is_flushing, self.publish_all
        )
        self._sent: dict[str, list[JsonObject]] = {}
        self._shown: dict[str, None] = {}
        self._waiting: dict[str, None] = {}
        self._indirectly = NOTHING_FURTHER
        self._is_flushing = False
        self._edits = 0

    def publish_edited(self, uri: str) -> None:
        """Send the diagnostics of the file that the client has just opened or changed, also if they are the same as before.

        Emacs keeps none of those that came while the file was closed, and opencode waits for them after each change.
        A client that pulls asks for them itself.
        """
        self._edits += 1
        self._shown.pop(uri, None)
        if self._pulling.takes(uri):
            self._take_back(uri)
        else:
            self._push(uri, is_edited=True)

    def publish_foreign(self, document: Document) -> None:
        """Send an empty list for a document that is none of ours, since clients may wait for it."""
        if not self._pulling.pulls_documents:
            self._send(document.uri, [], document.version)

    def forget(self, uri: str, name: str) -> None:
        """Take back the diagnostics of a closed document, under the URI that it was opened by."""
        self._pulling.forget(uri)
        if self._sent.pop(uri, None):
            self._send(name, [], None)

    def follow(self, update: Update, editing: str | None) -> None:
        """Look again at the files that an update affects, except the one that is being edited."""
        self._diagnostics.related.follow(update.affected)
        others = (uri for uri in update.affected if uri != editing)
        self.publish_later(others, update.indirectly)

    def publish_later(self, uris: Iterable[str], indirectly: Indirect = NOTHING_FURTHER) -> None:
        """Check these files again soon, and after them those that are affected indirectly."""
        self._wait_for(uris)
        self._indirectly |= indirectly
        if self._has_work and not self._is_flushing:
            self._is_flushing = True
            self._session.start(self._flush(), name="publishing diagnostics")

    def publish_all(self) -> None:
        """Check all files again soon, including those with diagnostics that are no longer known."""
        known = (file.uri for file in self._session.view.snapshot.files())
        self.publish_later({**self._sent, **dict.fromkeys(known)})

    async def _flush(self) -> None:
        try:
            await asyncio.sleep(PAUSE)
            await between_edits(self._work(), lambda: self._edits)
        finally:
            self._is_flushing = False
            self._pulling.tell()

    def _wait_for(self, uris: Iterable[str]) -> None:
        """Queue the files; those that the client has open come before all others."""
        for uri in uris:
            is_shown = self._session.opened.document(uri) is not None
            (self._shown if is_shown else self._waiting)[uri] = None

    @property
    def _has_work(self) -> bool:
        have_moved = self._diagnostics.related.have_changed
        waits = self._shown or self._waiting or self._indirectly
        return bool(waits) or have_moved

    def _work(self) -> Iterator[None]:
        """Check all queued files, one a step."""
        while self._has_work:
            for others in self._others():
                self._wait_for(others)
                yield
            if waiting := self._shown or self._waiting:
                uri = next(iter(waiting))
                del waiting[uri]
                self._publish(uri)
                yield

    def _others(self) -> Iterator[Iterable[str]]:
        """Yield the files that are affected indirectly, and those whose diagnostics show a place that has moved."""
        indirectly, self._indirectly = self._indirectly, NOTHING_FURTHER
        if indirectly:  # Hardly ever, but this is asked before each of thousands of files.
            for uri in indirectly.uris(self._session.view.snapshot):
                yield (uri,)
        yield from self._diagnostics.related.outdated()

    def _publish(self, uri: str) -> None:
        if self._pulling.takes(uri):
            self._take_back(uri)
            self._pulling.look(uri)
        else:
            self._push(uri)

    def _push(self, uri: str, *, is_edited: bool = False) -> None:
        """Send the diagnostics of a file. Those that were sent last are only sent again if the client has edited it."""
        document = self._session.opened.document(uri)
        found = self._diagnostics.of(uri)
        is_new = is_edited or (uri not in self._sent and (document is not None or bool(found)))
        if not is_new and found == self._sent.get(uri, []):
            return
        self._sent[uri] = found
        if not found and document is None:
            del self._sent[uri]
        version = document.version if document is not None else None
        self._send(self._session.opened.name(uri), found, version)

    def _take_back(self, uri: str) -> None:
        """Remove diagnostics that were pushed before the client began to pull; it would show them twice."""
        if self._sent.pop(uri, None):
            self._send(self._session.opened.name(uri), [], None)

    def _send(self, name: str, found: list[JsonObject], version: int | None) -> None:
        params = _Published(name, found, version)
        self._session.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)


async def between_edits(steps: Iterable[None], edits: Callable[[], int]) -> None:
    """Take the steps in slices, and pause after each slice in which the user has typed."""
    seen, pause_at = edits(), time.monotonic() + _SLICE
    for _ in steps:
        if time.monotonic() > pause_at:
            await let_others_go_first()
            if edits() != seen:
                await asyncio.sleep(PAUSE)
            seen, pause_at = edits(), time.monotonic() + _SLICE
