"""`textDocument/diagnostic` and `workspace/diagnostic`: for clients that pull diagnostics (LSP 3.17).

A report has an id, a hash of its diagnostics: the same id, the same report. A request about the
whole workspace that would have no news is answered when there are some, so that nobody has to ask
again and again. Clients that pull say so for open documents; that they pull the workspace too shows
when they do it, and until then closed files are pushed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.daemon.uris import canonical
from axe_lsp.lsp.file_diagnostics import FileDiagnostics
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.client import Client
from axe_lsp.serving.json_rpc import JsonObject, Wire, plain_json

_PORTION = 200
"""Reports that are sent in one piece."""

_REFRESH = "workspace.diagnostics.refreshSupport"

_OPTIONS = {"identifier": "axe-lsp", "interFileDependencies": True, "workspaceDiagnostics": True}


class _Report(NamedTuple):
    """The diagnostics of a file, with their id."""

    id: str
    items: list[JsonObject]


def _report_of(items: list[JsonObject]) -> _Report:
    return _Report(f"{hash(plain_json(items)):x}", items)


_NOTHING = _report_of([])


class _Told(Wire, frozen=True):
    """A `DocumentDiagnosticReport` of LSP: `full` with its items, or `unchanged`."""

    kind: str
    result_id: str
    items: list[JsonObject] | None = None


class _ToldOfFile(_Told, frozen=True, kw_only=True):
    """A `WorkspaceDocumentDiagnosticReport` of LSP."""

    uri: str
    version: int | None


class _Held:
    """A `workspace/diagnostic` that has not been answered yet."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        """Files whose reports may differ from those that were sent."""
        self.woken = asyncio.Event()

    async def news(self) -> set[str]:
        """Wait until files have been checked, and take those that may differ."""
        await self.woken.wait()
        self.woken.clear()
        changed, self.changed = self.changed, set()
        return changed


class PullDiagnostics:
    """The diagnostics that one client has pulled.

    `is_idle` says whether all files have been checked, and `look_at_all` has them checked.
    """

    def __init__(
        self,
        session: Session,
        diagnostics: FileDiagnostics,
        is_idle: Callable[[], bool],
        look_at_all: Callable[[], None],
    ) -> None:
        self._session = session
        self._diagnostics = diagnostics
        self._is_idle = is_idle
        self._look_at_all = look_at_all
        self._given: dict[str, str] = {}
        """The ids of the reports that the client has of its open documents."""
        self._is_stale = False
        self._has_workspace = False
        self._reports: dict[str, _Report] = {}
        """The reports of all files with diagnostics, once the client has pulled the workspace."""
        self._held: set[_Held] = set()
        session.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, _options)(self.document)
        session.feature(types.WORKSPACE_DIAGNOSTIC)(self.workspace)

    def takes(self, uri: str) -> bool:
        """Return whether the client pulls the diagnostics of this file."""
        is_open = self._session.opened.document(uri) is not None
        return self.pulls_documents if is_open else self._has_workspace

    def look(self, uri: str) -> None:
        """Check a file that the client pulls."""
        report = self._report(uri)
        if self._given.get(uri, report.id) != report.id:
            del self._given[uri]  # One reminder is enough until it has asked again.
            self._is_stale = True
        if self._has_workspace and self._remember(uri, report):
            for held in self._held:
                held.changed.add(uri)
                held.woken.set()

    def tell(self) -> None:
        """Ask the client to pull again if a report has changed, now that all files have been checked."""
        if self._is_stale:
            self._session.start(self._refresh(), name="asking the client to pull diagnostics")
        self._is_stale = False
        for held in self._held:
            held.woken.set()

    def forget(self, uri: str) -> None:
        """Take note that a document was closed."""
        self._given.pop(uri, None)

    def document(self, params: types.DocumentDiagnosticParams) -> _Told:
        """Return the report about one document."""
        uri = canonical(params.text_document.uri)
        report = self._report(uri)
        if self._session.opened.document(uri) is not None:
            self._given[uri] = report.id
        if self._has_workspace:
            self._remember(uri, report)
        if report.id == params.previous_result_id:
            return _Told("unchanged", report.id)
        return _Told("full", report.id, report.items)

    async def workspace(self, params: types.WorkspaceDiagnosticParams) -> JsonObject:
        """Return the reports that the client does not have yet; the first request is answered at once."""
        told = {canonical(each.uri): each.value for each in params.previous_result_ids}
        held = _Held()
        self._held.add(held)
        try:
            return await self._answer(held, told, params.partial_result_token)
        finally:
            self._held.discard(held)

    async def _answer(
        self, held: _Held, told: dict[str, str], token: types.ProgressToken | None
    ) -> JsonObject:
        is_first, self._has_workspace = not self._has_workspace, True
        if is_first:
            self._look_at_all()
        else:
            held.changed.update(told, self._reports)
        held.woken.set()
        answer: list[_ToldOfFile] = []
        has_told = False
        while True:
            changed = await held.news()
            is_done = self._is_idle()
            if is_done:
                changed.update(told)  # Of files that have gone nobody hears otherwise.
            items = list(self._differing(changed, told))
            has_told = has_told or bool(items)
            if token is None:
                answer += items
            else:
                self._send_portions(token, items)
            if is_done and (has_told or is_first):
                return {"items": answer}

    @property
    def pulls_documents(self) -> bool:
        return _can_pull(self._session.client)

    def _report(self, uri: str) -> _Report:
        return _report_of(self._diagnostics.of(uri))

    def _remember(self, uri: str, report: _Report) -> bool:
        """Store the report of a file; whether it differs from the one before."""
        before = self._reports.pop(uri, _NOTHING)
        if report != _NOTHING:
            self._reports[uri] = report
        return report != before

    def _differing(self, uris: Iterable[str], told: dict[str, str]) -> Iterator[_ToldOfFile]:
        """Yield the reports of these files that the client does not have. They count as sent."""
        for uri in uris:
            report = self._reports.get(uri, _NOTHING)
            if told.get(uri, _NOTHING.id) != report.id:
                told[uri] = report.id
                document = self._session.opened.document(uri)
                version = document.version if document is not None else None
                name = self._session.opened.name(uri)
                yield _ToldOfFile("full", report.id, report.items, uri=name, version=version)

    def _send_portions(self, token: types.ProgressToken, items: list[_ToldOfFile]) -> None:
        for start in range(0, len(items), _PORTION):
            value = {"items": items[start : start + _PORTION]}
            self._session.notify(types.PROGRESS, {"token": token, "value": value})

    async def _refresh(self) -> None:
        with suppress(JsonRpcException):  # Then it will ask when it likes.
            await self._session.request(types.WORKSPACE_DIAGNOSTIC_REFRESH)


def _can_pull(client: Client) -> bool:
    """Return whether the client asks, and can be told to ask again when another file has changed."""
    asks = isinstance(client.capability("textDocument.diagnostic"), dict)
    return asks and client.supports(_REFRESH)


def _options(client: Client) -> JsonObject | bool:
    """Return the server capability, False for clients whose pulling is worse than being pushed to."""
    if not _can_pull(client):
        return False
    # Up to 0.12 a refresh lets Neovim pull the workspace, where the open documents are left out.
    return {**_OPTIONS, "workspaceDiagnostics": client.name != "Neovim"}
