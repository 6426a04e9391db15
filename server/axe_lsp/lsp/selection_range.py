"""`textDocument/selectionRange`: the ranges by which a selection grows."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.selection_range import selections
from axe_lsp.lsp.positions import OpenFile, open_file
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    def on_selection_range(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        opened = open_file(session, params.text_document)
        if opened is None:
            return None
        return [_chain(opened, position) for position in params.positions]


def _chain(opened: OpenFile, position: types.Position) -> types.SelectionRange:
    """Return the innermost range at a position, each inside the next larger one."""
    outermost, *inner = reversed(selections(opened.file, opened.offset_of(position)))
    chain = types.SelectionRange(opened.range(outermost))
    for where in inner:
        chain = types.SelectionRange(opened.range(where), chain)
    return chain
