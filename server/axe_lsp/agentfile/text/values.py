"""The Python values of the nodes of a TOML text.

A whole file has a value only if it is valid; a node has one as soon as the node itself is. tomli
decides in every case that is not trivial, so that a node means what the runtime will read.
"""

from __future__ import annotations

import re
from typing import Any

import tomli
from msgspec import UNSET

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Value, ValueKind

# A keystroke asks for thousands of values; names of a module are found in a fraction of the time.
_STRING, _ARRAY, _INVALID = ValueKind.STRING, ValueKind.ARRAY, ValueKind.INVALID
_DECIMAL = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def decode(text: str, value: Value) -> Any:
    """Return the value of a node, or None if the node is unfinished or invalid."""
    kind, where = value.kind, value.range
    if value.decoded is not UNSET or not value.complete or kind is _INVALID:
        return value.decoded if value.decoded is not UNSET else None
    token = text[where.start : where.end]
    if kind is _STRING:
        return unquote(token)
    if kind is _ARRAY:
        return [decode(text, item) for item in value.items]
    if kind is ValueKind.BOOLEAN:
        return token == "true"
    if _DECIMAL.fullmatch(token):
        return _number(token)
    return _by_tomli(token)


def unquote(token: str) -> str | None:
    """Return the content of a quoted string, or None if its escapes are invalid."""
    quote = token[0]
    if token[1:3] != quote * 2 and (quote == "'" or "\\" not in token):
        return token[1:-1]
    quote = _quote(token)
    if "\r" not in token and (quote == "'''" or "\\" not in token):
        return token[3:-3].removeprefix("\n")
    value = _by_tomli(token)
    return value if isinstance(value, str) else None


def content_range(text: str, value: Value) -> TextRange:
    """Return the range between the quotes of a string, closed or not; all of one of YAML that has no quotes."""
    start, end = value.range
    if text[start : start + 1] not in ("'", '"'):
        return value.range
    quotes = len(_quote(text[start : start + 3]))
    return TextRange(start + quotes, max(start + quotes, end - quotes if value.complete else end))


def inner_range(text: str, value: Value) -> TextRange:
    """Return the range between the quotes or brackets of a value, all of it where there are none."""
    start, end = value.range
    if value.kind is ValueKind.STRING:
        return content_range(text, value)
    if value.kind in (ValueKind.ARRAY, ValueKind.INLINE_TABLE) and end > start:
        return TextRange(start + 1, max(start + 1, end - 1 if value.complete else end))
    return value.range


def say_the_same(text: str, other: str) -> bool:
    """Return whether two texts are TOML and say the same; numbers with a point are compared as written."""
    try:
        return _said(text) == _said(other)
    except (tomli.TOMLDecodeError, RecursionError, ValueError):
        return False


def _quote(token: str) -> str:
    return token[:3] if token.startswith(('"""', "'''")) else token[:1]


def _number(token: str) -> int | float | None:
    try:
        return float(token) if "." in token else int(token)
    except ValueError:  # Python refuses to convert thousands of digits.
        return None


def _by_tomli(token: str) -> Any:
    try:
        return tomli.loads(f"value = {token}")["value"]
    except (tomli.TOMLDecodeError, RecursionError, ValueError):
        return None


def _said(text: str) -> dict[str, Any]:
    # As text, because nan is no number that equals itself.
    return tomli.loads(text.removeprefix("\ufeff"), parse_float=str)
