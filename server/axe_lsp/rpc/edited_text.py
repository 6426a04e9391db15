"""A text under edits that are given in lines and columns.

Where the lines begin is kept up to date instead of being found again for each edit: a client that
replaces a word in a hundred places sends a hundred edits at once. Pure.
"""

from __future__ import annotations

from bisect import bisect_right

from axe_lsp.agentfile.text import LineIndex, PositionEncoding, offset_in_line


class EditedText:
    """The text as it stands after the edits so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = LineIndex(text).starts

    def offset(self, line: int, column: int, encoding: PositionEncoding) -> int:
        """Where a position lies, clamped to the line and to the text (LSP 3.17, "Position")."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        content = self.text[start : self._start(line + 1)].rstrip("\r\n")
        return start + offset_in_line(content, column, encoding)

    def replace(self, start: int, end: int, new: str) -> None:
        """Put `new` where the text from `start` to `end` was."""
        # A line more on either side, because an edit can join or part a CR and an LF there.
        first = max(0, bisect_right(self._starts, start) - 2)
        behind = bisect_right(self._starts, end) + 1
        begin, finish = self._starts[first], self._start(behind)
        shift = len(new) - (end - start)
        self.text = self.text[:start] + new + self.text[end:]
        found = LineIndex(self.text[begin : finish + shift]).starts
        # The last one found is the start of the line at `behind`, if there is such a line.
        self._starts[first : behind + 1] = [begin + each for each in found]
        if shift:
            rest = first + len(found)
            self._starts[rest:] = [each + shift for each in self._starts[rest:]]

    def _start(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else len(self.text)
