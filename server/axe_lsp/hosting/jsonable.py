"""Frozen data to JSON and back: `run_id` is `runId`, and what is None is left out.

Only names of fields are translated. A mapping belongs to somebody else (the arguments of a tool
call, an agent's structured output) and passes through as it is.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec.json
from msgspec import Struct

Json = Any
"""A value as `json.loads` returns it."""

Data = TypeVar("Data")

_PLAIN = frozenset({str, int, float, bool})
"""What is JSON as it is. Most fields are, and events come by the thousand."""


def to_json(value: Any, but: str = "") -> Json:
    """`value` as JSON: structs become objects, tuples arrays, paths strings. `but` is a field that is left out."""
    kind: type = type(value)
    if kind in _PLAIN:
        return value
    keys = _keys(kind, but)
    if keys is not None:
        return {
            key: part if type(part) in _PLAIN else to_json(part)
            for name, key in keys
            if (part := getattr(value, name)) is not None
        }
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    return str(value) if isinstance(value, PurePath) else value


def from_json(kind: type[Data], value: Mapping[str, Json]) -> Data:
    """`value` as a `kind`. Absent fields have their defaults; what `kind` lacks is passed over.

    Raises TypeError when a field that has no default is absent.
    """
    return kind(**_arguments(kind, value))


def json_text(value: Json) -> str:
    """`value`, which is JSON, as compact text that can be written in UTF-8."""
    plain = plain_json(value)
    if plain is not None:
        return plain.decode()
    text = _ENCODER.encode(value)
    # A lone surrogate, which JSON can spell and UTF-8 can't, becomes a question mark.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def plain_json(value: Json) -> bytes | None:
    """`value`, which is JSON, as compact JSON, made many times as fast as by Python's own `json`.

    None for what needs a closer look: half a character, or a null, which may have been a NaN.
    """
    try:
        text = msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    return None if b"null" in text else text


def parsed_json(line: bytes) -> Json:
    """What `json.loads` makes of it, several times as fast where it is plain. Raises ValueError."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return json.loads(line.decode())


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _arguments(kind: Any, value: Mapping[str, Json]) -> dict[str, Any]:
    return {name: _part(hint, value[key]) for name, key, hint in _shape(kind) if key in value}


def _part(hint: Any, value: Json) -> Any:
    if hint is Path:
        return Path(value)
    for option in (hint, *get_args(hint)):
        if isinstance(option, type) and issubclass(option, Struct) and value is not None:
            return from_json(option, value)
    return tuple(value) if get_origin(hint) is tuple else value


@functools.cache
def _keys(kind: type, but: str) -> tuple[tuple[str, str], ...] | None:
    """Name and key of each field, None of what is no struct; looked up once."""
    if not issubclass(kind, Struct):
        return None
    return tuple((name, _camel_case(name)) for name in kind.__struct_fields__ if name != but)


@functools.cache
def _shape(kind: type[Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Name, key and type of each field; looked up once, since events come by the thousand."""
    hints = get_type_hints(kind)
    return tuple((name, _camel_case(name), hints[name]) for name in kind.__struct_fields__)


def _camel_case(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
