"""Between LSP's positions and ours: the place that a request is about, and ranges in an answer."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, Protocol

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import LineIndex, TextRange
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile


class PositionParams(Protocol):
    """The members that the params of all requests about a position have."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class Position(NamedTuple):
    """A position in an open agent file."""

    file: AgentFile
    offset: int
    lines: LineIndex


def open_file(session: Session, document: types.TextDocumentIdentifier) -> AgentFile | None:
    """The agent file of a document, if the client has it open."""
    uri = session.opened.uri(document.uri)
    file = session.view.snapshot.file(uri) if uri is not None else None
    return file if file is not None and file.open is not None else None


def position_of(session: Session, params: PositionParams) -> Position | None:
    """The position that a request is about, if it is in an open agent file."""
    file = open_file(session, params.text_document)
    if file is None or file.open is None:
        return None
    lines, where = file.open.parse.lines, params.position
    offset = lines.offset(where.line, where.character, session.position_encoding)
    return Position(file, offset, lines)


class Locations:
    """Ranges in files, open or not, as a client gets them.

    Made for one answer, so that each file is read at most once.
    """

    def __init__(self, session: Session) -> None:
        self._opened = session.opened
        self._encoding = session.position_encoding
        self.lines_of = cache(session.view.lines)

    def text_of(self, uri: str) -> str:
        """The text of a file; empty if it has gone."""
        return self.lines_of(uri).text

    def range(self, uri: str, where: TextRange) -> types.Range:
        """A range in a file."""
        return to_proto.text_range(where, self.lines_of(uri), self._encoding)

    def json_range(self, uri: str, where: TextRange) -> JsonObject:
        """The same as plain JSON, for answers with hundreds of them."""
        return to_proto.json_range(where, self.lines_of(uri), self._encoding)

    def location(self, uri: str, where: TextRange) -> types.Location:
        """A range with its file, which the client may spell otherwise."""
        return types.Location(self._opened.name(uri), self.range(uri, where))
