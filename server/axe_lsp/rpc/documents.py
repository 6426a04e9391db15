"""The open documents: their text as the client has it, kept by applying the client's changes.

Pure: no protocol, no disk. Changes come in as lsprotocol has them, in the encoding that was
negotiated; lines are LSP's (`axe_lsp.agentfile.text.ranges`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator

from lsprotocol import types
from msgspec import Struct
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding, offset_in_line


class Document(Struct, frozen=True):
    """A document at one version."""

    uri: str
    language_id: str
    version: int
    text: str


class NotOpenError(JsonRpcInvalidParams):
    """The client changed or closed a document that it hasn't opened."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri} is not open")


class Documents:
    """The documents that the client has open.

    `canonical` gives the one spelling of a URI, by which a document is found that the client opened
    under another spelling.
    """

    def __init__(self, canonical: Callable[[str], str] = str) -> None:
        self._canonical = canonical
        self._open: dict[str, Document] = {}
        self._texts: dict[str, EditedText] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._open.values())

    def get(self, uri: str) -> Document | None:
        """Return the document, if it is open."""
        return self._open.get(uri)

    def open(self, params: types.DidOpenTextDocumentParams) -> Document:
        """Add the document; one that is open already is replaced."""
        item = params.text_document
        document = Document(item.uri, item.language_id, item.version, item.text)
        self._open[item.uri] = document
        self._texts[item.uri] = EditedText(item.text)
        return document

    def change(
        self, params: types.DidChangeTextDocumentParams, encoding: PositionEncoding
    ) -> Document:
        """Apply the changes one after the other, and return the new document."""
        before = self._require(params.text_document.uri)
        uri = before.uri
        for change in params.content_changes:
            self._apply(uri, change, encoding)
        # The version is the client's to count; to refuse an old one would lose the text.
        version = params.text_document.version
        document = Document(uri, before.language_id, version, self._texts[uri].text)
        self._open[uri] = document
        return document

    def close(self, params: types.DidCloseTextDocumentParams) -> Document:
        """Remove the document, and return its last version."""
        document = self._require(params.text_document.uri)
        del self._open[document.uri], self._texts[document.uri]
        return document

    def _require(self, uri: str) -> Document:
        """Return the document of this URI, else of another spelling of it."""
        if uri in self._open:
            return self._open[uri]
        wanted = self._canonical(uri)
        for document in self:
            if self._canonical(document.uri) == wanted:
                return document
        raise NotOpenError(uri)

    def _apply(
        self, uri: str, change: types.TextDocumentContentChangeEvent, encoding: PositionEncoding
    ) -> None:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self._texts[uri] = EditedText(change.text)
            return
        text = self._texts[uri]
        ends = (change.range.start, change.range.end)
        # A range that runs backwards is taken for what it was meant to be, as editors do.
        start, end = sorted(text.offset(at.line, at.character, encoding) for at in ends)
        text.replace(start, end, change.text)


class EditedText:
    """A text under edits that are given in lines and columns.

    Where the lines begin is kept up to date instead of being found again for each edit: a client that
    replaces a word in a thousand places sends a thousand edits at once. Those behind the last edit are moved
    when an edit comes near them, so that edits in their order cost little for each.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = LineIndex(text).starts
        self._first_unmoved = len(self._starts)
        self._shift = 0
        """The amount that is missing in the starts from `_first_unmoved` on."""

    def offset(self, line: int, column: int, encoding: PositionEncoding) -> int:
        """Return the offset of a position, clamped to the line and to the text (LSP 3.17, "Position")."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._start(line)
        content = self.text[start : self._start(line + 1)].rstrip("\r\n")
        return start + offset_in_line(content, column, encoding)

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace the text from `start` to `end` by `new`."""
        # A line more on either side, because an edit can join or part a CR and an LF there.
        first = max(0, self._line_behind(start) - 2)
        behind = self._line_behind(end) + 1
        begin, finish = self._start(first), self._start(behind)
        self._move_until(behind + 1)
        shift = len(new) - (end - start)
        self.text = self.text[:start] + new + self.text[end:]
        found = LineIndex(self.text[begin : finish + shift]).starts
        # The last one found is the start of the line at `behind`, if there is such a line.
        self._starts[first : behind + 1] = [begin + each for each in found]
        self._first_unmoved = first + len(found)
        self._shift += shift

    def _line_behind(self, offset: int) -> int:
        """Return the first line that begins behind an offset."""
        line = bisect_right(self._starts, offset, 0, self._first_unmoved)
        if line < self._first_unmoved:
            return line
        return bisect_right(self._starts, offset - self._shift, self._first_unmoved)

    def _move_until(self, line: int) -> None:
        """Have the starts of exactly the lines before this one in place."""
        line = min(line, len(self._starts))
        low, high = sorted((line, self._first_unmoved))
        if self._shift:
            shift = self._shift if line > self._first_unmoved else -self._shift
            self._starts[low:high] = [each + shift for each in self._starts[low:high]]
        self._first_unmoved = line

    def _start(self, line: int) -> int:
        if line >= len(self._starts):
            return len(self.text)
        return self._starts[line] + (self._shift if line >= self._first_unmoved else 0)
