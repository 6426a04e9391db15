"""A table of Markdown in aligned columns, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from axe_lsp.cli.text_width import cells

_GAP = "  "
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*(:?)-+(:?)\s*")
_SGR = re.compile(r"\x1b\[[\d;]*m")

Style = Callable[[str, bool], str]
"""A function that styles a cell; the second argument says whether it is one of the head."""


def drawn(text: str, style: Style, width: int) -> str | None:
    """The rows in `text`, aligned. None if they are no table, or are wider than `width`."""
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
    """Where the columns are aligned, by the second row; empty if that is none of a table."""
    matches = [_RULE.fullmatch(each) for each in row]
    if None in matches:
        return []
    colons = [(match[1], match[2]) for match in matches if match is not None]
    return ["^" if left and right else ">" if right else "<" for left, right in colons]


def _filled(row: Sequence[str], count: int) -> list[str]:
    return [*row, *[""] * count][:count]


def _width(styled: str) -> int:
    return cells(_SGR.sub("", styled))


def _aligned(styled: str, width: int, side: str) -> str:
    room = width - _width(styled)
    before = {"<": 0, ">": room, "^": room // 2}[side]
    return " " * before + styled + " " * (room - before)
