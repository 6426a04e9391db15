"""What there is to say about a file, in LSP's words as far as the client knows them.

As plain JSON: a report is compared with the last one, and told apart by what it holds.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types

import axe_lsp
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.rule import Finding
from axe_lsp.lsp import from_proto, to_proto
from axe_lsp.lsp.to_proto import LinesOf
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.json_rpc import JsonObject
from axe_lsp.workspace.places import Scope

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

SOURCE = "axe-lsp"

_PAGES = Path(axe_lsp.__file__).parent / "pages"
"""One page per diagnostic, written by docs/generate.py."""


def findings(server: AxeServer, uri: str) -> list[JsonObject]:
    """The diagnostics of a file. One that nobody has open is reported if it lies in the workspace."""
    snapshot = server.view.snapshot
    file = snapshot.file(uri)
    if file is None or (file.open is None and file.place.scope is not Scope.WORKSPACE):
        return []
    severities = from_proto.severities(server.view.settings.diagnostics)
    found = diagnostics(snapshot, file, severities)
    if not found:
        return []
    # Those of a file that nobody has open are read from the disk; many findings name the same files.
    lines_of, words = cache(server.view.lines), _words(server.client)
    return [_diagnostic(server, uri, each, lines_of, words) for each in found]


@cache
def page(code: str) -> str:
    """The URI of what there is to read about a diagnostic: a file that came with the server."""
    return (_PAGES / f"{code}.md").as_uri()


class _Words(NamedTuple):
    """What a client can make of a diagnostic besides its message."""

    related: bool
    unnecessary: bool
    pages: bool


def _words(client: Client) -> _Words:
    """As it says for diagnostics that are pushed, or (LSP 3.18) for those that it pulls."""

    def offered(name: str) -> list[Any]:
        places = ("publishDiagnostics", "diagnostic")
        return [client.capability(f"textDocument.{place}.{name}") for place in places]

    tags = [tag for known in offered("tagSupport.valueSet") if known for tag in known]
    return _Words(
        related=True in offered("relatedInformation"),
        unnecessary=types.DiagnosticTag.Unnecessary in tags,
        pages=True in offered("codeDescriptionSupport"),
    )


def _diagnostic(
    server: AxeServer, uri: str, finding: Finding, lines_of: LinesOf, words: _Words
) -> JsonObject:
    diagnostic: JsonObject = {
        "range": to_proto.json_range(finding.range, lines_of(uri), server.position_encoding),
        "severity": int(finding.severity),
        "code": finding.code,
        "source": SOURCE,
        "message": finding.message,
    }
    if words.pages:
        diagnostic["codeDescription"] = {"href": page(finding.code)}
    if words.unnecessary and finding.unnecessary:
        diagnostic["tags"] = [int(types.DiagnosticTag.Unnecessary)]
    if words.related and finding.related:
        told = server.related_places
        diagnostic["relatedInformation"] = [
            told.as_json(each, uri, lines_of) for each in finding.related
        ]
    return diagnostic
