"""Selection ranges: the enclosing elements of an offset, step by step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Entry, Key, Value, ValueKind
from axe_lsp.agentfile.text.values import inner_range
from axe_lsp.features.sections import Section, sections
from axe_lsp.workspace.agent_file import AgentFile

_WORD = re.compile(r"\w+")
_LINE = re.compile(r"[^\r\n]+")
_PARAGRAPH = re.compile(r"[^\r\n]+(?:\r?\n(?![ \t]*\r?$)[^\r\n]+)*", re.MULTILINE)


def selections(file: AgentFile, offset: int) -> tuple[TextRange, ...]:
    """Return the ranges around `offset`, each within the next: mostly a word first, the file last."""
    if file.open is None:
        return (TextRange(offset, offset),)
    parse = file.open.parse
    chain = [TextRange(0, len(parse.text))]
    for where in _around(parse, offset):
        outer = chain[-1]
        if where != outer and outer.start <= where.start and where.end <= outer.end:
            chain.append(where)
    return tuple(reversed(chain))


def _around(parse: Parse, offset: int) -> Iterator[TextRange]:
    """Yield the elements at `offset`, from the outside in; an element need not be inside the one before."""
    text, document = parse.text, parse.document
    found = sections(document, text)
    while (section := _at(found, offset)) is not None:
        yield section.range
        found = section.children
        if section.table.header_range.touches(offset):
            yield section.table.header_range
            if section.table.header is not None:
                yield from _in_key(section.table.header, offset)
    for table in document.tables:
        yield from _in_entries(text, table.entries, offset)
    comment = next((each for each in document.comments if each.touches(offset)), None)
    if comment is not None:
        yield comment
    line = parse.lines.line_range(parse.lines.line_at(offset))
    yield from _matches(_WORD, text, line, offset)


def _at(found: Iterable[Section], offset: int) -> Section | None:
    return next((each for each in found if each.range.touches(offset)), None)


def _in_key(key: Key, offset: int) -> Iterator[TextRange]:
    ranges = (key.range, *(part.range for part in key.parts))
    yield from (each for each in ranges if each.touches(offset))


def _in_entries(text: str, entries: Iterable[Entry], offset: int) -> Iterator[TextRange]:
    entry = next((each for each in entries if each.range.touches(offset)), None)
    if entry is None:
        return
    yield entry.range
    if entry.key.range.touches(offset):
        yield from _in_key(entry.key, offset)
    elif entry.value is not None and entry.value.range.touches(offset):
        yield from _in_value(text, entry.value, offset)


def _in_value(text: str, value: Value, offset: int) -> Iterator[TextRange]:
    yield value.range
    inside = inner_range(text, value)
    if not inside.touches(offset):
        return
    yield inside
    if value.kind is ValueKind.STRING:
        yield from _matches(_PARAGRAPH, text, inside, offset)
        yield from _matches(_LINE, text, inside, offset)
        return
    item = next((each for each in value.items if each.range.touches(offset)), None)
    if item is not None:
        yield from _in_value(text, item, offset)
    yield from _in_entries(text, value.entries, offset)


def _matches(
    pattern: re.Pattern[str], text: str, within: TextRange, offset: int
) -> Iterator[TextRange]:
    """Yield the match of `pattern` that `offset` touches, if there is one."""
    for match in pattern.finditer(text, *within):
        if match.start() <= offset <= match.end():
            yield TextRange(*match.span())
            return
        if match.start() > offset:
            return
