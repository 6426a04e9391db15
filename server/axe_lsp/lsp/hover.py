"""`textDocument/hover`: what the key, value or name under the cursor means."""

from __future__ import annotations

import re
import time

from lsprotocol import types

from axe_lsp.agentfile.check.agent_tests import outline
from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.features.hover import Hover, hover
from axe_lsp.lsp.positions import Position, position_of
from axe_lsp.lsp.session import Session

_MARKS = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|\*\*(?P<bold>(?:\\.|`[^`\n]*`|[^`*\n\\])+)\*\*"
    r"|`(?P<code>[^`\n]*)`"
    r"|(?<![*\w])\*(?P<italic>[^*\s][^*\n]*)\*(?![*\w])"
)
_FENCE = re.compile(r"^```.*(?:\n|\Z)", re.MULTILINE)


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        place = position_of(session, params)
        if place is None:
            return None
        session.view.run_log.want()
        found = _of_case(session, place) or hover(
            session.view.snapshot, place.file, place.offset, time.time()
        )
        if found is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, found.markdown)
        if not session.client.shows_markdown("textDocument.hover.contentFormat"):
            text = plain_text(found.markdown)
            content = types.MarkupContent(types.MarkupKind.PlainText, text)
        return types.Hover(content, place.range(found.range))


def _of_case(session: Session, place: Position) -> Hover | None:
    """Return the last result of a case that this client has run, at the name of the case."""
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


def plain_text(markdown: str) -> str:
    """Return Markdown without emphasis, code spans and fences, for clients that show plain text only.

    Text in code spans, such as a glob with its stars, stays as it is.
    """
    return _MARKS.sub(_inside, _FENCE.sub("", markdown))


def _inside(match: re.Match[str]) -> str:
    code = match["code"]
    if match["escaped"] is not None:
        return match["escaped"]
    return code if code is not None else _MARKS.sub(_inside, match["bold"] or match["italic"])
