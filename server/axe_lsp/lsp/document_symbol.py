"""`textDocument/documentSymbol`: the outline of a file.

Made as plain JSON. A large file has thousands of symbols, and lsprotocol's objects, each checked as
it is made and read again to be sent, would take most of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from axe_lsp.features.document_symbol import Symbol, SymbolKind, document_symbols
from axe_lsp.lsp.positions import OpenFile, open_file
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.client import Client
from axe_lsp.serving.json_rpc import JsonObject


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_document_symbol(params: types.DocumentSymbolParams) -> list[JsonObject] | None:
        opened = open_file(session, params.text_document)
        if opened is None:
            return None
        outline, symbols = _Outline(session.client, opened), document_symbols(opened.file)
        if session.client.supports(_HIERARCHY):
            return [outline.tree(symbol) for symbol in symbols]
        return list(outline.flat(symbols, params.text_document.uri))


_HIERARCHY = "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"
_KNOWN_KINDS = "textDocument.documentSymbol.symbolKind.valueSet"

_FIRST_KINDS = range(types.SymbolKind.File, types.SymbolKind.Array + 1)
"""The kinds known to clients that list none (LSP 3.17, DocumentSymbolClientCapabilities)."""

_KINDS = {
    SymbolKind.TABLE: (types.SymbolKind.Object, types.SymbolKind.Module),
    SymbolKind.ARRAY: (types.SymbolKind.Array, types.SymbolKind.Array),
    SymbolKind.STRING: (types.SymbolKind.String, types.SymbolKind.String),
    SymbolKind.NUMBER: (types.SymbolKind.Number, types.SymbolKind.Number),
    SymbolKind.BOOLEAN: (types.SymbolKind.Boolean, types.SymbolKind.Boolean),
    SymbolKind.KEY: (types.SymbolKind.Key, types.SymbolKind.Property),
}
"""The kind that fits best, and the one that every client knows."""


class _Outline:
    """Outlines for one client."""

    def __init__(self, client: Client, opened: OpenFile) -> None:
        known = client.capability(_KNOWN_KINDS)
        self._known = known if isinstance(known, list) else _FIRST_KINDS
        self._range = opened.json_range

    def tree(self, symbol: Symbol) -> JsonObject:
        """Return a DocumentSymbol."""
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
        """Yield a SymbolInformation for each symbol and its children."""
        for symbol in symbols:
            yield {
                "name": symbol.name,
                "kind": self._kind(symbol),
                "location": {"uri": uri, "range": self._range(symbol.range)},
                **(container or {}),
            }
            yield from self.flat(symbol.children, uri, {"containerName": symbol.name})

    def _kind(self, symbol: Symbol) -> int:
        best, safe = _KINDS[symbol.kind]
        return best.value if best in self._known else safe.value
