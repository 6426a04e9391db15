"""`textDocument/foldingRange`: tables, arrays, long strings and comments that can be folded.

Folds are made as plain JSON. A large file has thousands of them, and lsprotocol's objects, each
checked as it is made and read again to be sent, would take most of the time.
"""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.features.folding_range import Fold, folding
from axe_lsp.lsp.positions import OpenFile, open_file
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def on_folding_range(params: types.FoldingRangeParams) -> list[JsonObject] | None:
        opened = open_file(session, params.text_document)
        if opened is None:
            return None
        limit = session.client.capability("textDocument.foldingRange.rangeLimit")
        folds = folding(opened.file)[: limit if isinstance(limit, int) else None]
        if session.client.supports("textDocument.foldingRange.lineFoldingOnly"):
            return [
                {"startLine": fold.first_line, "endLine": fold.last_line, **_kind_of(fold)}
                for fold in folds
            ]
        return [_with_columns(fold, opened) for fold in folds]


def _with_columns(fold: Fold, opened: OpenFile) -> JsonObject:
    (first, column), (last, end) = (
        opened.lines.position(offset, opened.encoding) for offset in fold.range
    )
    return {
        "startLine": first,
        "startCharacter": column,
        "endLine": last,
        "endCharacter": end,
        **_kind_of(fold),
    }


def _kind_of(fold: Fold) -> JsonObject:
    return {"kind": types.FoldingRangeKind.Comment.value} if fold.is_comment else {}
