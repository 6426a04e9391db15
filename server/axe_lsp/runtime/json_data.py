"""Structs as JSON, and JSON as text: `run_id` is `runId`, and what is None is left out.

msgspec writes and reads what it can. Python's own `json` is slower, and takes what msgspec refuses or changes:
NaN, infinities, and half a character (a lone surrogate). Only `json_text` and `decoded` know of that.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

Json = Any
"""A value as `json.loads` returns it."""

Value = TypeVar("Value")


class JsonStruct(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A struct that clients see as a JSON object. Mappings in it keep their keys as they are.

    A field whose default is not None is left out as well when it has that value, unless it is `written`.
    """


def written(default: Value) -> Value:
    """Return the default of a field that is in the JSON also when it has this value."""
    return field(default_factory=lambda: default)


def to_json(value: Struct) -> dict[str, Json]:
    """Return the object that `value` is in JSON. Arrays are lists or tuples; paths are strings."""
    members: dict[str, Json] = msgspec.to_builtins(value, enc_hook=str)
    return members


def from_json(kind: type[Value], value: Json) -> Value:
    """Convert `value` to a `kind`, validated. Fields that `kind` lacks are ignored. Raises ValueError."""
    return msgspec.convert(value, kind, dec_hook=_as_path)


def json_text(value: Json) -> str:
    """Return a value or a struct as compact JSON that can be written in UTF-8."""
    plain = plain_json(value)
    if plain is not None:
        return plain.decode()
    text = _ENCODER.encode(msgspec.to_builtins(value, enc_hook=str))
    # A lone surrogate, which JSON can spell and UTF-8 can't, becomes a question mark.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def plain_json(value: Json) -> bytes | None:
    """Return the same as bytes, made many times as fast; None for a value that only Python's `json` can write.

    That is one with half a character, or with a null in its JSON, which may have been a NaN.
    """
    try:
        text = msgspec.json.encode(value, enc_hook=str)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    return None if b"null" in text else text


def decoder_of(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder for a type of ours, or for a union of tagged structs."""
    return msgspec.json.Decoder(kind, dec_hook=_as_path)


def decoded(line: bytes, decoder: msgspec.json.Decoder[Value]) -> Value:
    """Return the value of a line of JSON, validated. Raises ValueError."""
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:
            value: Value = msgspec.convert(
                json.loads(line.decode()), decoder.type, dec_hook=_as_path
            )
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        else:
            return value


def _as_path(kind: type, value: Any) -> Any:
    """Return the one type of our fields that msgspec does not know."""
    if kind is Path:
        return Path(value)
    raise NotImplementedError(kind)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
