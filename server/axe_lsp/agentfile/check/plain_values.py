"""Checks of single values, and the files for which these checks are sufficient.

Nothing is judged here in another way than in check.py, which finds the places, too: what may be wrong, or is not
plain, is left to it. A property test sees to it that it finds nothing wrong in what is plain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from math import isfinite
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, KeyType, Names
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.schema.tools import TOOL_ALIASES, TOOLS
from axe_lsp.agentfile.text.globs import may_be_bad
from axe_lsp.agentfile.text.ranges import quoted

Values = Mapping[str, Any]

INT64 = range(-(2**63), 2**63)

_TABLE = (dict,)
_TYPES: Mapping[KeyType, tuple[type, ...]] = {
    KeyType.STRING: (str,),
    KeyType.INTEGER: (int,),
    KeyType.FLOAT: (float, int),
    KeyType.BOOLEAN: (bool,),
    KeyType.STRINGS: (list,),
    KeyType.TABLE: _TABLE,
}

KNOWN_TO_AXE = frozenset(
    key.path
    for key in agent_keys.KEYS
    if not any(agent_keys.key(key.path[:end]).is_extension for end in range(1, len(key.path) + 1))
)
"""The keys that axe does not ignore."""

_COMBINED: frozenset[KeyPath] = frozenset(
    [
        ("retry", "max_delay_ms"),
        ("artifacts", "dir"),
        ("params", "response_format"),
        ("mcp_servers",),
        ("isolation", "changes"),
    ]
)
"""The keys that axe.py is about, besides `sub_agents_config`: without them it finds nothing."""


class DefinitionError(ValueError):
    """The text is no agent. The message is axe's; `is_parse_error` when it could not be decoded.

    `line` and `column` count from 1, columns in code points.
    """

    def __init__(
        self, message: str, line: int, column: int, *, is_parse_error: bool = False
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.is_parse_error = is_parse_error


def are_plain(values: Values) -> bool:
    """Whether nothing can be wrong with an agent file of these values, except for what its text alone shows."""
    if not _are_valid(values, _plain_keys()):
        return False
    if not all(_is_given(values.get(name)) for name in _required()):
        return False
    # How to delegate, where there may be nobody to delegate to.
    return "sub_agents_config" not in values or bool(values.get("sub_agents"))


def range_message(spec: KeySpec, value: Any, path: KeyPath | None = None) -> str | None:
    """The fault of a value of the right type, if it has one. The message names `path`, or that of the row."""
    key = ".".join(path or spec.path)
    if spec.minimum is not None and isinstance(value, (int, float)) and value < spec.minimum:
        least = f"at least {spec.minimum}" if spec.minimum else "non-negative"
        return f"{key} must be {least}"
    if spec.maximum is not None and isinstance(value, (int, float)) and value > spec.maximum:
        return f"{key} cannot exceed {spec.maximum}"
    if isinstance(value, float) and not isfinite(value):
        return f"{key} must be a finite number"
    if spec.choices and value and isinstance(value, str) and value not in spec.choices:
        got = f"; got {quoted(value)}" if spec.says_value else ""
        return f"{key} must be one of: {', '.join(spec.choices)}{got}"
    return None


def refusal(spec: KeySpec, word: str) -> str | None:
    """Why axe does not take a word that axe-lsp takes, if it doesn't."""
    if spec.names is Names.TOOL and not _is_tool_of_axe(word):
        return f"axe rejects the file: it has no tool {quoted(word)}"
    provider, slash, _ = word.partition("/")
    if spec.names is Names.MODEL and slash and provider not in PROVIDERS:
        return f"axe does not know the provider {quoted(provider)}"
    return None


def _is_tool_of_axe(word: str) -> bool:
    """Words that nobody knows are another diagnostic's business."""
    if word in TOOLS:
        return not TOOLS[word].is_extension
    return word not in TOOL_ALIASES and not any(fnmatchcase(t, word) for t in TOOLS)


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
        if spec.type in _TYPES and spec.path in KNOWN_TO_AXE - _COMBINED
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
