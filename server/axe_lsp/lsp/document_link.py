"""Where paths lead: document links, and the targets for "go to definition"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from axe_lsp.features.paths import document_links, path_targets
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.positions import Position, open_file

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer links to the client of `server`."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, {"resolveProvider": False})
    def on_document_link(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        file = open_file(server, params.text_document)
        if file is None or file.open is None:
            return None
        lines, encoding = file.open.parse.lines, server.position_encoding
        return [
            types.DocumentLink(
                to_proto.text_range(each.origin, lines, encoding), each.uri, each.shown
            )
            for each in document_links(server.view.snapshot, file)
        ]


def path_locations(
    server: AxeServer, place: Position
) -> list[types.Location] | list[types.LocationLink] | None:
    """The files that the string at a position leads to, at their beginnings."""
    found = path_targets(server.view.snapshot, place.file, place.offset)
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    if not server.client.supports("textDocument.definition.linkSupport"):
        return [types.Location(server.opened.name(each.uri), start) for each in found] or None
    return [
        types.LocationLink(
            server.opened.name(each.uri),
            start,
            start,
            to_proto.text_range(each.origin, place.lines, server.position_encoding),
        )
        for each in found
    ] or None
