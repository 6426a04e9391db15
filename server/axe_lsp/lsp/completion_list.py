"""The answer to `textDocument/completion` as it is sent: structs, which msgspec writes in one go."""

from __future__ import annotations

from axe_lsp.rpc.json_rpc import Wire


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
