"""Completion: what the client can show of an offer, and when it should ask again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types

from axe_lsp.agentfile.text import TextRange
from axe_lsp.features.completion import completion
from axe_lsp.features.model_offers import is_about_ollama
from axe_lsp.features.offer import Completion, CompletionKind
from axe_lsp.features.path_offers import path_offers, path_typed
from axe_lsp.features.shortlist import MOST
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.client import Client
from axe_lsp.lsp.messages import JsonObject
from axe_lsp.lsp.positions import Position, position_of

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_TRIGGERS = ['"', "'", "[", "=", ".", "/"]

_KINDS = {
    CompletionKind.KEY: types.CompletionItemKind.Property,
    CompletionKind.TABLE: types.CompletionItemKind.Module,
    CompletionKind.AGENT: types.CompletionItemKind.Reference,
    CompletionKind.TOOL: types.CompletionItemKind.Function,
    CompletionKind.MODEL: types.CompletionItemKind.Value,
    CompletionKind.CHOICE: types.CompletionItemKind.EnumMember,
    CompletionKind.PATH: types.CompletionItemKind.File,
}


RangeOf = Callable[[TextRange], JsonObject]
"""What a range is to the client."""


class Abilities(NamedTuple):
    """What the client knows to do with an offer."""

    snippets: bool
    inserts_or_replaces: bool
    commit_characters: bool
    markdown: bool


def register(server: AxeServer) -> None:
    """Offer completion to the client of `server`."""

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        {"triggerCharacters": _TRIGGERS},
    )
    def on_completion(params: types.CompletionParams) -> JsonObject:
        place = position_of(server, params)
        if place is None or _has_just_opened_a_list(params.context, place):
            return {"isIncomplete": False, "items": []}
        snapshot = server.daemon.snapshot
        ollama = server.daemon.ollama if is_about_ollama(place.file, place.offset) else None
        installed = ollama.models() if ollama is not None else ()
        found = completion(snapshot, place.file, place.offset, installed)
        paths, all_paths = _paths(server, place)
        found = [*found, *paths]
        can = _abilities(server.client)

        @cache  # Nearly all offers are for the same place.
        def range_of(where: TextRange) -> JsonObject:
            return to_proto.json_range(where, place.lines, server.position_encoding)

        items = [_item(place, offer, rank, can, range_of) for rank, offer in enumerate(found)]
        # While the folders are being read, agents and their models are missing.
        is_late = not snapshot.is_settled(place.file.place) or (
            ollama is not None and ollama.is_asked
        )
        is_cut = len(found) >= MOST - 1  # The agent itself is not offered.
        return {"isIncomplete": is_late or is_cut or not all_paths, "items": items}


def _has_just_opened_a_list(context: types.CompletionContext | None, place: Position) -> bool:
    """Whether a bracket was typed that is no header's.

    The next key is Enter then as often as not, and would take an offer.
    """
    if context is None or context.trigger_character != "[":
        return False
    line = place.lines.line_range(place.lines.line_at(place.offset))
    before = TextRange(line.start, place.offset)
    return place.lines.text_of(before).strip() not in ("[", "[[")


def _paths(server: AxeServer, place: Position) -> tuple[list[Completion], bool]:
    """Offers for a path that is being typed, and whether there are no others."""
    typed = path_typed(place.file, place.offset)
    if typed is None:
        return [], True
    listing = server.daemon.inquiries.listing(place.file, typed)
    return path_offers(typed, listing), listing.is_complete


def _abilities(client: Client) -> Abilities:
    item = "textDocument.completion.completionItem"
    return Abilities(
        client.supports(f"{item}.snippetSupport"),
        client.supports(f"{item}.insertReplaceSupport"),
        client.supports(f"{item}.commitCharactersSupport"),
        client.shows_markdown(f"{item}.documentationFormat"),
    )


def _item(
    place: Position, offer: Completion, rank: int, can: Abilities, range_of: RangeOf
) -> JsonObject:
    """An offer, as plain JSON: there may be hundreds. `rank` keeps our order in clients that sort."""
    is_snippet = can.snippets and offer.snippet is not None
    formats = types.InsertTextFormat
    item: JsonObject = {
        "label": offer.label,
        "kind": int(_kind(offer)),
        "sortText": f"{rank:04}",
        "insertTextFormat": int(formats.Snippet if is_snippet else formats.PlainText),
        "textEdit": _edit(place, offer, can, range_of),
    }
    if offer.detail:
        item["detail"] = offer.detail
    if offer.documentation:
        item["documentation"] = _documentation(offer.documentation, can)
    if offer.typed_as:
        item["filterText"] = offer.typed_as
    if offer.commit and can.commit_characters:
        item["commitCharacters"] = list(offer.commit)
    return item


def _kind(offer: Completion) -> types.CompletionItemKind:
    is_folder = offer.kind is CompletionKind.PATH and offer.label.endswith("/")
    return types.CompletionItemKind.Folder if is_folder else _KINDS[offer.kind]


def _edit(place: Position, offer: Completion, can: Abilities, range_of: RangeOf) -> JsonObject:
    """Where the client asks users whether the rest of a word stays, both edits of a plain word."""
    whole = range_of(offer.replace)
    if can.snippets and offer.snippet is not None:
        return {"range": whole, "newText": offer.snippet}
    if not can.inserts_or_replaces or offer.replace.end == place.offset:
        return {"range": whole, "newText": offer.text}
    before = range_of(TextRange(offer.replace.start, place.offset))
    return {"newText": offer.text, "insert": before, "replace": whole}


def _documentation(markdown: str, can: Abilities) -> JsonObject:
    content = to_proto.explanation(markdown, markdown=can.markdown)
    return {"kind": content.kind.value, "value": content.value}
