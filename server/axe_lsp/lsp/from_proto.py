"""From LSP's words to ours."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types

from axe_lsp.agentfile.text import LineIndex, PositionEncoding, TextRange
from axe_lsp.features.diagnostics import Severities
from axe_lsp.features.rule import Severity

_SEVERITIES: Mapping[str, Severity | None] = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "information": Severity.INFORMATION,
    "hint": Severity.HINT,
    "off": None,
}


def severities(setting: Mapping[str, str]) -> Severities:
    """The setting `axe.diagnostics`."""
    return {code: _SEVERITIES[name] for code, name in setting.items()}


def text_range(where: types.Range, lines: LineIndex, encoding: PositionEncoding) -> TextRange:
    """A range of a document with these lines, in offsets; one that runs backwards is turned."""
    ends = (where.start, where.end)
    start, end = sorted(lines.offset(each.line, each.character, encoding) for each in ends)
    return TextRange(start, end)
