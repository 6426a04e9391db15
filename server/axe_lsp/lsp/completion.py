"""`textDocument/completion`: what the client can show of an offer, and when it should ask again.

The answer is made of structs, which msgspec writes in one go: each keystroke may ask for hundreds of offers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.completion.fuzzy import MOST
from axe_lsp.features.completion.item import Completion, CompletionKind
from axe_lsp.features.completion.model_offers import is_about_ollama
from axe_lsp.features.completion.path_offers import path_offers, path_typed
from axe_lsp.lsp.hover import plain_text
from axe_lsp.lsp.positions import Position, position_of
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.client import Client
from axe_lsp.serving.json_rpc import Wire

_TRIGGERS = ['"', "'", "[", "=", ".", "/"]

_KINDS = {
    CompletionKind.KEY: types.CompletionItemKind.Property.value,
    CompletionKind.TABLE: types.CompletionItemKind.Module.value,
    CompletionKind.AGENT: types.CompletionItemKind.Reference.value,
    CompletionKind.TOOL: types.CompletionItemKind.Function.value,
    CompletionKind.MODEL: types.CompletionItemKind.Value.value,
    CompletionKind.CHOICE: types.CompletionItemKind.EnumMember.value,
    CompletionKind.PATH: types.CompletionItemKind.File.value,
}
_FOLDER = types.CompletionItemKind.Folder.value

_SNIPPET = types.InsertTextFormat.Snippet.value
_PLAIN_TEXT = types.InsertTextFormat.PlainText.value


class Place(Wire, frozen=True):
    """A `Position` of LSP."""

    line: int
    character: int


class Span(Wire, frozen=True):
    """A `Range` of LSP."""

    start: Place
    end: Place


class Edit(Wire, frozen=True):
    """A `TextEdit` of LSP, or an `InsertReplaceEdit`."""

    new_text: str
    range: Span | None = None
    insert: Span | None = None
    replace: Span | None = None


class Documentation(Wire, frozen=True):
    """`MarkupContent` of LSP."""

    kind: str
    value: str


class Item(Wire, frozen=True):
    """A `CompletionItem` of LSP."""

    label: str
    kind: int
    sort_text: str
    insert_text_format: int
    text_edit: Edit
    detail: str = ""
    documentation: Documentation | None = None
    filter_text: str = ""
    commit_characters: list[str] | None = None


class Offers(Wire, frozen=True):
    """A `CompletionList` of LSP."""

    is_incomplete: bool
    items: list[Item]


RangeOf = Callable[[TextRange], Span]
"""Converts a range of offsets to the client's positions."""


class Abilities(NamedTuple):
    """The kinds of offers that the client supports."""

    snippets: bool
    inserts_or_replaces: bool
    commit_characters: bool
    markdown: bool


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_COMPLETION, {"triggerCharacters": _TRIGGERS})
    def on_completion(params: types.CompletionParams) -> Offers:
        place = position_of(session, params)
        if place is None or _has_just_opened_a_list(params.context, place):
            return Offers(is_incomplete=False, items=[])
        snapshot = session.view.snapshot
        ollama = session.daemon.ollama if is_about_ollama(place.file, place.offset) else None
        installed = ollama.models() if ollama is not None else ()
        found = completion(snapshot, place.file, place.offset, installed)
        paths, all_paths = _paths(session, place)
        found = [*found, *paths]
        can = _abilities(session.client)

        spans: dict[TextRange, Span] = {}  # Nearly all offers are for the same place.

        def range_of(where: TextRange) -> Span:
            if where not in spans:
                ends = (place.lines.position(offset, place.encoding) for offset in where)
                spans[where] = Span(*(Place(*each) for each in ends))
            return spans[where]

        items = [_item(place, offer, rank, can, range_of) for rank, offer in enumerate(found)]
        # While the folders are being read, agents and their models are missing.
        is_late = not snapshot.is_settled(place.file.place) or (
            ollama is not None and ollama.is_asked
        )
        is_cut = len(found) >= MOST - 1  # The agent itself is not offered.
        return Offers(is_incomplete=is_late or is_cut or not all_paths, items=items)


def _has_just_opened_a_list(context: types.CompletionContext | None, place: Position) -> bool:
    """Return whether a bracket was typed that opens an array, not a header.

    The next key is often Enter then, which would accept an offer.
    """
    if context is None or context.trigger_character != "[":
        return False
    line = place.lines.line_range(place.lines.line_at(place.offset))
    before = TextRange(line.start, place.offset)
    return place.lines.text_of(before).strip() not in ("[", "[[")


def _paths(session: Session, place: Position) -> tuple[list[Completion], bool]:
    """Return the offers for a path that is being typed, and whether they are complete."""
    typed = path_typed(place.file, place.offset)
    if typed is None:
        return [], True
    listing = session.view.queries.listing(place.file, typed)
    return path_offers(typed, listing), listing.is_complete


def _abilities(client: Client) -> Abilities:
    item = "textDocument.completion.completionItem"
    return Abilities(
        client.supports(f"{item}.snippetSupport"),
        client.supports(f"{item}.insertReplaceSupport"),
        client.supports(f"{item}.commitCharactersSupport"),
        client.shows_markdown(f"{item}.documentationFormat"),
    )


def _item(place: Position, offer: Completion, rank: int, can: Abilities, range_of: RangeOf) -> Item:
    """Return an offer as LSP has it. `rank` keeps our order in clients that sort."""
    is_snippet = can.snippets and offer.snippet is not None
    return Item(
        label=offer.label,
        kind=_kind(offer),
        sort_text=f"{rank:04}",
        insert_text_format=_SNIPPET if is_snippet else _PLAIN_TEXT,
        text_edit=_edit(place, offer, can, range_of),
        detail=offer.detail,
        documentation=_documentation(offer.documentation, can) if offer.documentation else None,
        filter_text=offer.typed_as,
        commit_characters=list(offer.commit) if offer.commit and can.commit_characters else None,
    )


def _kind(offer: Completion) -> int:
    is_folder = offer.kind is CompletionKind.PATH and offer.label.endswith("/")
    return _FOLDER if is_folder else _KINDS[offer.kind]


def _edit(place: Position, offer: Completion, can: Abilities, range_of: RangeOf) -> Edit:
    """Return the edit of an offer, or its insert and replace variants where the client supports both."""
    whole = range_of(offer.replace)
    if can.snippets and offer.snippet is not None:
        return Edit(offer.snippet, whole)
    if not can.inserts_or_replaces or offer.replace.end == place.offset:
        return Edit(offer.text, whole)
    before = range_of(TextRange(offer.replace.start, place.offset))
    return Edit(offer.text, insert=before, replace=whole)


def _documentation(markdown: str, can: Abilities) -> Documentation:
    if can.markdown:
        return Documentation("markdown", markdown)
    return Documentation("plaintext", plain_text(markdown))
