"""Ranges in files, open or not, as a client gets them."""

from __future__ import annotations

from functools import cache

from lsprotocol import types

from axe_lsp.agentfile.text import TextRange
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.session import Session


class Locations:
    """For the length of one answer, so that each file is read once at the most."""

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

    def location(self, uri: str, where: TextRange) -> types.Location:
        """A range with its file, which the client may spell otherwise."""
        return types.Location(self._opened.name(uri), self.range(uri, where))
