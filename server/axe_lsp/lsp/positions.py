"""Where in an open agent file a request is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from lsprotocol import types

from axe_lsp.agentfile.text import LineIndex
from axe_lsp.workspace.agent_file import AgentFile

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


class PositionParams(Protocol):
    """What the params of all requests about a position have in common."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class Position(NamedTuple):
    """A position in an open agent file."""

    file: AgentFile
    offset: int
    lines: LineIndex


def open_file(server: AxeServer, document: types.TextDocumentIdentifier) -> AgentFile | None:
    """The agent file of a document, if the client has it open."""
    uri = server.opened.uri(document.uri)
    file = server.view.snapshot.file(uri) if uri is not None else None
    return file if file is not None and file.open is not None else None


def position_of(server: AxeServer, params: PositionParams) -> Position | None:
    """The position that a request is about, if it is in an open agent file."""
    file = open_file(server, params.text_document)
    if file is None or file.open is None:
        return None
    lines, where = file.open.parse.lines, params.position
    offset = lines.offset(where.line, where.character, server.position_encoding)
    return Position(file, offset, lines)
