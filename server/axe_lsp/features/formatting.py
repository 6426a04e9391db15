"""Even space: around `=` and after commas, between statements, in front of comments.

What is said stays as it is: order, quotes, numbers, comments, and strings over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, line_break, spliced
from axe_lsp.agentfile.text.values import say_the_same
from axe_lsp.features.layout import WIDTH, Line, Piece, lay_out
from axe_lsp.workspace.agent_file import AgentFile

_UNITS = re.compile(r"\r\n|.", re.DOTALL)
"""A range that an edit must not split."""


def formatting(
    file: AgentFile, indentation: str, indentation_width: int, within: TextRange | None = None
) -> list[Splice]:
    """Return the edits of an open file, or of the statements that `within` touches.

    Nothing in a file with syntax errors: nobody knows what is meant by it. And nothing if the file
    would mean something else afterwards, which would be a mistake of ours.
    """
    if file.open is None or file.open.parse.problems or file.place.kind.syntax is not None:
        return []
    parse = file.open.parse
    lines = lay_out(parse, indentation_width)
    pieces = _pieces(parse.text, lines, indentation)
    splices = list(_differences(parse.text, pieces))
    if within is not None:
        start, end = _whole_statements(parse, within)
        splices = [each for each in splices if start <= each.range.start <= each.range.end <= end]
    return splices if say_the_same(parse.text, spliced(parse.text, splices)) else []


# -- from lines to text


def _pieces(text: str, lines: Sequence[Line], indentation: str) -> Iterator[Piece]:
    """Yield the whole text to be."""
    end_of_line = line_break(text)
    if text.startswith("\ufeff"):
        yield "\ufeff"
    for line, column in zip(lines, _comment_columns(lines), strict=True):
        if line.blank_above:
            yield end_of_line
        yield indentation * line.indent
        yield from line.pieces
        if line.comment is not None:
            yield " " * (column - line.width)
            yield line.comment
        yield end_of_line


def _comment_columns(lines: Sequence[Line]) -> Iterator[int]:
    """Yield the column of each line's comment. Comments of neighbouring lines are aligned."""
    block: list[Line] = []
    for line in lines:
        if block and not _are_neighbours(block[-1], line):
            yield from _aligned(block)
            block = []
        block.append(line)
    yield from _aligned(block)


def _are_neighbours(above: Line, below: Line) -> bool:
    is_gap = below.blank_above or below.has_line_feed or above.indent != below.indent
    both = (above, below)
    return not is_gap and all(line.pieces and line.comment and line.width <= WIDTH for line in both)


def _aligned(block: Sequence[Line]) -> Iterator[int]:
    column = max((line.width for line in block), default=0) + 2
    yield from (column if line.pieces else line.width for line in block)


# -- from text to changes


def _differences(text: str, pieces: Iterator[Piece]) -> Iterator[Splice]:
    """Yield the changes that make the text of the pieces out of `text`, as small as they can be."""
    end, between = 0, ""
    for piece in (*pieces, TextRange(len(text), len(text))):
        if isinstance(piece, str):
            between += piece
            continue
        if text[end : piece.start] != between:
            yield _smallest(text, TextRange(end, piece.start), between)
        end, between = piece.end, ""


def _smallest(text: str, where: TextRange, new: str) -> Splice:
    """Return the change without the equal text at its beginning and at its end."""
    old_units, new_units = _UNITS.findall(where.of(text)), _UNITS.findall(new)
    head = _common(old_units, new_units)
    tail = _common(old_units[head:][::-1], new_units[head:][::-1])
    start = where.start + sum(map(len, old_units[:head]))
    end = where.end - sum(map(len, old_units[len(old_units) - tail :]))
    return Splice(TextRange(start, end), "".join(new_units[head : len(new_units) - tail]))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many elements are the same from the beginning on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


# -- a part of a file


def _whole_statements(parse: Parse, within: TextRange) -> TextRange:
    """Return the lines of `within`, and of the statements that lie on them in part."""
    lines = parse.lines
    # Who selects whole lines selects up to the beginning of the next one.
    last = max(within.start, within.end - 1)
    start = lines.starts[lines.line_at(within.start)]
    end = lines.line_range(lines.line_at(last)).end
    for statement in _statements(parse):
        if statement.start <= end and start <= statement.end:
            start = min(start, lines.starts[lines.line_at(statement.start)])
            end = max(end, lines.line_range(lines.line_at(statement.end)).end)
    return TextRange(start, end)


def _statements(parse: Parse) -> Iterator[TextRange]:
    for table in parse.document.tables:
        if table.header is not None:
            yield table.header_range
        yield from (entry.range for entry in table.entries)
