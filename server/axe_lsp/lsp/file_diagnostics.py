"""The diagnostics of a file as LSP's JSON, with the members that the client knows.

Plain JSON, so that a report can be compared with the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types

import axe_lsp
from axe_lsp.agentfile.text.ranges import PositionEncoding, TextRange
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import Finding
from axe_lsp.features.rules.stale_recording import RULE as STALE
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.related_information import RelatedInformation
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.to_proto import LinesOf
from axe_lsp.serving.json_rpc import JsonObject
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
        """The diagnostics of a file that is open, or that lies in the workspace."""
        session = self._session
        snapshot = session.view.snapshot
        file = snapshot.file(uri)
        if file is None or (file.open is None and file.place.scope is not Scope.WORKSPACE):
            return []
        severities = session.severities(uri)
        found = diagnostics(snapshot, file, severities)
        of_tests = list(self._of_tests(uri, found)) if session.test_results.has(uri) else []
        if not found:
            return of_tests
        # Files that are not open are read from the disk; many findings name the same files.
        lines_of, members = cache(session.view.lines), _members(session)
        return [*(self._diagnostic(uri, each, lines_of, members) for each in found), *of_tests]

    def _of_tests(self, uri: str, found: Sequence[Finding]) -> Iterator[JsonObject]:
        """The failures of the last run of the cases, at the lines of the expectations."""
        lines = self._session.view.lines(uri)
        known_stale = {lines.line_at(each.range.start) for each in found if each.code == STALE.code}
        for verdict, line, message in self._session.test_results.failures(uri, lines.text):
            if verdict == "stale" and line in known_stale:
                continue
            whole = lines.line_range(line)
            indent = len(whole.of(lines.text)) - len(whole.of(lines.text).lstrip())
            where = TextRange(whole.start + indent, whole.end)
            yield {
                "range": to_proto.json_range(where, lines, self._session.position_encoding),
                "severity": int(types.DiagnosticSeverity.Error),
                "code": f"test-{verdict}",
                "source": SOURCE,
                "message": message,
            }

    def _diagnostic(
        self, uri: str, finding: Finding, lines_of: LinesOf, members: _Members
    ) -> JsonObject:
        diagnostic: JsonObject = {
            "range": to_proto.json_range(finding.range, lines_of(uri), members.encoding),
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
    """The URI of the page about a diagnostic, a file that comes with the server."""
    return (_PAGES / f"{code}.md").as_uri()


class _Members(NamedTuple):
    """The optional members of a diagnostic that the client knows, and how it counts columns."""

    related: bool
    unnecessary: bool
    pages: bool
    encoding: PositionEncoding


def _members(session: Session) -> _Members:
    """The optional members that the client supports in pushed diagnostics, or (LSP 3.18) in pulled ones."""
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
