"""The width of a text in the cells of a terminal, and texts cut to a width."""

from __future__ import annotations

import re
import unicodedata
from functools import partial

ELLIPSIS = "…"

_EMOJI_STYLE = "\N{VARIATION SELECTOR-16}"
_JOINER = "\N{ZERO WIDTH JOINER}"
_SOFT_HYPHEN = "\N{SOFT HYPHEN}"

_JOINED = re.compile(rf"{_JOINER}.{_EMOJI_STYLE}?|[\U0001F3FB-\U0001F3FF]")
"""The parts of a picture of several characters that take no cells of their own."""

_WORDS = re.compile(r"""(\s*)(--allow\s(?:'[^']*'|"'")+|[^\s`]*`[^`]*`\S*|\S+)""")
"""The blanks before a word, and the word."""


def cells(text: str) -> int:
    """Return how many cells `text` takes. Where terminals disagree, the larger number."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def shown_cells(text: str) -> int:
    """Return how many cells `text` takes where what is joined into one picture takes the room of one."""
    return len(text) if text.isascii() else cells(_JOINED.sub("", text))


def dollars(amount: float) -> str:
    """Return an amount of US dollars, which is small more often than not."""
    return f"${amount:.4f}"


def cut(text: str, room: int) -> str:
    """Shorten `text` to at most `room` cells, with an ellipsis at the end."""
    if cells(text) <= room:
        return text
    kept = ""
    for character in text:
        if cells(kept + character) > room - 1:
            break
        kept += character
    return kept.rstrip() + ELLIPSIS if room > 0 else ""


def folded(text: str, width: int) -> str:
    """Break lines of `text` between words where they take more than `width` cells.

    What is to be copied stays whole: a command in backticks, and `--allow` with its quoted rule.
    """
    return "\n".join(map(partial(_folded_line, width=width), text.split("\n")))


def _folded_line(line: str, width: int) -> str:
    if cells(line) <= width:
        return line
    rows = [""]
    for blanks, word in _WORDS.findall(line):
        if rows[-1].strip() and cells(rows[-1] + blanks + word) > width:
            rows.append(word)
        else:
            rows[-1] += blanks + word
    return "\n".join(rows)


def padded(text: str, width: int) -> str:
    """Pad `text` with blanks to `width` cells."""
    return text + " " * (width - cells(text))


def one_line(text: str) -> str:
    """Return `text` on one line, without control characters."""
    return "".join(filter(str.isprintable, " ".join(text.split())))


def _cells(character: str) -> int:
    if character == _EMOJI_STYLE:  # It makes the character before it wide, on some terminals.
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf") and character != _SOFT_HYPHEN:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
