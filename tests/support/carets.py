"""Fixtures that read like an editor: source lines, and below them carets with what is said there.

    max_depth = 6
                ^ max-depth: sub_agents_config.max_depth cannot exceed 5

`source` takes the carets away; `annotate` puts them in. A test compares `annotate(source(fixture),
what was found)` with the fixture itself, so a failure shows the two as a person would see them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from axe_lsp.agentfile.text.ranges import LineIndex, TextRange

_CARETS = re.compile(r"[ \t]*\^+( .*)?")


def dedented(fixture: str) -> str:
    """Return a fixture that has a carriage return stays as it is: from Python 3.14 on `dedent` would take some of them out."""
    text = fixture.removeprefix("\n")
    return text if "\r" in text else textwrap.dedent(text)


def source(fixture: str) -> str:
    """Return the fixture without its annotations."""
    lines = dedented(fixture).splitlines(keepends=True)
    return "".join(line for line in lines if not _CARETS.fullmatch(line.rstrip("\n")))


def annotate(text: str, marks: Iterable[tuple[TextRange, str]]) -> str:
    """Return the text with a line of carets below each marked line; an empty range gets one caret."""
    index = LineIndex(text)
    below: dict[int, list[tuple[int, int, str]]] = {}
    for where, label in marks:
        line, column = index.position(where.start, "utf-32")
        end_line, end_column = index.position(where.end, "utf-32")
        width = end_column - column if end_line == line else len(_line(text, index, line)) - column
        below.setdefault(line, []).append((column, max(width, 1), label))
    out: list[str] = []
    for number in range(len(index.starts)):
        content = _line(text, index, number)
        if number + 1 < len(index.starts) or content:
            out.append(content)
        for column, width, label in sorted(below.get(number, []), key=lambda mark: mark[0]):
            out.append(f"{' ' * column}{'^' * width} {label}".rstrip())
    return "\n".join(out) + "\n"


def _line(text: str, index: LineIndex, number: int) -> str:
    return index.line_range(number).of(text)
