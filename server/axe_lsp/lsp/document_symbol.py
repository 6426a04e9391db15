"""What shows the structure of a file: outline, folding, growing selections.

Outlines and folds are made as plain JSON. A large file has thousands of them, and lsprotocol's
objects, each checked as it is made and read again to be sent, would take most of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from axe_lsp.agentfile.text import LineIndex, PositionEncoding, TextRange
from axe_lsp.features.document_symbols import Symbol, SymbolKind, document_symbols
from axe_lsp.features.folding import Fold, folding
from axe_lsp.features.selection import selections
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.positions import open_file
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer the features to the client of `server`."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_document_symbol(params: types.DocumentSymbolParams) -> list[JsonObject] | None:
        file = open_file(server, params.text_document)
        return _outline(server, file, params.text_document.uri) if file is not None else None

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def on_folding_range(params: types.FoldingRangeParams) -> list[JsonObject] | None:
        file = open_file(server, params.text_document)
        return _folds(server, file) if file is not None else None

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    def on_selection_range(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        file = open_file(server, params.text_document)
        if file is None:
            return None
        return [_chain(server, file, position) for position in params.positions]


# -- outline

_HIERARCHY = "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"
_KNOWN_KINDS = "textDocument.documentSymbol.symbolKind.valueSet"

_FIRST_KINDS = range(types.SymbolKind.File, types.SymbolKind.Array + 1)
"""Those that clients know which name none (LSP 3.17, DocumentSymbolClientCapabilities)."""

_KINDS = {
    SymbolKind.TABLE: (types.SymbolKind.Object, types.SymbolKind.Module),
    SymbolKind.ARRAY: (types.SymbolKind.Array, types.SymbolKind.Array),
    SymbolKind.STRING: (types.SymbolKind.String, types.SymbolKind.String),
    SymbolKind.NUMBER: (types.SymbolKind.Number, types.SymbolKind.Number),
    SymbolKind.BOOLEAN: (types.SymbolKind.Boolean, types.SymbolKind.Boolean),
    SymbolKind.KEY: (types.SymbolKind.Key, types.SymbolKind.Property),
}
"""What fits best, and what every client knows."""


def _outline(server: AxeServer, file: AgentFile, uri: str) -> list[JsonObject]:
    assert file.open is not None
    outline = _Outline(server.client, file.open.parse.lines, server.position_encoding)
    symbols = document_symbols(file)
    if server.client.supports(_HIERARCHY):
        return [outline.tree(symbol) for symbol in symbols]
    return list(outline.flat(symbols, uri))


class _Outline:
    """Outlines for one client."""

    def __init__(self, client: Client, lines: LineIndex, encoding: PositionEncoding) -> None:
        known = client.capability(_KNOWN_KINDS)
        self._known = known if isinstance(known, list) else _FIRST_KINDS
        self._lines, self._encoding = lines, encoding

    def tree(self, symbol: Symbol) -> JsonObject:
        """A DocumentSymbol."""
        return {
            "name": symbol.name,
            "kind": self._kind(symbol),
            "range": self._range(symbol.range),
            "selectionRange": self._range(symbol.selection),
            **({"detail": symbol.detail} if symbol.detail else {}),
            "children": [self.tree(child) for child in symbol.children],
        }

    def flat(
        self, symbols: Iterable[Symbol], uri: str, container: JsonObject | None = None
    ) -> Iterator[JsonObject]:
        """SymbolInformation for each symbol and its children."""
        for symbol in symbols:
            yield {
                "name": symbol.name,
                "kind": self._kind(symbol),
                "location": {"uri": uri, "range": self._range(symbol.range)},
                **(container or {}),
            }
            yield from self.flat(symbol.children, uri, {"containerName": symbol.name})

    def _range(self, where: TextRange) -> JsonObject:
        (first, column), (last, end) = (
            self._lines.position(offset, self._encoding) for offset in where
        )
        return {
            "start": {"line": first, "character": column},
            "end": {"line": last, "character": end},
        }

    def _kind(self, symbol: Symbol) -> int:
        best, safe = _KINDS[symbol.kind]
        return best.value if best in self._known else safe.value


# -- folding


def _folds(server: AxeServer, file: AgentFile) -> list[JsonObject]:
    assert file.open is not None
    limit = server.client.capability("textDocument.foldingRange.rangeLimit")
    folds = folding(file)[: limit if isinstance(limit, int) else None]
    if server.client.supports("textDocument.foldingRange.lineFoldingOnly"):
        return [_lines_only(fold) for fold in folds]
    lines, encoding = file.open.parse.lines, server.position_encoding
    return [_with_columns(fold, lines, encoding) for fold in folds]


def _lines_only(fold: Fold) -> JsonObject:
    return {"startLine": fold.first_line, "endLine": fold.last_line, **_kind_of(fold)}


def _with_columns(fold: Fold, lines: LineIndex, encoding: PositionEncoding) -> JsonObject:
    start, end = (lines.position(offset, encoding) for offset in fold.range)
    return {
        "startLine": start[0],
        "startCharacter": start[1],
        "endLine": end[0],
        "endCharacter": end[1],
        **_kind_of(fold),
    }


def _kind_of(fold: Fold) -> JsonObject:
    return {"kind": types.FoldingRangeKind.Comment.value} if fold.is_comment else {}


# -- growing selections


def _chain(server: AxeServer, file: AgentFile, position: types.Position) -> types.SelectionRange:
    assert file.open is not None
    lines, encoding = file.open.parse.lines, server.position_encoding
    offset = lines.offset(position.line, position.character, encoding)
    outermost, *inner = reversed(selections(file, offset))
    chain = types.SelectionRange(to_proto.text_range(outermost, lines, encoding))
    for where in inner:
        chain = types.SelectionRange(to_proto.text_range(where, lines, encoding), chain)
    return chain
