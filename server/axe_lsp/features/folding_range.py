"""Folding ranges: tables, values of several lines, blocks of comments."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import LineIndex, TextRange
from axe_lsp.agentfile.text.tree import Document, Value, ValueKind
from axe_lsp.agentfile.text.values import inner_range
from axe_lsp.features.sections import Section, every, sections
from axe_lsp.workspace.agent_file import AgentFile


class Fold(Struct, frozen=True):
    """Text that can be folded away, over several lines.

    For editors that fold whole lines, `first_line` stays to be seen and `last_line` is the last to
    go: a closing bracket or quotes on a line of their own stay.
    """

    range: TextRange
    first_line: int
    last_line: int
    is_comment: bool = False


def folding(file: AgentFile) -> list[Fold]:
    """Return the folds of an open file, those first that hold the others."""
    if file.open is None:
        return []
    text, document = file.open.parse.text, file.open.parse.document
    lines = file.open.parse.lines
    found = [
        *(_table(lines, each) for each in every(sections(document, text))),
        *(_comments(lines, block) for block in _blocks(lines, document.comments)),
        *(_value(lines, text, value) for value in _values(document, text)),
    ]
    return [fold for fold in found if fold.first_line < fold.last_line]


def _fold(lines: LineIndex, where: TextRange) -> Fold:
    return Fold(where, lines.line_at(where.start), lines.line_at(where.end))


# -- tables


def _table(lines: LineIndex, section: Section) -> Fold:
    return _fold(lines, TextRange(section.table.header_range.end, section.range.end))


# -- comments


def _blocks(lines: LineIndex, comments: tuple[TextRange, ...]) -> Iterator[TextRange]:
    """Yield a range for each block of consecutive comment lines."""
    block: TextRange | None = None
    for comment in comments:
        if not _is_blank(lines, comment.start):
            continue
        if block is not None and lines.line_at(comment.start) == lines.line_at(block.end) + 1:
            block = TextRange(block.start, comment.end)
            continue
        if block is not None:
            yield block
        block = comment
    if block is not None:
        yield block


def _comments(lines: LineIndex, block: TextRange) -> Fold:
    fold = _fold(lines, block)
    return Fold(block, fold.first_line, fold.last_line, is_comment=True)


# -- values


def _values(document: Document, text: str) -> Iterator[Value]:
    """Yield all values that may have several lines, those of one level before those in them."""
    entries = (entry for table in document.tables for entry in table.entries)
    level = [entry.value for entry in entries if entry.value is not None]
    while level:
        yield from (value for value in level if _may_break(text, value))
        level = [inner for value in level for inner in _parts(value)]


def _may_break(text: str, value: Value) -> bool:
    if value.kind is ValueKind.STRING:
        return text.startswith(('"""', "'''"), value.range.start)
    return value.kind in (ValueKind.ARRAY, ValueKind.INLINE_TABLE)


def _parts(value: Value) -> Iterator[Value]:
    yield from value.items
    yield from (entry.value for entry in value.entries if entry.value is not None)


def _value(lines: LineIndex, text: str, value: Value) -> Fold:
    inside = inner_range(text, value)
    fold = _fold(lines, inside)
    if value.complete and _is_blank(lines, inside.end):
        return Fold(inside, fold.first_line, fold.last_line - 1)
    return fold


def _is_blank(lines: LineIndex, offset: int) -> bool:
    """Return whether nothing stands in front of `offset` on its line."""
    start = lines.starts[lines.line_at(offset)]
    return not lines.text_of(TextRange(start, offset)).strip(" \t")
