"""A run and its fork, printed in two columns."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from itertools import zip_longest

from axe_lsp.cli.text_width import cells, cut
from axe_lsp.hosting.history.tree_text import Drawing
from axe_lsp.runtime.plain_text import visible

_BETWEEN = " │ "

_NARROWEST = 100
"""Columns of a terminal that has room for two trees. In a narrower one, and in a file, they stand one below the
other, and nothing is cut off."""


def side_by_side(former: Drawing, fork: Drawing, turn: int) -> str:
    """Both trees; in two columns, the first turn that they do not share is on the same line."""
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or width < _NARROWEST:
        return f"{former.text}\n{fork.text}"
    room = (width - len(_BETWEEN)) // 2
    left, right = former.lines, list(fork.lines)
    begin, same = fork.turns.get(turn), former.turns.get(turn)
    if begin is not None and same is not None:
        right[begin:begin] = [""] * (same - begin)
    columns = _columns(
        [former.title, "", *left, "", former.total], [fork.title, "", *right, "", fork.total], room
    )
    answers = (
        f"\nAnswer of {each.title.split()[1]}:\n{each.answer}"
        for each in (former, fork)
        if each.answer
    )
    return "\n".join((*columns, *answers))


def _columns(left: Sequence[str], right: Sequence[str], room: int) -> list[str]:
    return [
        f"{_padded(one, room)}{_BETWEEN}{cut(visible(other), room)}".rstrip()
        for one, other in zip_longest(left, right, fillvalue="")
    ]


def _padded(text: str, room: int) -> str:
    shown = cut(visible(text), room)
    return shown + " " * (room - cells(shown))
