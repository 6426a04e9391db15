"""`textDocument/references` and `textDocument/documentHighlight`: the places that name an agent or use a skill."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.daemon.uris import canonical
from axe_lsp.features.document_link import skill_at
from axe_lsp.features.references import highlights, references
from axe_lsp.lsp.positions import Locations, position_of
from axe_lsp.lsp.session import Session


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: types.ReferenceParams) -> list[types.Location] | None:
        place = position_of(session, params)
        if place is None:
            return _skill_users(session, canonical(params.text_document.uri))
        locations, declared = Locations(session), params.context.include_declaration
        found = references(
            session.view.snapshot, place.file, place.offset, include_declaration=declared
        )
        if not found and (skill := skill_at(session.view.snapshot, place.file, place.offset)):
            return _skill_users(session, skill)
        return [locations.location(each.uri, each.range) for each in found] or None

    @session.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def on_document_highlight(
        params: types.DocumentHighlightParams,
    ) -> list[types.DocumentHighlight] | None:
        place = position_of(session, params)
        if place is None:
            return None
        kinds = types.DocumentHighlightKind
        return [
            types.DocumentHighlight(
                place.range(each.range),
                kinds.Write if each.is_declaration else kinds.Read,
            )
            for each in highlights(session.view.snapshot, place.file, place.offset)
        ] or None


def _skill_users(session: Session, uri: str) -> list[types.Location] | None:
    """Return the places that name a skill: the references in a SKILL.md, and those of the keys `skill` and `skills`."""
    locations = Locations(session)
    return [
        locations.location(file.uri, written.range)
        for file, written in session.view.queries.skill_users(uri, session.view.snapshot.files())
    ] or None
