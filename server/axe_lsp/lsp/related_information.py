"""`relatedInformation` of diagnostics: the places in other files that a diagnostic points at.

Many diagnostics of connected agents point at the same places, and do so again with each keystroke. So
the places are kept, and files that are not open are not read from the disk each time. When a file
changes, the diagnostics that point into it are outdated if its places have moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct, field

from axe_lsp.features.finding import Related
from axe_lsp.features.shown_calls import calls_of
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.to_proto import LinesOf
from axe_lsp.rpc.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile


class _Told(Struct):
    """The places in one file that were sent, and the files whose diagnostics point at them.

    `text` is the text of the file if it was open.
    """

    text: str | None
    places: dict[Related, JsonObject] = field(default_factory=dict)
    said_of: dict[str, None] = field(default_factory=dict)


class RelatedInformation:
    """The places that one client was sent. Those in a file are kept until the file changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told: dict[str, _Told] = {}
        self._in_doubt: dict[str, list[_Told]] = {}

    def as_json(self, related: Related, of: str, lines_of: LinesOf) -> JsonObject:
        """A `DiagnosticRelatedInformation` (LSP 3.17) for a diagnostic of the file `of`."""
        told = self._about(related.uri)
        if related.uri != of:  # A file is looked at anew after each change of its own.
            told.said_of[of] = None
        if related not in told.places:
            told.places[related] = self._new(related, lines_of)
        return told.places[related]

    def follow(self, changed: Iterable[str]) -> None:
        """Take note of files that may have changed."""
        for uri in changed:
            told = self._told.pop(uri, None)
            if told is not None and told.said_of:
                self._in_doubt.setdefault(uri, []).append(told)

    @property
    def are_in_doubt(self) -> bool:
        """Whether a place was sent that lies in a file which has changed since."""
        return bool(self._in_doubt)

    def outdated(self) -> Iterator[Iterable[str]]:
        """The files whose diagnostics point at places that have moved; a step at a time."""
        while self._in_doubt:
            uri = next(iter(self._in_doubt))
            for told in self._in_doubt.pop(uri):
                yield () if self._is_still_true(uri, told) else told.said_of

    def _about(self, uri: str) -> _Told:
        if uri not in self._told:
            file = self._session.view.snapshot.file(uri)
            self._told[uri] = _Told(_open_text(file) if file is not None else None)
        return self._told[uri]

    def _is_still_true(self, uri: str, told: _Told) -> bool:
        """Whether the calls in the file are where they were; if so, the places are kept."""
        file = self._session.view.snapshot.file(uri)
        if file is None:
            return False
        if not _is_the_same_above_calls(file, told.text):
            calls = {each.message: each for each in calls_of(file)}
            shown = [(calls.get(each.message), place) for each, place in told.places.items()]
            told.places = {call: place for call, place in shown if call is not None}
            lines_of = cache(self._session.view.lines)
            if any(self._new(call, lines_of) != place for call, place in told.places.items()):
                return False
        kept = self._about(uri)
        kept.places.update(told.places)
        kept.said_of.update(told.said_of)
        return True

    def _new(self, related: Related, lines_of: LinesOf) -> JsonObject:
        lines, encoding = lines_of(related.uri), self._session.position_encoding
        return {
            "location": {
                "uri": self._session.opened.name(related.uri),
                "range": to_proto.json_range(related.range, lines, encoding),
            },
            "message": related.message,
        }


def _open_text(file: AgentFile) -> str | None:
    return file.open.parse.text if file.open is not None else None


def _is_the_same_above_calls(file: AgentFile, before: str | None) -> bool:
    """Whether the text differs only after the file's last reference, as in its prompt."""
    text = _open_text(file)
    if text is None or before is None:
        return False
    end = max((each.range.end for each in file.references), default=0)
    return text[:end] == before[:end]
