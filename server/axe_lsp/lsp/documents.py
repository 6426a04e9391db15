"""The open documents: their text as the client has it, kept by applying the client's changes.

Pure: no protocol, no disk. Changes come in as lsprotocol has them, in the encoding that was
negotiated; lines are LSP's (`axe_lsp.agentfile.text`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from lsprotocol import types

from axe_lsp.agentfile.text import LineIndex, PositionEncoding


@dataclass(frozen=True)
class Document:
    """A document as it stood at one version."""

    uri: str
    language_id: str
    version: int
    text: str

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text, found when first asked for."""
        return LineIndex(self.text)


class NotOpenError(Exception):
    """The client changed or closed a document that it hasn't opened."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri} is not open")


class Documents:
    """What the client has open."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._open.values())

    def get(self, uri: str) -> Document | None:
        """The document, if it is open."""
        return self._open.get(uri)

    def open(self, params: types.DidOpenTextDocumentParams) -> Document:
        """Take the document over; one that is open already is replaced."""
        item = params.text_document
        document = Document(item.uri, item.language_id, item.version, item.text)
        self._open[item.uri] = document
        return document

    def change(
        self, params: types.DidChangeTextDocumentParams, encoding: PositionEncoding
    ) -> Document:
        """Apply the changes, each to what the one before has left, and give the new document."""
        document = self._require(params.text_document.uri)
        for change in params.content_changes:
            document = replace(document, text=_changed(document, change, encoding))
        # The version is the client's to count; applying an old one is better than losing the text.
        document = replace(document, version=params.text_document.version)
        self._open[document.uri] = document
        return document

    def close(self, params: types.DidCloseTextDocumentParams) -> Document:
        """Forget the document, and give it as it was in the end."""
        document = self._require(params.text_document.uri)
        del self._open[document.uri]
        return document

    def _require(self, uri: str) -> Document:
        document = self._open.get(uri)
        if document is None:
            raise NotOpenError(uri)
        return document


def _changed(
    document: Document, change: types.TextDocumentContentChangeEvent, encoding: PositionEncoding
) -> str:
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return change.text
    ends = (change.range.start, change.range.end)
    # A range that runs backwards is taken for what it was meant to be, as editors do.
    start, end = sorted(document.lines.offset(at.line, at.character, encoding) for at in ends)
    return document.text[:start] + change.text + document.text[end:]
