"""`textDocument/formatting` and `textDocument/rangeFormatting`."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.formatting import formatting
from axe_lsp.lsp.positions import open_file
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return _edits(session, params.text_document, params.options, None)

    @session.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    def on_range_formatting(
        params: types.DocumentRangeFormattingParams,
    ) -> list[types.TextEdit] | None:
        return _edits(session, params.text_document, params.options, params.range)


def _edits(
    session: Session,
    document: types.TextDocumentIdentifier,
    options: types.FormattingOptions,
    selected: types.Range | None,
) -> list[types.TextEdit] | None:
    opened = open_file(session, document)
    if opened is None:
        return None
    within = None if selected is None else opened.text_range(selected)
    indentation = " " * options.tab_size if options.insert_spaces else "\t"
    return [
        types.TextEdit(opened.range(where), text)
        for where, text in formatting(opened.file, indentation, options.tab_size, within)
    ]
