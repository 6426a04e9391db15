"""`textDocument/documentLink`: the paths in a file that lead to other files."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.document_link import document_links
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.positions import open_file
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, {"resolveProvider": False})
    def on_document_link(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        file = open_file(session, params.text_document)
        if file is None or file.open is None:
            return None
        lines, encoding = file.open.parse.lines, session.position_encoding
        return [
            types.DocumentLink(
                to_proto.text_range(each.origin, lines, encoding), each.uri, each.shown
            )
            for each in document_links(session.view.snapshot, file)
        ]
