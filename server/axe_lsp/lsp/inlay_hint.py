"""Inlay hints: text of ours between the user's."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.agentfile.text import LineIndex, PositionEncoding, TextRange
from axe_lsp.features.inlay_hints import InlayHint, inlay_hints
from axe_lsp.features.outside_hints import outside_hints
from axe_lsp.lsp import from_proto, to_proto
from axe_lsp.lsp.positions import open_file

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer hints, unless the setting `axe.inlayHints` is off."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, {"resolveProvider": False})
    def on_inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        file = open_file(server, params.text_document)
        if file is None or file.open is None or not server.view.settings.inlay_hints:
            return None
        lines, encoding = file.open.parse.lines, server.position_encoding
        within = from_proto.text_range(params.range, lines, encoding)
        found = [
            *inlay_hints(file, within),
            *outside_hints(server.view.snapshot, file, within),
        ]
        return [_hint(each, lines, encoding) for each in found]


def refresh(server: AxeServer) -> None:
    """Have the client ask again, if it can be told."""
    if server.client.supports("workspace.inlayHint.refreshSupport"):
        server.start(_refresh(server), name="refreshing inlay hints")


async def _refresh(server: AxeServer) -> None:
    with suppress(JsonRpcException):  # A client that refuses shows old hints until the next edit.
        await server.request(types.WORKSPACE_INLAY_HINT_REFRESH)


def _hint(hint: InlayHint, lines: LineIndex, encoding: PositionEncoding) -> types.InlayHint:
    place = to_proto.text_range(TextRange(hint.place, hint.place), lines, encoding)
    return types.InlayHint(
        position=types.Position(*lines.position(hint.offset, encoding)),
        label=hint.label,
        text_edits=[types.TextEdit(place, hint.text)] if hint.text else None,
        tooltip=types.MarkupContent(types.MarkupKind.Markdown, hint.tooltip),
        padding_left=True,
    )
