"""A text and everything that its syntax says: tree, problems, values, lines.

tomli is the judge: a text is TOML if tomli reads it, and means what tomli reads. Our own tree says
*where* things are, and where the trouble is when there is any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import tomli

from axe_lsp.agentfile.text import LineIndex, TextRange
from axe_lsp.agentfile.toml import SyntaxProblem, parse_tree
from axe_lsp.agentfile.tree import Document, Entry, Key, Table, Value, ValueKind


class Parse:
    """The syntax of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.document: Document
        self.document, found = parse_tree(text)
        self.problems: tuple[SyntaxProblem, ...] = ()
        verdict = _verdict(text, self.document, found)
        if verdict is not None:
            self.problems = found or (_explain(text, self.document, verdict),)

    @cached_property
    def values(self) -> Mapping[str, Any] | None:
        """What the text says; None when it is not TOML."""
        return _judge(self.text)[0]

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)


def _verdict(
    text: str, document: Document, found: tuple[SyntaxProblem, ...]
) -> tomli.TOMLDecodeError | None:
    """Why the text is not TOML, if it isn't."""
    if not found and _judge(_without_prose(text, document))[1] is None:
        return None
    return _judge(text)[1]


def _without_prose(text: str, document: Document) -> str:
    """The text with empty prompts, which is valid exactly if the text is.

    Only strings are emptied that hold nothing but what may stand in any string. A long prompt is
    most of its file, and would be most of what a keystroke costs.
    """
    pieces: list[str] = []
    position = 0
    for entry in (entry for table in document.tables for entry in table.entries):
        if entry.value is None or not text.startswith(('"""', "'''"), entry.value.range.start):
            continue
        start, end = entry.value.range.start + 3, entry.value.range.end - 3
        if _is_prose(text[start:end]):
            pieces.append(text[position:start])
            position = end
    return "".join([*pieces, text[position:]])


_NOT_IN_PROSE = b"\\" + bytes([*range(9), *range(11, 32), 127])
"""The backslash, and the control characters that are neither tab nor line feed."""


def _is_prose(text: str) -> bool:
    # A regular expression would take three times as long.
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw.translate(None, _NOT_IN_PROSE)) == len(raw)


def _judge(text: str) -> tuple[Mapping[str, Any] | None, tomli.TOMLDecodeError | None]:
    try:
        return tomli.loads(text.removeprefix("\ufeff")), None
    except tomli.TOMLDecodeError as error:
        return None, error
    except RecursionError:
        return None, tomli.TOMLDecodeError("Values are nested too deep", text, 0)
    except ValueError as error:  # Python refuses integers of thousands of digits.
        return None, tomli.TOMLDecodeError(str(error), text, _place_of_digits(text))


_MANY_DIGITS = re.compile(r"(?<=[=\[,\s+-])[0-9](?:_?[0-9]){4299,}")


def _place_of_digits(text: str) -> int:
    """Where the first integer begins that Python refuses, counted as tomli counts."""
    match = _MANY_DIGITS.search(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    return match.start() if match is not None else 0


def _explain(text: str, document: Document, verdict: tomli.TOMLDecodeError) -> SyntaxProblem:
    """tomli's verdict on a text whose statements are well-formed each for itself."""
    offset = _offset(text, verdict)
    for table in document.tables:
        if table.header is not None and table.header_range.touches(offset):
            return _explain_header(document, table, table.header, verdict.msg)
        for entry in table.entries:
            if entry.range.touches(offset):
                return _explain_entry(text, table, entry, offset, verdict.msg)
    return SyntaxProblem(TextRange(offset, min(offset + 1, len(text))), verdict.msg)


def _offset(text: str, verdict: tomli.TOMLDecodeError) -> int:
    """Where in `text` tomli stopped. tomli counts in a text without BOM and with CR LF as LF."""
    original = text.removeprefix("\ufeff")
    offset = verdict.pos
    if "\r\n" in original:
        offset = 0
        for _ in range(verdict.pos):
            offset += 2 if original.startswith("\r\n", offset) else 1
    return min(offset + len(text) - len(original), len(text))


def _explain_header(document: Document, table: Table, header: Key, message: str) -> SyntaxProblem:
    for other in document.tables:
        if other is not table and other.path == table.path and other.header is not None:
            message = f"the table `{'.'.join(table.path)}` is already defined above"
            break
    return SyntaxProblem(header.range, message)


def _explain_entry(
    text: str, table: Table, entry: Entry, offset: int, message: str
) -> SyntaxProblem:
    for other in table.entries:
        if other is entry:
            break
        if other.key.names == entry.key.names:
            name = ".".join(entry.key.names)
            return SyntaxProblem(entry.key.range, f"the key `{name}` is already set above")
    *_, innermost = entry, *_entries_at(entry.value, offset)
    if message.startswith("Duplicate"):
        name = ".".join(innermost.key.names)
        return SyntaxProblem(innermost.key.range, f"the key `{name}` is already set above")
    value = _innermost(entry.value, offset)
    if value is None or message.startswith("Cannot"):  # The statement clashes with another one.
        return SyntaxProblem(innermost.key.range, message)
    if value.kind is ValueKind.STRING:
        return _explain_string(text, offset, message)
    if value.kind in _CONTAINERS:
        return SyntaxProblem(TextRange(offset, offset + 1), message)
    token = value.range.of(text)
    return SyntaxProblem(value.range, f"`{token[:40]}` is not a valid {value.kind.value}")


def _explain_string(text: str, offset: int, message: str) -> SyntaxProblem:
    if message.startswith("Unescaped"):  # tomli stops behind the escape.
        where = TextRange(offset - 2, offset)
        message = f"`{where.of(text)}` is not an escape (write `\\\\` for a backslash)"
        return SyntaxProblem(where, message)
    return SyntaxProblem(TextRange(offset, offset + 1), message)


_CONTAINERS = (ValueKind.ARRAY, ValueKind.INLINE_TABLE)


def _entries_at(value: Value | None, offset: int) -> Iterator[Entry]:
    """The entries of inline tables around `offset`, the innermost one last."""
    if value is None or not value.range.touches(offset):
        return
    for item in value.items:
        yield from _entries_at(item, offset)
    for entry in value.entries:
        if entry.range.touches(offset):
            yield entry
            yield from _entries_at(entry.value, offset)


def _innermost(value: Value | None, offset: int) -> Value | None:
    if value is None or not value.range.touches(offset):
        return None
    parts = (*value.items, *(entry.value for entry in value.entries))
    return next((inner for part in parts if (inner := _innermost(part, offset))), value)
