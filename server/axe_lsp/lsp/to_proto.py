"""From our types to LSP's: offsets become lines and columns of the session's encoding."""

from __future__ import annotations

import re
from collections.abc import Callable

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding, TextRange
from axe_lsp.features.hover import Hover
from axe_lsp.serving.json_rpc import JsonObject

AGENT_KIND = types.SymbolKind.Class
"""The kind of agents, among symbols and in the call hierarchy."""

LinesOf = Callable[[str], LineIndex]
"""The lines of the file at a URI."""

_MARKS = re.compile(
    r"\*\*(?P<bold>(?:`[^`\n]*`|[^`*\n])+)\*\*"
    r"|`(?P<code>[^`\n]*)`"
    r"|(?<![*\w])\*(?P<italic>[^*\s][^*\n]*)\*(?![*\w])"
)
_FENCE = re.compile(r"^```.*(?:\n|\Z)", re.MULTILINE)


def text_range(where: TextRange, lines: LineIndex, encoding: PositionEncoding) -> types.Range:
    """A range of offsets as LSP has it."""
    start = types.Position(*lines.position(where.start, encoding))
    end = types.Position(*lines.position(where.end, encoding))
    return types.Range(start, end)


def json_range(where: TextRange, lines: LineIndex, encoding: PositionEncoding) -> JsonObject:
    """The same as plain JSON, for answers with hundreds of them."""
    start, first = lines.position(where.start, encoding)
    if where.end < lines.start_of(start + 1) and lines.text.isascii():
        end, last = start, first + where.end - where.start  # As nearly always, in half the time.
    else:
        end, last = lines.position(where.end, encoding)
    return {"start": {"line": start, "character": first}, "end": {"line": end, "character": last}}


def explanation(text: str, *, markdown: bool) -> types.MarkupContent:
    """Our Markdown, or plain text for clients that show no Markdown."""
    if markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.MarkupContent(types.MarkupKind.PlainText, plain_text(text))


def hover(
    found: Hover, lines: LineIndex, encoding: PositionEncoding, *, markdown: bool
) -> types.Hover:
    """An explanation at its place."""
    content = explanation(found.markdown, markdown=markdown)
    return types.Hover(content, text_range(found.range, lines, encoding))


def plain_text(markdown: str) -> str:
    """Our Markdown without emphasis, code spans and fences, for clients that show plain text only.

    Text in code spans, such as a glob with its stars, stays as it is.
    """
    return _MARKS.sub(_inside, _FENCE.sub("", markdown))


def _inside(match: re.Match[str]) -> str:
    code = match["code"]
    return code if code is not None else _MARKS.sub(_inside, match["bold"] or match["italic"])
