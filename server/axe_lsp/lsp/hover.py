"""`textDocument/hover`: what the key, value or name under the cursor means."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.hover import hover
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.positions import position_of
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    """Register the handler of the method."""

    @session.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        place = position_of(session, params)
        if place is None:
            return None
        found = hover(session.view.snapshot, place.file, place.offset)
        if found is None:
            return None
        markdown = session.client.shows_markdown("textDocument.hover.contentFormat")
        return to_proto.hover(found, place.lines, session.position_encoding, markdown=markdown)
