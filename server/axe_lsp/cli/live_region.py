"""The last lines of a terminal, drawn again and again in place.

The cursor rests below them, at the start of a line, and is never hidden: whatever ends the process,
the terminal is in order, and an echoed `^C` does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from axe_lsp.cli.progress import Line, Style
from axe_lsp.cli.text_width import cells

_ERASE_LINE = "\x1b[K"
_ERASE_BELOW = "\x1b[J"
_COLOURS = {
    Style.TITLE: "1",
    Style.AGENT: "36",
    Style.FAINT: "2",
    Style.GOOD: "32",
    Style.BAD: "31",
}


class LiveRegion:
    """Owns what was drawn last, in order to draw over it."""

    def __init__(self, stream: TextIO, coloured: bool) -> None:
        self._stream = stream
        self._coloured = coloured
        self._drawn: list[int] = []

    def draw(self, settled: Sequence[Line], live: Sequence[Line], width: int) -> None:
        """Write the settled lines, which stay, and below them the live ones, which do not.

        All in one write, and lines that are there are written over rather than erased: nothing
        flickers. Live lines have to be narrower than `width`.
        """
        up = self._rows(width)
        parts = [f"\r\x1b[{up}A" if up else "\r"]
        if settled:  # Long ones wrap, and erasing to the end of a full row would eat its last cell.
            parts.append(_ERASE_BELOW)
        parts += [f"{self._shown(line)}\n" for line in settled]
        parts += [f"{self._shown(line)}{_ERASE_LINE}\n" for line in live]
        parts.append(_ERASE_BELOW)
        self._drawn = [sum(cells(span.text) for span in line) for line in live]
        # The terminal may be gone, which is no reason to give up the run.
        with suppress(OSError):
            self._stream.write("".join(parts))
            self._stream.flush()

    def _rows(self, width: int) -> int:
        """How many rows the live lines take: more than before if the window has become narrower."""
        return sum(max(1, -(-drawn // width)) for drawn in self._drawn)

    def _shown(self, line: Line) -> str:
        return "".join(self._painted(text, style) for text, style in line)

    def _painted(self, text: str, style: Style) -> str:
        colour = _COLOURS.get(style)
        return f"\x1b[{colour}m{text}\x1b[0m" if colour and text and self._coloured else text
