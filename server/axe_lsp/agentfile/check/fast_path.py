"""The quick check of an agent file by its values alone, which is enough for most files.

tomli is compiled, our tree is not: the values of a file without problems are known in a fifth of the
time that building the tree takes. The tree is built later, when a position in the file is needed.

What may be wrong is left to check.py, as plain_values.py says.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from axe_lsp.agentfile.check.ignores import may_hold_ignores
from axe_lsp.agentfile.check.plain_values import Values, are_plain
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.text.parse import is_prose
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.secrets import find_secrets
from axe_lsp.agentfile.text.toml import parse_tree
from axe_lsp.agentfile.text.tree import Document, walk
from axe_lsp.agentfile.text.values import values_of


class ShortenedText(Struct, frozen=True, gc=False):
    """The text of a file, which lacks `removed` characters of a prompt at `cut`."""

    text: str
    cut: int = 0
    removed: int = 0

    def place_of(self, path: KeyPath, index: int | None = None) -> TextRange:
        """Where the whole text has the value of a key, or an element of it. Raises KeyError if it has none."""
        there = _range_in(self.text, path, index)
        return TextRange(self._place(there.start), self._place(there.end))

    def _place(self, offset: int) -> int:
        return offset + self.removed if offset > self.cut else offset


class ValidValues(Struct, frozen=True):
    """The values of a file and its text, both without the prompt, which can't have a problem."""

    values: Values
    shortened_text: ShortenedText


def valid_values(text: str) -> ValidValues | None:
    """A look at the text of an agent file. None if it can't be certain that nothing is wrong with it by itself."""
    if may_hold_ignores(text) or any(find_secrets(text)):
        return None
    shortened_text = shortened(text)
    values = values_of(shortened_text.text)
    if values is None or not are_plain(values):
        return None
    return ValidValues(values, shortened_text)


_PROMPT = re.compile(r"\nsystem_prompt[ \t]*=[ \t]*(\"\"\"|''')")


def shortened(text: str) -> ShortenedText:
    """Most of a file is its prompt, which is not needed to find a place in the rest."""
    # To look for a text is several times as fast as to look for an expression.
    opening = _PROMPT.match(text, max(0, text.find("\nsystem_prompt")))
    if opening is None or text.count('"""') + text.count("'''") != 2:
        return ShortenedText(text)  # What looks like the key may stand in another string.
    start = opening.end()
    end = text.find(opening[1], start)
    if end < start or not is_prose(text[start:end].replace("\r\n", "\n")):
        return ShortenedText(text)
    return ShortenedText(text[:start] + text[end:], start, end - start)


@lru_cache(maxsize=1)
def _document(text: str) -> Document:
    """The tree of the last text: callers often ask for several places of one file."""
    return parse_tree(text)[0]


@lru_cache(maxsize=10_000)
def _range_in(text: str, path: KeyPath, index: int | None) -> TextRange:
    """Thousands of files may be shown each with the same places in the files around them."""
    for item in walk(_document(text)):
        if item.path == path and item.entry.value is not None:
            value = item.entry.value
            return value.range if index is None else value.items[index].range
    raise KeyError(path)
