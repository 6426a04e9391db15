"""`textDocument/hover`: what the key, value or name under the cursor means."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.agentfile.check.agent_tests import outline
from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.features.hover import Hover, hover
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.positions import Position, position_of
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        place = position_of(session, params)
        if place is None:
            return None
        found = _of_case(session, place) or hover(session.view.snapshot, place.file, place.offset)
        if found is None:
            return None
        markdown = session.client.shows_markdown("textDocument.hover.contentFormat")
        return to_proto.hover(found, place.lines, session.position_encoding, markdown=markdown)


def _of_case(session: Session, place: Position) -> Hover | None:
    """The last result of a case that this client has run, at the name of the case."""
    file = place.file
    if file.place.dialect is not AGENT_TESTS or file.open is None:
        return None
    cases = outline(file.open).names()
    found = next((each for each in cases if each[1].touches(place.offset)), None)
    if found is None:
        return None
    name, where = found
    told = session.test_results.markdown(file.uri, name)
    return Hover(where, told) if told is not None else None
