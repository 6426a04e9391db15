"""`workspace/textDocumentContent` (LSP 3.18): texts without a file, which clients fetch by a URI.

`axe-request:` and the path of an agent file, with `.txt` behind it, is what `axe/preview` shows, and
`axe-transcript:` and the id of a run, with `.txt`, the tree of the run. The client is told when a
text has changed that it has fetched: the agent was edited, or the run goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from axe_lsp.daemon.uris import canonical
from axe_lsp.lsp.late_handlers import imported
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.workspace import Update

SUPPORT = "workspace.textDocumentContent"

_REQUEST = "axe-request"
_TRANSCRIPT = "axe-transcript"
_SUFFIX = ".txt"

_PAUSE = 0.3
"""Seconds for which changes are collected."""


def request_uri(file: str) -> str:
    """Return the URI of the first request of an agent, by that of its file."""
    return f"{_REQUEST}:{file.removeprefix('file:')}{_SUFFIX}"


class TextDocumentContents:
    """The texts that one client has fetched."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._fetched: set[str] = set()
        self._changed: set[str] = set()
        session.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, _options)(self._content)

    def follow(self, update: Update) -> None:
        """Tell the client of the requests of agents that have changed."""
        for uri in self._fetched.copy():
            if canonical(_file_of(uri)) in update.affected:
                self._touch(uri)

    def _content(
        self, params: types.TextDocumentContentParams
    ) -> Coroutine[Any, Any, types.TextDocumentContentResult]:
        uri = params.uri
        scheme = uri.partition(":")[0]
        if scheme == _REQUEST:
            self._fetched.add(uri)
            name = self._session.opened.name(canonical(_file_of(uri)))
            return _answer(imported("runs.running:preview")(self._session, {"uri": name}))
        if scheme == _TRANSCRIPT:
            self._fetched.add(uri)
            return self._transcript(uri)
        raise JsonRpcInvalidParams(
            f'workspace/textDocumentContent: "uri" begins with {_REQUEST}: or {_TRANSCRIPT}:'
        )

    def _transcript(self, uri: str) -> Coroutine[Any, Any, types.TextDocumentContentResult]:
        run_id = uri.partition(":")[2].strip("/").removesuffix(_SUFFIX)
        runs = self._session.daemon.runs
        if runs.is_going_on(run_id):
            stop = runs.subscribe(lambda _: self._touch(uri, stop), run_id)
        drawn = imported("runs.past_runs:events")(
            self._session, {"runId": run_id, "format": "text"}
        )
        return _answer(drawn)

    def _touch(self, uri: str, stop: Any = None) -> None:
        """Tell the client soon; it fetches the text again if it still shows it."""
        if stop is not None:
            stop()
        if uri in self._fetched:
            self._fetched.discard(uri)
            if not self._changed:
                self._session.start(self._refresh(), name="refreshing texts")
            self._changed.add(uri)

    async def _refresh(self) -> None:
        await asyncio.sleep(_PAUSE)
        changed, self._changed = self._changed, set()
        for uri in changed:
            with suppress(JsonRpcException):  # A client that thinks better of it has its reasons.
                params = types.TextDocumentContentRefreshParams(uri)
                await self._session.request(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH, params)


def _options(client: Client) -> JsonObject | bool:
    knows = client.capability(SUPPORT) is not None
    return {"schemes": [_REQUEST, _TRANSCRIPT]} if knows else False


def _file_of(uri: str) -> str:
    return f"file:{uri.partition(':')[2].removesuffix(_SUFFIX)}"


async def _answer(texts: Coroutine[Any, Any, JsonObject]) -> types.TextDocumentContentResult:
    """Return the text; why there is none is a text too, since it may be there after the next change."""
    try:
        return types.TextDocumentContentResult((await texts)["text"])
    except RequestFailed as error:
        return types.TextDocumentContentResult(f"{error.message}\n")
