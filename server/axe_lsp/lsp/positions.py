"""Between LSP's positions and ours: the open file that a request is about, and ranges in an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Protocol

from lsprotocol import types
from msgspec import Struct

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding, TextRange
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile

LinesOf = Callable[[str], LineIndex]
"""The lines of the file at a URI."""


class PositionParams(Protocol):
    """The members that the params of all requests about a position have."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class OpenFile(Struct, frozen=True):
    """An agent file that the client has open, with the lines in which the client counts."""

    file: AgentFile
    lines: LineIndex
    encoding: PositionEncoding

    def offset_of(self, where: types.Position) -> int:
        """Return a position as an offset."""
        return self.lines.offset(where.line, where.character, self.encoding)

    def text_range(self, where: types.Range) -> TextRange:
        """Return a range in offsets; one that runs backwards is turned."""
        start, end = sorted(map(self.offset_of, (where.start, where.end)))
        return TextRange(start, end)

    def range(self, where: TextRange) -> types.Range:
        """Return a range of offsets as LSP has it."""
        return lsp_range(where, self.lines, self.encoding)

    def json_range(self, where: TextRange) -> JsonObject:
        """Return the same as plain JSON, for answers with hundreds of them."""
        return json_range(where, self.lines, self.encoding)


class Position(OpenFile, frozen=True):
    """A position in an open agent file."""

    offset: int


def open_file(session: Session, document: types.TextDocumentIdentifier) -> OpenFile | None:
    """Return the agent file of a document, if the client has it open."""
    uri = session.opened.uri(document.uri)
    file = session.view.snapshot.file(uri) if uri is not None else None
    if file is None or file.open is None:
        return None
    return OpenFile(file, file.open.parse.lines, session.position_encoding)


def position_of(session: Session, params: PositionParams) -> Position | None:
    """Return the position that a request is about, if it is in an open agent file."""
    opened = open_file(session, params.text_document)
    if opened is None:
        return None
    return Position(opened.file, opened.lines, opened.encoding, opened.offset_of(params.position))


class Locations:
    """Ranges in files, open or not, as a client gets them.

    Made for one answer, so that each file is read at most once.
    """

    def __init__(self, session: Session) -> None:
        self._opened = session.opened
        self._encoding = session.position_encoding
        self.lines_of = cache(session.view.lines)

    def text_of(self, uri: str) -> str:
        """Return the text of a file; empty if it has gone."""
        return self.lines_of(uri).text

    def range(self, uri: str, where: TextRange) -> types.Range:
        """Return a range in a file."""
        return lsp_range(where, self.lines_of(uri), self._encoding)

    def json_range(self, uri: str, where: TextRange) -> JsonObject:
        """Return the same as plain JSON, for answers with hundreds of them."""
        return json_range(where, self.lines_of(uri), self._encoding)

    def location(self, uri: str, where: TextRange) -> types.Location:
        """Return a range with its file, which the client may spell otherwise."""
        return types.Location(self._opened.name(uri), self.range(uri, where))


def lsp_range(where: TextRange, lines: LineIndex, encoding: PositionEncoding) -> types.Range:
    """Return a range of offsets as LSP has it."""
    start = types.Position(*lines.position(where.start, encoding))
    end = types.Position(*lines.position(where.end, encoding))
    return types.Range(start, end)


def json_range(where: TextRange, lines: LineIndex, encoding: PositionEncoding) -> JsonObject:
    """Return the same as plain JSON, for answers with hundreds of them."""
    start, first = lines.position(where.start, encoding)
    if where.end < lines.start_of(start + 1) and lines.text.isascii():
        end, last = start, first + where.end - where.start  # As nearly always, in half the time.
    else:
        end, last = lines.position(where.end, encoding)
    return {"start": {"line": start, "character": first}, "end": {"line": end, "character": last}}
