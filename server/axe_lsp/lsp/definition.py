"""`textDocument/definition`: the file of an agent that is named, or the file that a path leads to."""

from __future__ import annotations

from typing import TypeAlias

from lsprotocol import types

from axe_lsp.features.definition import definition
from axe_lsp.features.document_link import path_targets
from axe_lsp.lsp.positions import Locations, Position, position_of
from axe_lsp.lsp.session import Session

_Answer: TypeAlias = types.Location | list[types.Location] | list[types.LocationLink] | None

_KNOWS_LINKS = "textDocument.definition.linkSupport"


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: types.DefinitionParams) -> _Answer:
        place = position_of(session, params)
        if place is None:
            return None
        target = definition(session.view.snapshot, place.file, place.offset)
        if target is None:
            return _path_locations(session, place)
        there = Locations(session).location(target.uri, target.range)
        if not session.client.supports(_KNOWS_LINKS):
            return there
        # A link shows the whole name.
        origin = place.range(target.origin)
        return [types.LocationLink(there.uri, there.range, there.range, origin)]


def _path_locations(session: Session, place: Position) -> _Answer:
    """Return the beginnings of the files that the string at a position leads to."""
    found = path_targets(session.view.snapshot, place.file, place.offset)
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    if not session.client.supports(_KNOWS_LINKS):
        return [types.Location(session.opened.name(each.uri), start) for each in found] or None
    return [
        types.LocationLink(
            session.opened.name(each.uri),
            start,
            start,
            place.range(each.origin),
        )
        for each in found
    ] or None
