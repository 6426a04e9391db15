"""What findings tell of other files, as a client gets it.

Where agents hang together many findings tell of the same places, and with each keystroke again: the files that
nobody has open are not read from the disk each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_lsp.features.rule import Related
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.messages import JsonObject
from axe_lsp.lsp.to_proto import LinesOf
from axe_lsp.workspace.agent_file import AgentFile

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


class RelatedPlaces:
    """Those of one client. What was told of a closed file is kept until the file is another one."""

    def __init__(self, server: AxeServer) -> None:
        self._server = server
        self._told: dict[str, tuple[AgentFile, dict[Related, JsonObject]]] = {}

    def as_json(self, related: Related, lines_of: LinesOf) -> JsonObject:
        """A `DiagnosticRelatedInformation` (LSP 3.17)."""
        file = self._server.daemon.snapshot.file(related.uri)
        if file is None or file.open is not None:
            return self._new(related, lines_of)
        known, told = self._told.get(related.uri, (None, {}))
        if known is not file:
            told = {}
            self._told[related.uri] = file, told
        if related not in told:
            told[related] = self._new(related, lines_of)
        return told[related]

    def _new(self, related: Related, lines_of: LinesOf) -> JsonObject:
        lines, encoding = lines_of(related.uri), self._server.position_encoding
        return {
            "location": {
                "uri": self._server.opened.name(related.uri),
                "range": to_proto.json_range(related.range, lines, encoding),
            },
            "message": related.message,
        }
