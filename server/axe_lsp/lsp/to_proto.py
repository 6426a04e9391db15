"""From our words to LSP's: offsets become lines and columns of the session's encoding."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from axe_lsp.agentfile.text import LineIndex, PositionEncoding, TextRange
from axe_lsp.features.completion import Completion, CompletionKind
from axe_lsp.features.definition import Target
from axe_lsp.features.hover import Hover

AGENT_KIND = types.SymbolKind.Class
"""What editors show agents as, among symbols and in the call hierarchy."""

LinesOf = Callable[[str], LineIndex]
"""The lines of the file at a URI."""

_KINDS = {
    CompletionKind.KEY: types.CompletionItemKind.Property,
    CompletionKind.TABLE: types.CompletionItemKind.Module,
    CompletionKind.AGENT: types.CompletionItemKind.Reference,
    CompletionKind.TOOL: types.CompletionItemKind.Function,
    CompletionKind.MODEL: types.CompletionItemKind.Value,
    CompletionKind.CHOICE: types.CompletionItemKind.EnumMember,
}


def text_range(where: TextRange, lines: LineIndex, encoding: PositionEncoding) -> types.Range:
    """A range of offsets as LSP has it."""
    start = types.Position(*lines.position(where.start, encoding))
    end = types.Position(*lines.position(where.end, encoding))
    return types.Range(start, end)


def hover(found: Hover, lines: LineIndex, encoding: PositionEncoding) -> types.Hover:
    """An explanation."""
    content = types.MarkupContent(types.MarkupKind.Markdown, found.markdown)
    return types.Hover(content, text_range(found.range, lines, encoding))


def completion_item(
    offer: Completion,
    rank: int,
    lines: LineIndex,
    encoding: PositionEncoding,
    *,
    snippets: bool,
) -> types.CompletionItem:
    """An offer. `rank` keeps our order in clients that sort by themselves."""
    is_snippet = snippets and offer.snippet is not None
    text = offer.snippet if is_snippet and offer.snippet is not None else offer.text
    replace = text_range(offer.replace, lines, encoding)
    documentation = types.MarkupContent(types.MarkupKind.Markdown, offer.documentation)
    formats = types.InsertTextFormat
    return types.CompletionItem(
        label=offer.label,
        kind=_KINDS[offer.kind],
        detail=offer.detail or None,
        documentation=documentation if offer.documentation else None,
        sort_text=f"{rank:04}",
        filter_text=offer.text.strip() if offer.label not in offer.text else None,
        insert_text_format=formats.Snippet if is_snippet else formats.PlainText,
        text_edit=types.TextEdit(replace, text),
    )


def location(
    target: Target, lines: LineIndex, encoding: PositionEncoding, lines_of: LinesOf, *, link: bool
) -> types.Location | list[types.LocationLink]:
    """Where a name leads; as a link, which shows the whole name, for clients that know links."""
    there = text_range(target.range, lines_of(target.uri), encoding)
    if not link:
        return types.Location(target.uri, there)
    origin = text_range(target.origin, lines, encoding)
    return [types.LocationLink(target.uri, there, there, origin)]
