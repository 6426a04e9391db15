"""A text and everything that its syntax says: tree, problems, values, lines.

tomli is the judge: a text is TOML if tomli reads it, and means what tomli reads. Our own tree says
*where* things are, and where the trouble is when there is any.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import tomli

from axe_lsp.agentfile.text.ranges import Difference, LineIndex, TextRange, difference
from axe_lsp.agentfile.text.reading import judge, values_of
from axe_lsp.agentfile.text.redefinitions import redefinitions
from axe_lsp.agentfile.text.toml import SyntaxProblem, parse_rest, parse_tree
from axe_lsp.agentfile.text.tree import Document, Entry, Value, ValueKind


class Parse:
    """The syntax of one text.

    `before` is that of the text which it was before an edit. Nothing is known of it that a fresh look
    would not find, but most of the tree need not be made again, nor most of the text judged.
    """

    def __init__(self, text: str, before: Parse | None = None) -> None:
        self.text = text
        self.document: Document
        self.problems: tuple[SyntaxProblem, ...] = ()
        self.changed = difference(before.text, text) if before is not None else None
        """The lines that differ from those before."""
        self._sound: Parse | None = None
        """The last parse without a problem, for a text that has some: all that has changed since is read again."""
        if before is None or self.changed is None:
            self._read()
            return
        if "lines" in vars(before):
            self.lines = before.lines.edited(text, self.changed)
        sound = before._sound if before.problems else before
        if sound is None or not self._read_rest(sound):
            self._read()
        if self.problems:
            self._sound = sound

    @cached_property
    def values(self) -> Mapping[str, Any] | None:
        """The values of the text; None if it is not TOML."""
        return values_of(self.text)

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)

    def _read(self) -> None:
        self.document, found = parse_tree(self.text)
        self._find_problems(found)

    def _find_problems(self, found: tuple[SyntaxProblem, ...]) -> None:
        verdict = _verdict(self.text, self.document, found)
        if verdict is not None:
            self.problems = tuple(sorted(_problems(self.text, self.document, found, verdict)))

    def _read_rest(self, before: Parse) -> bool:
        """Read only what has changed since a text without a problem; False if it takes a whole look."""
        changed = difference(before.text, self.text)
        self.document, found = parse_rest(self.text, before.document, changed)
        if found and self.document.is_doubtful:
            return False
        if found or not (
            _is_as_valid(self.text, self.document, before)
            or self._is_said_the_same(before, changed)
        ):
            self._find_problems(found)
        return True

    def _is_said_the_same(self, before: Parse, changed: Difference) -> bool:
        """Return whether only lines between the statements of the valid text before are others: blank ones and comments."""
        start, old_end, end = changed
        return (
            _NO_STATEMENTS.fullmatch(self.text, start, end) is not None
            and _NO_STATEMENTS.fullmatch(before.text, start, old_end) is not None
            and not _is_in_statement(self.document, start)
        )


# The comments without the characters that TOML does not allow in them.
_NO_STATEMENTS = re.compile(r"(?:[ \t]*(?:#[\t -~]*)?\r?\n)*[ \t]*(?:#[\t -~]*)?")


def _is_in_statement(document: Document, offset: int) -> bool:
    """Return whether what stands at the start of a line belongs to a statement that begins above it."""
    tables = document.tables
    table = tables[max(bisect_left(tables, offset, key=lambda each: each.range.start) - 1, 0)]
    index = bisect_left(table.entries, offset, key=lambda each: each.range.start) - 1
    return index >= 0 and offset < table.entries[index].range.end


def _is_as_valid(text: str, document: Document, before: Parse) -> bool:
    """Return whether one value alone is another one than in the valid text before, and a valid one.

    What other statements may say about the key does not depend on its value.
    """
    pair = _first_difference(before.document, document)
    if pair is None:
        return False
    old, new = pair
    return (
        new.value is not None
        and new.key.range.of(text) == old.key.range.of(before.text)
        and text[: new.range.start] == before.text[: old.range.start]
        and text[new.range.end :] == before.text[old.range.end :]
        and (_prose(text, new.value.range) is not None or judge(new.range.of(text))[1] is None)
    )


def _first_difference(before: Document, document: Document) -> tuple[Entry, Entry] | None:
    """Return the first entry that is another one than in the tree from which the document was made."""
    for old_table, table in zip(before.tables, document.tables, strict=False):
        if old_table is not table:
            for old, new in zip(old_table.entries, table.entries, strict=False):
                if old is not new:
                    return old, new
    return None


def _verdict(
    text: str, document: Document, found: tuple[SyntaxProblem, ...]
) -> tomli.TOMLDecodeError | None:
    """Return why the text is not TOML, if it isn't."""
    if not found and judge(_without_prose(text, document))[1] is None:
        return None
    return judge(text)[1]


