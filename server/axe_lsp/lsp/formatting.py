"""Formatting of documents and of parts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from axe_lsp.features.formatting import formatting
from axe_lsp.lsp import from_proto, to_proto
from axe_lsp.lsp.positions import open_file

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer formatting to the client of `server`."""

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return _edits(server, params.text_document, params.options, None)

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    def on_range_formatting(
        params: types.DocumentRangeFormattingParams,
    ) -> list[types.TextEdit] | None:
        return _edits(server, params.text_document, params.options, params.range)


def _edits(
    server: AxeServer,
    document: types.TextDocumentIdentifier,
    options: types.FormattingOptions,
    selected: types.Range | None,
) -> list[types.TextEdit] | None:
    file = open_file(server, document)
    if file is None or file.open is None:
        return None
    lines, encoding = file.open.parse.lines, server.position_encoding
    within = None if selected is None else from_proto.text_range(selected, lines, encoding)
    indentation = " " * options.tab_size if options.insert_spaces else "\t"
    return [
        types.TextEdit(to_proto.text_range(where, lines, encoding), text)
        for where, text in formatting(file, indentation, options.tab_size, within)
    ]
