"""From LSP's types and the client's settings to ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lsprotocol import types

from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding, TextRange
from axe_lsp.features.rules import RULES


def unknown_codes(setting: Mapping[str, str]) -> Iterator[str]:
    """A sentence about each code in `axe.diagnostics` that no rule has."""
    codes = [rule.code for rule in RULES]
    for code in setting:
        if code not in codes:
            meant = nearest(code, codes)
            hint = f"; did you mean `{meant}`?" if meant is not None else ""
            yield f"the setting axe.diagnostics names `{code}`, which is not a diagnostic code{hint}"


def text_range(where: types.Range, lines: LineIndex, encoding: PositionEncoding) -> TextRange:
    """A range of a document with these lines, in offsets; one that runs backwards is turned."""
    ends = (where.start, where.end)
    start, end = sorted(lines.offset(each.line, each.character, encoding) for each in ends)
    return TextRange(start, end)
