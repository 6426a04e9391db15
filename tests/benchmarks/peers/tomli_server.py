"""A bare pygls server that does the least that could be called checking: tomli on each keystroke.

It reports one thing, without a range, and answers hover and completion with a constant.
"""

from __future__ import annotations

import tomli
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare-tomli", "1")
NOWHERE = types.Range(types.Position(0, 0), types.Position(0, 0))


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def did_open(params: types.DidOpenTextDocumentParams) -> None:
    check(params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def did_change(params: types.DidChangeTextDocumentParams) -> None:
    check(params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(_: types.HoverParams) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "A key."))


@server.feature(types.TEXT_DOCUMENT_COMPLETION)
def completion(_: types.CompletionParams) -> list[types.CompletionItem]:
    return [types.CompletionItem("max_depth")]


def check(uri: str) -> None:
    document = server.workspace.get_text_document(uri)
    found = [types.Diagnostic(NOWHERE, message) for message in problems(document.source)]
    params = types.PublishDiagnosticsParams(uri, found, document.version)
    server.text_document_publish_diagnostics(params)


def problems(text: str) -> list[str]:
    try:
        values = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        return [str(error)]
    depth = values.get("sub_agents_config", {}).get("max_depth", 0)
    return ["max_depth cannot exceed 5"] if depth > 5 else []


server.start_io()
