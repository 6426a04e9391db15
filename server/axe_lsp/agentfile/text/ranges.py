"""Positions in a text.

Inside axe_lsp a position is an *offset*: a number of code points from the start of the text. Lines
and columns exist only where a protocol or a person needs them, and are computed here.

Lines end where LSP says that they end (LSP 3.17, "Text Documents"): at LF, CR LF or a lone CR, and
nowhere else. `str.splitlines` also breaks at U+2028, U+0085, form feed and others, all of which may
stand inside a TOML string.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE_FEED = re.compile(r"\n")


class TextRange(Struct, frozen=True, order=True, gc=False):
    """A half-open range of offsets. A struct for the reason that `tree` gives."""

    start: int
    end: int

    def __iter__(self) -> Iterator[int]:
        return iter((self.start, self.end))

    def touches(self, offset: int) -> bool:
        """Return whether a cursor at `offset` stands inside or right at either edge."""
        return self.start <= offset <= self.end

    def of(self, text: str) -> str:
        """Return the part of `text` that the range covers."""
        return text[self.start : self.end]

    def moved(self, by: int) -> TextRange:
        """Return the range of the same text where it stands `by` characters later."""
        return TextRange(self.start + by, self.end + by)


class Difference(NamedTuple):
    """The lines from `start` to `end` stand where those from `start` to `old_end` stood before.

    Lines end at a line feed here, wherever else they may end: nothing that stands beside one belongs
    together with something on its other side.
    """

    start: int
    old_end: int
    end: int

    @property
    def shift(self) -> int:
        """The distance by which the text after the lines has moved."""
        return self.end - self.old_end


class LineIndex:
    """Where the lines of a text begin, and the way between offsets and columns."""

    __slots__ = ("starts", "text")

    def __init__(self, text: str, starts: list[int] | None = None) -> None:
        """Take the `starts` of the lines if the caller knows them."""
        self.text = text
        self.starts: list[int] = _line_starts(text) if starts is None else starts

    def edited(self, text: str, changed: Difference) -> LineIndex:
        """Return the lines of the text that an edit has made of this one."""
        first = bisect_left(self.starts, changed.start)
        rest = self.starts[bisect_right(self.starts, changed.old_end) :]
        between = _line_starts(text[changed.start : changed.end])
        if changed.shift:
            rest = [start + changed.shift for start in rest]
        new = [changed.start + start for start in between]
        return LineIndex(text, self.starts[:first] + new + rest)

    def line_at(self, offset: int) -> int:
        """Return the number of the line, from 0, that holds `offset`."""
        return bisect_right(self.starts, offset) - 1

    def start_of(self, line: int) -> int:
        """Return where a line begins; behind the text if there are not so many."""
        return self.starts[line] if line < len(self.starts) else len(self.text) + 1

    def line_range(self, line: int) -> TextRange:
        """Return the line without its end-of-line characters."""
        start = self.starts[line]
        end = min(self.start_of(line + 1), len(self.text))
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return TextRange(start, end)

    def text_of(self, where: TextRange) -> str:
        """Return the part of the text that `where` covers."""
        return where.of(self.text)

    def position(self, offset: int, encoding: PositionEncoding) -> tuple[int, int]:
        """Line and column, both from 0; the column counts units of `encoding`."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.starts, offset) - 1
        start = self.starts[line]
        if self.text.isascii():  # Which Python knows of each text.
            return line, offset - start
        return line, _units(self.text[start:offset], encoding)

    def offset(self, line: int, column: int, encoding: PositionEncoding) -> int:
        """Return the inverse of `position`.

        A column behind the end of its line means that end, a line behind the last one the end of
        the text (LSP 3.17, "Position"); a column inside a surrogate pair or a UTF-8 sequence means
        the character's start.
        """
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.text)
        bounds = self.line_range(line)
        return bounds.start + offset_in_line(bounds.of(self.text), column, encoding)


def offset_in_line(line: str, column: int, encoding: PositionEncoding) -> int:
    """Return where a column lies in a line, its end if the column is behind that."""
    if column <= 0:
        return 0
    if encoding == "utf-32" or line.isascii():
        return min(column, len(line))
    # A loop over the characters of a line of 1 MB would take forty times as long.
    if encoding == "utf-16":
        units, size = line.encode("utf-16-le", "surrogatepass"), 2
        inside = units[2 * column : 2 * column + 2]
        if (
            inside[1:]
            and 0xDC <= inside[1] <= 0xDF
            and _is_high(units[2 * column - 2 : 2 * column])
        ):
            column -= 1
    else:
        units, size = line.encode("utf-8", "surrogatepass"), 1
        while column < len(units) and units[column] & 0xC0 == 0x80:
            column -= 1
    return len(units[: size * column].decode(_CODECS[encoding], "surrogatepass"))


_CODECS: dict[PositionEncoding, str] = {"utf-8": "utf-8", "utf-16": "utf-16-le"}


def _is_high(unit: bytes) -> bool:
    """Return whether a unit of UTF-16 is the first of a pair."""
    return unit[1:] != b"" and 0xD8 <= unit[1] <= 0xDB


def quoted(text: str) -> str:
    """Return `text` in double quotes, as messages show names and values."""
    return _quote(text)


_quote = json.JSONEncoder(ensure_ascii=False).encode


def _line_starts(text: str) -> list[int]:
    # To look for one character only is three times as fast, and most texts have no CR.
    line_end = _LINE_END if "\r" in text else _LINE_FEED
    return [0, *(match.end() for match in line_end.finditer(text))]


def _units(text: str, encoding: PositionEncoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-16":
        return len(text) + sum(character > "\uffff" for character in text)
    return len(text.encode("utf-8", "surrogatepass"))


def difference(old: str, new: str) -> Difference:
    """Return the lines that have changed; none of them is missing, and few are too many."""
    start = new.rfind("\n", 0, common_beginning(old, new)) + 1
    common = common_end(old[start:], new[start:])
    end, old_end = len(new) - common, len(old) - common
    if not (_begins_line(new, end, start) and _begins_line(old, old_end, start)):
        end = new.find("\n", end) + 1 or len(new)
    return Difference(start, end - len(new) + len(old), end)


def _begins_line(text: str, offset: int, start: int) -> bool:
    return offset == start or text[offset - 1] == "\n"


def common_beginning(old: str, new: str) -> int:
    """Return how many characters at the beginnings are the same. Halves are compared, which is many times faster than a loop."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_end(old: str, new: str) -> int:
    """Return the same for the ends."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low
