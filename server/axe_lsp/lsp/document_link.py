"""`textDocument/documentLink`: the paths in a file that lead to other files."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.document_link import document_links
from axe_lsp.lsp.positions import open_file
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, {"resolveProvider": False})
    def on_document_link(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        opened = open_file(session, params.text_document)
        if opened is None:
            return None
        return [
            types.DocumentLink(opened.range(each.origin), each.uri, each.shown)
            for each in document_links(session.view.snapshot, opened.file)
        ]
