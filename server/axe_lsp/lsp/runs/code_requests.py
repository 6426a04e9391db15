"""`axe/editor`: ask the language servers of an editor about code, for the tools of its runs.

docs/protocol.md describes it. A client is not trusted to answer in this form, in time, or at all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcException

from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.json_data import to_json
from axe_lsp.runtime.tools.editor import (
    AskEditor,
    CodeAnswer,
    CodeItem,
    EditorAnswer,
    EditorRequest,
    QueryCode,
)

_log = logging.getLogger(__name__)

_GRACE = 1.0
"""Seconds for the answer of the client itself, beside the time that it may give its language servers."""

_MOST_ITEMS = 1_000
_LONGEST_TEXT = 8_000
"""Characters of one text. Tools show less."""

_NOT_UNDERSTOOD = EditorAnswer("failed", "the editor's answer was not understood")


def code_requests(session: Session) -> AskEditor:
    """Return a function that asks the editor of a session about code."""

    async def ask(run: RunIds, request: EditorRequest) -> EditorAnswer:
        if not isinstance(request, QueryCode):
            return EditorAnswer("failed", "this editor only answers questions about code")
        if session.is_closed:
            return EditorAnswer("unknown", "the editor is gone")
        seconds = request.seconds + _GRACE
        try:
            requested = session.request("axe/editor", _params(run, request))
            result = await asyncio.wait_for(requested, seconds)
        except asyncio.TimeoutError:
            return EditorAnswer("failed", f"the editor did not answer within {seconds:g} s")
        except JsonRpcException as error:
            _log.warning("the client did not answer axe/editor: %s", error.message)
            return EditorAnswer("failed", "the editor could not be asked")
        answer = _answer(result)
        if answer is None:
            _log.warning("the client answered axe/editor with something else")
            return _NOT_UNDERSTOOD
        return EditorAnswer(about_code=answer)

    return ask


def _params(run: RunIds, request: QueryCode) -> dict[str, Any]:
    params: dict[str, Any] = {**to_json(run), "question": request.question}
    if request.path:
        params["uri"] = uri_of(Path(request.path))
    if request.line:
        params["line"] = request.line
    if request.name:
        params["name"] = request.name
    if request.digest:
        params["digest"] = request.digest
    return {**params, "timeoutMs": round(1000 * request.seconds)}


def _answer(result: Any) -> CodeAnswer | None:
    """Return the answer in a client's result; None if it is none. Entries that are wrong are dropped."""
    if not isinstance(result, dict):
        return None
    missing = result.get("missing", "")
    if missing not in ("", "folder", "server", "name"):
        return None
    items, checked = result.get("items", []), result.get("checked", {})
    left_out = result.get("leftOut", 0)
    if not (isinstance(items, list) and isinstance(checked, dict) and type(left_out) is int):
        return None
    more = max(0, len(items) - _MOST_ITEMS)
    return CodeAnswer(
        items=tuple(_items(items[:_MOST_ITEMS])),
        left_out=max(0, left_out) + more,
        checked=dict(_checked(checked)),
        missing=missing,
    )


def _items(items: list[Any]) -> Iterator[CodeItem]:
    for each in items:
        if not isinstance(each, dict):
            continue
        line = each.get("line", 0)
        text = each.get("text")
        yield CodeItem(
            path=_path(each.get("uri")),
            line=line if type(line) is int and line > 0 else 0,
            text=_text(text) if isinstance(text, str) else None,
            name=_text(each.get("name")),
            kind=_text(each.get("kind")),
            message=_text(each.get("message")),
            severity=_text(each.get("severity")),
            source=_text(each.get("source")),
        )


def _checked(checked: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield the paths that were checked, with the digests of their texts."""
    for uri, digest in list(checked.items())[:_MOST_ITEMS]:
        path = _path(uri)
        if path and isinstance(digest, str):
            yield path, _text(digest)


def _path(uri: Any) -> str:
    """Return the path of a file; "" for anything else."""
    path = path_of(uri) if isinstance(uri, str) else None
    return str(path) if path is not None else ""


def _text(value: Any) -> str:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else ""
