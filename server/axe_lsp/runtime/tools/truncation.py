"""Results that are too long for a conversation, cut where a line ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from axe_lsp.runtime.plain_text import harmless
from axe_lsp.runtime.tools.tool import MAX_OUTPUT

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""And other things that terminals obey: moves of the cursor, titles of windows."""


def capped_lines(lines: Iterable[str], how_to_go_on: str = "") -> str:
    """As many lines as fit. If that is not all, a last line says so, and how to get the rest."""
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > MAX_OUTPUT + 1:
            return "\n".join([*kept, _cut_off(how_to_go_on)])
        kept.append(line)
    return "\n".join(kept)


def capped_text(data: bytes, is_all: bool) -> str:
    """The beginning of an output as text, and a last line if there was more of it."""
    text = data.decode("utf-8", "replace")
    return text if is_all else f"{text}\n{_cut_off()}"


def capped_end(text: str, is_all: bool) -> str:
    """The end of what a terminal has shown, without colours, and a first line if there was more of it."""
    plain = harmless(_COLOURS.sub("", text))
    data = plain.encode("utf-8", "replace")
    if len(data) > MAX_OUTPUT:
        plain, is_all = data[-MAX_OUTPUT:].decode("utf-8", "ignore"), False
    return plain if is_all else f"{_cut_off()}\n{plain}"


def _cut_off(how_to_go_on: str = "") -> str:
    advice = f"; {how_to_go_on}" if how_to_go_on else ""
    return f"... [output truncated, exceeded 100KB{advice}]"
