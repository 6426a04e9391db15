"""The diagnostics of a file as LSP's JSON, with the members that the client knows.

Plain JSON, so that a report can be compared with the last one. Many diagnostics of connected agents point at the
same places in other files, and do so again with each keystroke. So these places are kept, and files that are not open
are not read from the disk each time. When a file changes, the diagnostics that point into it are outdated if its
places have moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types
from msgspec import Struct, field

import axe_lsp
from axe_lsp.agentfile.text.ranges import PositionEncoding, TextRange
from axe_lsp.features.diagnostics import diagnostics, for_models
from axe_lsp.features.editor_tools import unanswered_tools
from axe_lsp.features.finding import Finding, Related, calls_of
from axe_lsp.features.rules.stale_recording import RULE as STALE
from axe_lsp.lsp.editor_abilities import abilities
from axe_lsp.lsp.positions import LinesOf, json_range
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Scope

SOURCE = "axe-lsp"

_PAGES = Path(axe_lsp.__file__).parent / "pages"
"""One page per diagnostic, written by docs/generate.py."""


class FileDiagnostics:
    """The diagnostics that one client gets."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.related = RelatedInformation(session)

    def of(self, uri: str) -> list[JsonObject]:
        """Return the diagnostics of a file that is open, or that lies in the workspace."""
        session = self._session
        snapshot = session.view.snapshot
        file = snapshot.file(uri)
        if file is None or (file.open is None and file.place.scope is not Scope.WORKSPACE):
            return []
        severities = session.severities(uri)
        found = diagnostics(snapshot, file, severities)
        if session.client.options.get("audience") == "model":
            found = for_models(found, severities)
        elif not abilities(session):
            found = (*found, *unanswered_tools(file, severities))
        of_tests = list(self._of_tests(uri, found)) if session.test_results.has(uri) else []
        if not found:
            return of_tests
        # Files that are not open are read from the disk; many findings name the same files.
        lines_of, members = cache(session.view.lines), _members(session)
        return [*(self._diagnostic(uri, each, lines_of, members) for each in found), *of_tests]

    def _of_tests(self, uri: str, found: Sequence[Finding]) -> Iterator[JsonObject]:
        """Yield the failures of the last run of the cases, at the lines of the expectations."""
        lines = self._session.view.lines(uri)
        known_stale = {lines.line_at(each.range.start) for each in found if each.code == STALE.code}
        for verdict, line, message in self._session.test_results.failures(uri, lines.text):
            if verdict == "stale" and line in known_stale:
                continue
            whole = lines.line_range(line)
            indent = len(whole.of(lines.text)) - len(whole.of(lines.text).lstrip())
            where = TextRange(whole.start + indent, whole.end)
            yield {
                "range": json_range(where, lines, self._session.position_encoding),
                "severity": int(types.DiagnosticSeverity.Error),
                "code": f"test-{verdict}",
                "source": SOURCE,
                "message": message,
            }

    def _diagnostic(
        self, uri: str, finding: Finding, lines_of: LinesOf, members: _Members
    ) -> JsonObject:
        diagnostic: JsonObject = {
            "range": json_range(finding.range, lines_of(uri), members.encoding),
            "severity": int(finding.severity),
            "code": finding.code,
            "source": SOURCE,
            "message": finding.message,
        }
        if members.pages:
            diagnostic["codeDescription"] = {"href": page(finding.code)}
        if members.unnecessary and finding.unnecessary:
            diagnostic["tags"] = [int(types.DiagnosticTag.Unnecessary)]
        if members.related and finding.related:
            diagnostic["relatedInformation"] = [
                self.related.as_json(each, uri, lines_of) for each in finding.related
            ]
        return diagnostic


@cache
def page(code: str) -> str:
    """Return the URI of the page about a diagnostic, a file that comes with the server."""
    return (_PAGES / f"{code}.md").as_uri()


class _Members(NamedTuple):
    """The optional members of a diagnostic that the client knows, and how it counts columns."""

    related: bool
    unnecessary: bool
    pages: bool
    encoding: PositionEncoding


def _members(session: Session) -> _Members:
    """Return the optional members that the client supports in pushed diagnostics, or (LSP 3.18) in pulled ones."""
    client = session.client

    def offered(name: str) -> list[Any]:
        places = ("publishDiagnostics", "diagnostic")
        return [client.capability(f"textDocument.{place}.{name}") for place in places]

    tags = [tag for known in offered("tagSupport.valueSet") if known for tag in known]
    return _Members(
        related=True in offered("relatedInformation"),
        unnecessary=types.DiagnosticTag.Unnecessary in tags,
        pages=True in offered("codeDescriptionSupport"),
        encoding=session.position_encoding,
    )


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
        """Return a `DiagnosticRelatedInformation` (LSP 3.17) for a diagnostic of the file `of`."""
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
        """Yield the files whose diagnostics point at places that have moved; a step at a time."""
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
        """Return whether the calls in the file are where they were; if so, the places are kept."""
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
                "range": json_range(related.range, lines, encoding),
            },
            "message": related.message,
        }


def _open_text(file: AgentFile) -> str | None:
    return file.open.parse.text if file.open is not None else None


def _is_the_same_above_calls(file: AgentFile, before: str | None) -> bool:
    """Return whether the text differs only after the file's last reference, as in its prompt."""
    text = _open_text(file)
    if text is None or before is None:
        return False
    end = max((each.range.end for each in file.references), default=0)
    return text[:end] == before[:end]
