"""Hover and definition: plain functions of the snapshot, with positions translated both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from axe_lsp.features.definition import definition
from axe_lsp.features.hover import hover
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.document_link import path_locations
from axe_lsp.lsp.locations import Locations
from axe_lsp.lsp.positions import position_of

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer the features to the client of `server`."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        place = position_of(server, params)
        if place is None:
            return None
        found = hover(server.view.snapshot, place.file, place.offset)
        if found is None:
            return None
        markdown = server.client.shows_markdown("textDocument.hover.contentFormat")
        return to_proto.hover(found, place.lines, server.position_encoding, markdown=markdown)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def on_definition(
        params: types.DefinitionParams,
    ) -> types.Location | list[types.Location] | list[types.LocationLink] | None:
        place = position_of(server, params)
        if place is None:
            return None
        target = definition(server.view.snapshot, place.file, place.offset)
        if target is None:
            return path_locations(server, place)
        there = Locations(server).location(target.uri, target.range)
        if not server.client.supports("textDocument.definition.linkSupport"):
            return there
        # A link shows the whole name.
        origin = to_proto.text_range(target.origin, place.lines, server.position_encoding)
        return [types.LocationLink(there.uri, there.range, there.range, origin)]
