"""The quick check of an agent file by its values alone, which is enough for most files.

tomli is compiled, our tree is not: the values of a file without problems are known in a fifth of the
time that building the tree takes. The tree is built later, when a position in the file is needed.

Nothing is judged here in another way than in check.py: what may be wrong, or is not plain, is left
to it. A property test sees to it that it finds nothing wrong in what is valid here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.check.beyond_axe import KNOWN_TO_AXE, refusal
from axe_lsp.agentfile.check.check import INT64, range_message
from axe_lsp.agentfile.check.combinations import INVOLVED
from axe_lsp.agentfile.check.ignores import may_hold_ignores
from axe_lsp.agentfile.schema.agent_keys import AGENT, TOOLS
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, KeyType, Names
from axe_lsp.agentfile.text.globs import may_be_bad
from axe_lsp.agentfile.text.parse import is_prose, values_of
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.secrets import find_secrets
from axe_lsp.agentfile.text.toml import parse_tree
from axe_lsp.agentfile.text.tree import Document, walk

Values = Mapping[str, Any]

_TABLE = (dict,)
_TYPES: Mapping[KeyType, tuple[type, ...]] = {
    KeyType.STRING: (str,),
    KeyType.INTEGER: (int,),
    KeyType.FLOAT: (float, int),
    KeyType.BOOLEAN: (bool,),
    KeyType.STRINGS: (list,),
    KeyType.TABLE: _TABLE,
}


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
    if values is None or not _are_valid(values, _plain_keys()):
        return None
    if not all(_is_given(values.get(name)) for name in _required()):
        return None
    if "sub_agents_config" in values and not values.get("sub_agents"):
        return None  # How to delegate, where there may be nobody to delegate to.
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
    """Who asks for one place in a file often asks for the next one there."""
    return parse_tree(text)[0]


@lru_cache(maxsize=10_000)
def _range_in(text: str, path: KeyPath, index: int | None) -> TextRange:
    """Thousands of files may be shown each with the same places in the files around them."""
    for item in walk(_document(text)):
        if item.path == path and item.entry.value is not None:
            value = item.entry.value
            return value.range if index is None else value.items[index].range
    raise KeyError(path)


class _Plain(Struct, frozen=True):
    """A key whose value can be judged by itself, and if it is a table those in it, by name.

    Any value of the right type will do where there is nothing to judge.
    """

    types: tuple[type, ...]
    inside: Mapping[str, _Plain]
    is_sound: Callable[[Any], bool] | None


@cache
def _plain_keys(table: KeyPath = ()) -> Mapping[str, _Plain]:
    return {
        spec.path[-1]: _Plain(_TYPES[spec.type], _plain_keys(spec.path), _judge_of(spec))
        for spec in AGENT.keys_of(table)
        if spec.type in _TYPES and spec.path in KNOWN_TO_AXE - INVOLVED
    }


@cache
def _required() -> tuple[str, ...]:
    return tuple(spec.path[0] for spec in AGENT.keys_of(()) if spec.required)


def _is_given(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_valid(values: Values, keys: Mapping[str, _Plain]) -> bool:
    for name, value in values.items():
        plain = keys.get(name)
        if plain is None or type(value) not in plain.types:
            return False
        if plain.is_sound is not None and not plain.is_sound(value):
            return False
        if plain.types is _TABLE and not _are_valid(value, plain.inside):
            return False
    return True


def _judge_of(spec: KeySpec) -> Callable[[Any], bool] | None:
    if spec.type is KeyType.STRINGS:
        return partial(_are_valid_words, spec)
    if spec.names is Names.MODEL:
        return partial(_is_valid_word, spec)
    is_free = spec.type in (KeyType.STRING, KeyType.BOOLEAN, KeyType.TABLE) and not spec.choices
    return None if is_free else partial(_is_in_range, spec)


def _are_valid_words(spec: KeySpec, words: Sequence[object]) -> bool:
    if not set(map(type, words)) <= {str}:
        return False
    is_free = spec.names not in (Names.TOOL, Names.GLOB)
    return is_free or all(_is_valid_word(spec, str(word)) for word in words)


def _is_valid_word(spec: KeySpec, word: str) -> bool:
    if spec.names is Names.GLOB:
        return not may_be_bad(word)
    if spec.names is Names.TOOL and word not in TOOLS:
        return False
    return refusal(spec, word) is None


def _is_in_range(spec: KeySpec, value: Any) -> bool:
    if spec.type is KeyType.INTEGER and value not in INT64:
        return False
    return range_message(spec, value) is None
