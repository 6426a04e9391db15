"""`textDocument/semanticTokens`, encoded as in LSP 3.17, "Integer Encoding for Tokens"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding, TextRange
from axe_lsp.features.semantic_tokens import Token, TokenKind, semantic_tokens
from axe_lsp.lsp.positions import open_file
from axe_lsp.lsp.session import Session

_TYPES = {
    TokenKind.KEY: "property",
    TokenKind.TABLE: "type",
    TokenKind.AGENT: "class",
    TokenKind.TOOL: "function",
    TokenKind.PROVIDER: "namespace",
    TokenKind.CHOICE: "enumMember",
    TokenKind.UNKNOWN: "unresolvedReference",
}
"""LSP's own types, which all themes know, and the one that rust-analyzer has made common."""

_MODIFIERS = ["declaration"]
_LEGEND = {"tokenTypes": list(_TYPES.values()), "tokenModifiers": _MODIFIERS}
_NUMBERS = {kind: number for number, kind in enumerate(_TYPES)}


def register(session: Session) -> None:
    options = {"legend": _LEGEND, "full": True, "range": True}

    @session.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, options)
    def on_full(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return _tokens(session, params.text_document, None)

    @session.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
    def on_range(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        return _tokens(session, params.text_document, params.range)


def _tokens(
    session: Session, document: types.TextDocumentIdentifier, visible: types.Range | None
) -> types.SemanticTokens | None:
    opened = open_file(session, document)
    if opened is None:
        return None
    within = None if visible is None else opened.text_range(visible)
    tokens = semantic_tokens(opened.file, within)
    return types.SemanticTokens(_encoded(tokens, opened.lines, opened.encoding))


def _encoded(tokens: Iterable[Token], lines: LineIndex, encoding: PositionEncoding) -> list[int]:
    """Encode each token as five integers, relative to the token before (LSP 3.17, "Semantic Tokens")."""
    data: list[int] = []
    last_line = last_column = 0
    for token in tokens:
        modifiers = 1 if token.is_declaration else 0
        for piece in _pieces(token.range, lines):
            line, column = lines.position(piece.start, encoding)
            length = lines.position(piece.end, encoding)[1] - column
            before = last_column if line == last_line else 0
            data += (line - last_line, column - before, length, _NUMBERS[token.kind], modifiers)
            last_line, last_column = line, column
    return data


def _pieces(where: TextRange, lines: LineIndex) -> Iterator[TextRange]:
    """Split a range into its lines: few clients support tokens of several lines."""
    for line in range(lines.line_at(where.start), lines.line_at(where.end) + 1):
        bounds = lines.line_range(line)
        piece = TextRange(max(where.start, bounds.start), min(where.end, bounds.end))
        if piece.start < piece.end:
            yield piece
