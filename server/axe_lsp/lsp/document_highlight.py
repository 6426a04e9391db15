"""`textDocument/documentHighlight`: the places in one file that name the agent under the cursor."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.references import highlights
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.positions import position_of
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    """Register the handler of the method."""

    @session.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def on_document_highlight(
        params: types.DocumentHighlightParams,
    ) -> list[types.DocumentHighlight] | None:
        place = position_of(session, params)
        if place is None:
            return None
        kinds, encoding = types.DocumentHighlightKind, session.position_encoding
        return [
            types.DocumentHighlight(
                to_proto.text_range(each.range, place.lines, encoding),
                kinds.Write if each.is_declaration else kinds.Read,
            )
            for each in highlights(session.view.snapshot, place.file, place.offset)
        ] or None
