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
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile


class _SentPlaces(Struct):
    """The places in one file that were sent, and the files whose diagnostics point at them.

    `text` is the text of the file if it was open.
    """

    text: str | None
    places: dict[Related, JsonObject] = field(default_factory=dict)
    pointing_files: dict[str, None] = field(default_factory=dict)


class RelatedInformation:
    """The places that one client was sent. Those in a file are kept until the file changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sent: dict[str, _SentPlaces] = {}
        self._changed: dict[str, list[_SentPlaces]] = {}

    def as_json(self, related: Related, of: str, lines_of: LinesOf) -> JsonObject:
        """A `DiagnosticRelatedInformation` (LSP 3.17) for a diagnostic of the file `of`."""
        sent = self._about(related.uri)
        if related.uri != of:  # A file is looked at anew after each change of its own.
            sent.pointing_files[of] = None
        if related not in sent.places:
            sent.places[related] = self._new(related, lines_of)
        return sent.places[related]

    def follow(self, changed: Iterable[str]) -> None:
        """Take note of files that may have changed."""
        for uri in changed:
            sent = self._sent.pop(uri, None)
            if sent is not None and sent.pointing_files:
                self._changed.setdefault(uri, []).append(sent)

    @property
    def have_changed(self) -> bool:
        """Whether a place was sent that lies in a file which has changed since."""
        return bool(self._changed)

    def outdated(self) -> Iterator[Iterable[str]]:
        """The files whose diagnostics point at places that have moved; a step at a time."""
        while self._changed:
            uri = next(iter(self._changed))
            for sent in self._changed.pop(uri):
                yield () if self._is_still_true(uri, sent) else sent.pointing_files

    def _about(self, uri: str) -> _SentPlaces:
        if uri not in self._sent:
            file = self._session.view.snapshot.file(uri)
            self._sent[uri] = _SentPlaces(_open_text(file) if file is not None else None)
        return self._sent[uri]

    def _is_still_true(self, uri: str, sent: _SentPlaces) -> bool:
        """Whether the calls in the file are where they were; if so, the places are kept."""
        file = self._session.view.snapshot.file(uri)
        if file is None:
            return False
        if not _is_the_same_above_calls(file, sent.text):
            calls = {each.message: each for each in calls_of(file)}
            shown = [(calls.get(each.message), place) for each, place in sent.places.items()]
            sent.places = {call: place for call, place in shown if call is not None}
            lines_of = cache(self._session.view.lines)
            if any(self._new(call, lines_of) != place for call, place in sent.places.items()):
                return False
        kept = self._about(uri)
        kept.places.update(sent.places)
        kept.pointing_files.update(sent.pointing_files)
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
