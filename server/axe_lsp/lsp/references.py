"""Where agents are named: in all files, and in the one that is being looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from axe_lsp.daemon.uris import canonical
from axe_lsp.features.paths import skill_at
from axe_lsp.features.references import highlights, references
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.locations import Locations
from axe_lsp.lsp.positions import position_of

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer the features to the client of `server`."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: types.ReferenceParams) -> list[types.Location] | None:
        place = position_of(server, params)
        if place is None:
            return _skill_users(server, canonical(params.text_document.uri))
        locations, declared = Locations(server), params.context.include_declaration
        found = references(
            server.view.snapshot, place.file, place.offset, include_declaration=declared
        )
        if not found and (skill := skill_at(server.view.snapshot, place.file, place.offset)):
            return _skill_users(server, skill)
        return [locations.location(each.uri, each.range) for each in found] or None

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def on_document_highlight(
        params: types.DocumentHighlightParams,
    ) -> list[types.DocumentHighlight] | None:
        place = position_of(server, params)
        if place is None:
            return None
        kinds, encoding = types.DocumentHighlightKind, server.position_encoding
        return [
            types.DocumentHighlight(
                to_proto.text_range(each.range, place.lines, encoding),
                kinds.Write if each.is_declaration else kinds.Read,
            )
            for each in highlights(server.view.snapshot, place.file, place.offset)
        ] or None


def _skill_users(server: AxeServer, uri: str) -> list[types.Location] | None:
    """The agents that use a skill: what references lead to in a SKILL.md, and in `skill`."""
    locations = Locations(server)
    return [
        locations.location(file.uri, file.outside.skill.range)
        for file in server.view.inquiries.skill_users(uri, server.view.snapshot.files())
        if file.outside.skill is not None
    ] or None