def _without_prose(text: str, document: Document) -> str:
    """Return the text with empty prompts, which is valid exactly if the text is.

    Only strings are emptied that hold nothing but what may stand in any string. A long prompt is
    most of its file, and would be most of what a keystroke costs.
    """
    pieces: list[str] = []
    position = 0
    for where in (where for table in document.tables for where in table.strings()):
        prose = _prose(text, where)
        if prose is not None:
            pieces.append(text[position : prose.start])
            position = prose.end
    return "".join([*pieces, text[position:]])


def _prose(text: str, where: TextRange) -> TextRange | None:
    """Return the inside of a string of several lines, if it is prose."""
    if not text.startswith(('"""', "'''"), where.start):
        return None
    inside = TextRange(where.start + 3, where.end - 3)
    return inside if is_prose(inside.of(text)) else None


_NOT_IN_PROSE = b"\\" + bytes([*range(9), *range(11, 32), 127])
"""The backslash, and the control characters that are neither tab nor line feed."""


def is_prose(text: str) -> bool:
    """Return whether a text holds nothing but what may stand in any string of several lines, quotes aside."""
    # A regular expression would take three times as long.
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw.translate(None, _NOT_IN_PROSE)) == len(raw)


def _problems(
    text: str, document: Document, found: tuple[SyntaxProblem, ...], verdict: tomli.TOMLDecodeError
) -> Iterator[SyntaxProblem]:
    """Yield the syntax errors of the text, as far as one pass can find them."""
    yield from found
    clashing = [SyntaxProblem(*each) for each in redefinitions(document)]
    yield from clashing
    if not found and not (clashing and verdict.msg.startswith(_CLASH)):
        yield _explain(text, document, verdict)


_CLASH = ("Cannot", "Duplicate")
"""The beginnings of tomli's messages about two statements that clash."""


def _explain(text: str, document: Document, verdict: tomli.TOMLDecodeError) -> SyntaxProblem:
    """Return tomli's error as a problem, for a text whose statements are well-formed one by one."""
    offset = _offset(text, verdict)
    here = TextRange(offset, min(offset + 1, len(text)))
    value = None
    for entry in (entry for table in document.tables for entry in table.entries):
        value = value or _innermost(entry.value, offset)
    if value is None or value.kind in _CONTAINERS or here.of(text) == "\r":
        return SyntaxProblem(here, _in_words(text, offset, verdict.msg))
    if value.kind is ValueKind.STRING:
        return _explain_string(text, offset, verdict.msg)
    token = value.range.of(text)
    return SyntaxProblem(value.range, f"`{token[:40]}` is not a valid {value.kind.value}")


def _offset(text: str, verdict: tomli.TOMLDecodeError) -> int:
    """Return where in `text` tomli stopped. tomli counts in a text without BOM and with CR LF as LF."""
    original = text.removeprefix("\ufeff")
    offset = verdict.pos
    if "\r\n" in original:
        offset = 0
        for _ in range(verdict.pos):
            offset += 2 if original.startswith("\r\n", offset) else 1
    return min(offset + len(text) - len(original), len(text))


def _explain_string(text: str, offset: int, message: str) -> SyntaxProblem:
    escape = TextRange(offset - 2, offset)  # tomli stops behind the letter of an escape.
    if message.startswith("Unescaped"):
        message = f"`{escape.of(text)}` is not an escape (write `\\\\` for a backslash)"
        return SyntaxProblem(escape, message)
    if message.startswith("Invalid hex"):
        digits = _DIGITS_OF_ESCAPE.get(text[offset - 1 : offset], "more")
        message = (
            f"`{escape.of(text)}` is not an escape without {digits} hexadecimal digits "
            "(write `\\\\` for a backslash)"
        )
        return SyntaxProblem(escape, message)
    return SyntaxProblem(TextRange(offset, offset + 1), _in_words(text, offset, message))


_DIGITS_OF_ESCAPE = {"x": "2", "u": "4", "U": "8"}


def _in_words(text: str, offset: int, message: str) -> str:
    """Return tomli's message in plain words."""
    character = text[offset : offset + 1]
    if character == "\r":
        return "a carriage return alone does not end a line (lines end with LF or CR LF)"
    if message.startswith(("Illegal", "Found invalid")):
        return (
            f"there is a control character here, U+{ord(character):04X}, which TOML does not allow"
        )
    if message.startswith("Escaped character"):
        return "this escape does not name a character"
    if message.startswith(_CLASH):
        return "this redefinitions with what is written above"
    return message[:1].lower() + message[1:]


_CONTAINERS = (ValueKind.ARRAY, ValueKind.INLINE_TABLE)


def _innermost(value: Value | None, offset: int) -> Value | None:
    if value is None or not value.range.touches(offset):
        return None
    parts = (*value.items, *(entry.value for entry in value.entries))
    return next((inner for part in parts if (inner := _innermost(part, offset))), value)
