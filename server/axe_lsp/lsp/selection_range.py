"""`textDocument/selectionRange`: the ranges by which a selection grows."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.selection_range import selections
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.positions import open_file
from axe_lsp.lsp.session import Session
from axe_lsp.workspace.agent_file import AgentFile


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    def on_selection_range(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        file = open_file(session, params.text_document)
        if file is None:
            return None
        return [_chain(session, file, position) for position in params.positions]


def _chain(session: Session, file: AgentFile, position: types.Position) -> types.SelectionRange:
    """The innermost range at a position, each inside the next larger one."""
    assert file.open is not None
    lines, encoding = file.open.parse.lines, session.position_encoding
    offset = lines.offset(position.line, position.character, encoding)
    outermost, *inner = reversed(selections(file, offset))
    chain = types.SelectionRange(to_proto.text_range(outermost, lines, encoding))
    for where in inner:
        chain = types.SelectionRange(to_proto.text_range(where, lines, encoding), chain)
    return chain
