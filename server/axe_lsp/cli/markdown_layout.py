"""The layout of styled text on a terminal: lines that end between words while the text streams, and tables.

A word is shown as soon as it begins. If its rest does not fit, the word is moved to the next line; nothing above the
line of the cursor is written over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from axe_lsp.cli.text_width import cells

RESET = "\x1b[0m"
_ERASE_LINE = "\x1b[K"
_RIGHT = "\x1b[C"

_CJK = "\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U00020000-\U0003fffd"
"""Characters between which a line may end."""

_PART = re.compile(rf"\n|(\x1b\[[\d;]*m)|([ \t]+)|[{_CJK}]|[^\s\x1b{_CJK}]+|.", re.DOTALL)
"""A line break, a sequence for styles, blanks, or a part of a word."""

_STYLE = re.compile(r"\x1b\[[\d;]*m")
_WIDE = re.compile(f"[{_CJK}]")

_NARROWEST = 20
"""Columns of a terminal that is left to break lines itself."""


class WordWrap:
    """The output of one text after another. A sequence for styles replaces all that were in force."""

    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width
        self.begin()

    def begin(self) -> None:
        """Take note that the cursor is at the start of a line."""
        self._column = 0
        self._hang = self._hang_of_prefix = ""
        """The beginning of the lines into which the present one is broken."""
        self._indent: str | None = ""
        """The blanks at the beginning of the line, None once there is a word."""
        self._style = ""
        self._word = ""
        """The last word, with the styles inside it, while it can be moved."""
        self._word_style = ""
        self._gap = ""
        """Blanks and styles behind the last word, which are shown with the next one."""
        self._gap_style = ""
        self._is_after_gap = False
        """Whether there are blanks before the last word."""

    def prefix(self, text: str, hang: str) -> str:
        """Return the output for the beginning of a line, which is not broken; `hang` stands below it."""
        self._column += _width(text)
        for style in _STYLE.findall(text):
            self._style = "" if style == RESET else style
        if _width(self._hang + hang) <= self._width() // 2:
            self._hang += hang
        self._hang_of_prefix = self._hang
        return text

    def line(self, text: str) -> str:
        """Return the output for a text that stays as it is, such as code."""
        if text.endswith("\n"):
            self.begin()
        return text

    def feed(self, text: str) -> str:
        """Return the output for a further piece of a line."""
        width = self._width()
        if width < _NARROWEST:
            return text
        return "".join(self._part(match, width) for match in _PART.finditer(text))

    def end(self) -> str:
        """Return the output for what is held back."""
        gap = self._gap
        self.begin()
        return gap

    def _part(self, match: re.Match[str], width: int) -> str:
        text, style, blanks = match[0], match[1], match[2]
        if text == "\n":
            shown = "".join(_STYLE.findall(self._gap))
            self.begin()
            return shown + text
        if style:
            return self._restyled(style)
        if not blanks:
            return self._word_part(text, width)
        text = _without_tabs(text, self._column + _width(self._gap))
        if self._indent is not None:
            return self._indented(self._indent, text, width)
        if not self._gap:
            self._gap_style, self._word = self._style, ""
        self._gap += text
        return ""

    def _indented(self, before: str, blanks: str, width: int) -> str:
        self._column = _after(self._column + len(blanks), width)
        self._indent = before + blanks
        hang = self._hang_of_prefix + self._indent
        self._hang = hang if _width(hang) <= width // 2 else self._hang_of_prefix
        return blanks

    def _restyled(self, style: str) -> str:
        self._style = "" if style == RESET else style
        if self._gap:
            self._gap += style
            return ""
        if self._word:
            self._word += style
        return style

    def _word_part(self, text: str, width: int) -> str:
        size, gap = cells(text), self._gap
        self._gap, self._indent = "", None
        if gap or not self._word or _WIDE.match(text) or _WIDE.match(self._word):
            return self._first_part(text, gap, width)
        start = self._column - _width(self._word)
        if self._column + size > width and start > _width(self._hang) and _is_plain(self._word):
            back = f"\x1b[{self._column - start}D"
            if self._column == width and not self._is_after_gap:
                # The cursor waits on the last cell, not behind it. Of blanks one more may be erased.
                back += _RIGHT
            back += _ERASE_LINE
            moved = self._new_line(self._word_style) + self._word + text
            self._column = _width(self._hang) + _width(self._word) + size
            self._word += text
            return back + moved
        self._column = _after(self._column + size, width)
        self._word += text
        return text

    def _first_part(self, text: str, gap: str, width: int) -> str:
        size, space = cells(text), _width(gap)
        self._word, self._word_style, self._is_after_gap = text, self._style, bool(gap)
        if self._column + space + size > width and self._column > _width(self._hang):
            styles = "".join(_STYLE.findall(gap))
            before = self._gap_style if gap else self._style
            self._column = _after(_width(self._hang) + size, width)
            return (RESET if before else "") + f"\n{self._hang}" + (styles or before) + text
        self._column = _after(self._column + space + size, width)
        return gap + text

    def _new_line(self, style: str) -> str:
        return f"{RESET if self._style or style else ''}\n{self._hang}{style}"


def _width(styled: str) -> int:
    return cells(_STYLE.sub("", styled))


def _without_tabs(blanks: str, column: int) -> str:
    """Return the same cells as spaces, for a text that begins in a column."""
    return (" " * column + blanks).expandtabs()[column:]


def _after(column: int, width: int) -> int:
    """Return the column after a word that the terminal has broken, because it is longer than a line."""
    return column if column <= width else (column - 1) % width + 1


def _is_plain(word: str) -> bool:
    """Return whether each character takes one cell on any terminal, so that the word can be erased."""
    text = _STYLE.sub("", word)
    return all(each.isascii() or (cells(each) == 1 and each.isalnum()) for each in text)


# -- tables in aligned columns


_GAP = "  "
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*(:?)-+(:?)\s*")

StyleCell = Callable[[str, bool], str]
"""A function that styles a cell; the second argument says whether it is one of the head."""


def table(text: str, style: StyleCell, width: int) -> str | None:
    """Return the rows in `text`, aligned. None if they are no table, or are wider than `width`."""
    rows = [_cells(line) for line in text.removesuffix("\n").split("\n")]
    if len(rows) < 2 or not (sides := _sides(rows[1])) or len(rows[0]) != len(sides):
        return None
    styled = [
        [style(cell, number == 0) for cell in _filled(row, len(sides))]
        for number, row in enumerate(rows)
        if number != 1
    ]
    widths = [max(map(_width, column)) for column in zip(*styled, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        return None
    lines = [_GAP.join(map(_aligned, row, widths, sides)).rstrip() for row in styled]
    lines.insert(1, _GAP.join("─" * each for each in widths))
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    parts = _PIPE.split(inner)
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()  # The bar at the end.
    return [each.strip().replace("\\|", "|") for each in parts]


def _sides(row: Sequence[str]) -> list[str]:
    """Return where the columns are aligned, by the second row; empty if that is none of a table."""
    matches = [_RULE.fullmatch(each) for each in row]
    if None in matches:
        return []
    colons = [(match[1], match[2]) for match in matches if match is not None]
    return ["^" if left and right else ">" if right else "<" for left, right in colons]


def _filled(row: Sequence[str], count: int) -> list[str]:
    return [*row, *[""] * count][:count]


def _aligned(styled: str, width: int, side: str) -> str:
    room = width - _width(styled)
    before = {"<": 0, ">": room, "^": room // 2}[side]
    return " " * before + styled + " " * (room - before)
