"""Arguments of a tool call in the types of the tool's JSON Schema.

Models write `"5"` and `5.0` for 5, and `null` for an argument that they leave out. Strict servers refuse both, and
some want `null` for what a model leaves out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from axe_lsp.runtime.messages import Json

_MOST_REFERENCES = 20
"""References of a schema that are followed for one value, which may lead in a circle."""

_MOST_STEPS = 100_000
"""Schemas that are compared with values for one call. References of a stranger's schema can lead to endless ones."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,400}(?:\.0*)?")


def fit_arguments(arguments: Mapping[str, Json], schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return the arguments in the types of their schema, as far as that keeps their meaning.

    An optional `null` that does not fit is left out, and a required argument that may be `null` is `null` if it
    is missing. A schema that takes too long to follow changes nothing.
    """
    try:
        return _Fitting(schema).members(arguments, schema)
    except (_TooMuchWorkError, RecursionError):
        return dict(arguments)


class _TooMuchWorkError(Exception):
    """A schema whose references and alternatives lead to too many others."""


class _Fitting:
    """Fits values to parts of one schema, whose references lead into the `root`."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._steps = 0

    def members(self, value: Mapping[str, Json], schema: Json) -> dict[str, Json]:
        """Return an object whose members fit."""
        properties, required = self._members_of(schema)
        fitted = {
            name: self.value(each, properties[name]) if name in properties else each
            for name, each in value.items()
            if each is not None
            or name in required
            or name not in properties
            or self._accepts(None, properties[name])
        }
        for name in required:
            if name not in value and name in properties and self._allows_null(properties[name]):
                fitted[name] = None
        return fitted

    def _members_of(self, schema: Json) -> tuple[dict[str, Json], list[str]]:
        """Return the properties of an object, and the names of those that it must have."""
        properties: dict[str, Json] = {}
        required: list[str] = []
        for part in self._parts(schema):
            own, names = part.get("properties"), part.get("required")
            properties |= own if isinstance(own, dict) else {}
            names = names if isinstance(names, list) else []
            required += [name for name in names if isinstance(name, str)]
        return properties, required

    def value(self, value: Json, schema: Json) -> Json:
        """Return a value that fits a schema, or the same value if there is none."""
        for part in self._parts(schema):
            alternatives = _alternatives_of(part)
            if alternatives:
                value = self._fit_one_of(value, alternatives)
            elif not self._accepts(value, part) or _is_float(value):
                value = _converted(value, _types_of(part))
        if isinstance(value, dict):
            return self.members(value, schema)
        if isinstance(value, list):
            items = [part["items"] for part in self._parts(schema) if "items" in part]
            return [self.value(each, items[0]) for each in value] if items else value
        return value

    def _fit_one_of(self, value: Json, alternatives: list[Json]) -> Json:
        """Return a value that fits one of several schemas, which it need not fit yet."""
        accepting = [each for each in alternatives if self._accepts(value, each)]
        for each in accepting or alternatives:
            fitted = self.value(value, each)
            if self._accepts(fitted, each):
                return fitted
        return value

    def _accepts(self, value: Json, schema: Json) -> bool:
        """Return whether the types of a schema have a value."""
        for part in self._parts(schema):
            types, alternatives = _types_of(part), _alternatives_of(part)
            if types and not any(_IS[name](value) for name in types):
                return False
            if alternatives and not any(self._accepts(value, each) for each in alternatives):
                return False
            choices = part.get("enum")
            if isinstance(choices, list) and value not in choices:
                return False
        return True

    def _allows_null(self, schema: Json) -> bool:
        """Return whether a schema names `null`, and not only leaves it open."""
        return self._accepts(None, schema) and any(
            "null" in _types_of(part) or _alternatives_of(part) for part in self._parts(schema)
        )

    def _parts(self, schema: Json) -> Iterator[dict[str, Any]]:
        """Yield the schemas all of which hold: the schema, that to which it refers, and those of `allOf`."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _TooMuchWorkError
        left = [schema]
        for _ in range(_MOST_REFERENCES):
            if not left:
                return
            part = left.pop()
            if not isinstance(part, dict):
                continue
            yield part
            left += part["allOf"] if isinstance(part.get("allOf"), list) else []
            left += [self._target(part["$ref"])] if isinstance(part.get("$ref"), str) else []

    def _target(self, reference: str) -> Json:
        place = self._root
        for name in reference.removeprefix("#/").split("/"):
            place = place.get(name) if isinstance(place, dict) else None
        return place


def _alternatives_of(schema: Mapping[str, Json]) -> list[Json]:
    found = schema.get("anyOf") or schema.get("oneOf")
    return found if isinstance(found, list) else []


def _types_of(schema: Mapping[str, Json]) -> list[str]:
    stated = schema.get("type")
    names = stated if isinstance(stated, list) else [stated]
    return [name for name in names if isinstance(name, str) and name in _IS]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_float(value: Json) -> bool:
    return isinstance(value, float)


_IS: Mapping[str, Callable[[Json], bool]] = {
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _converted(value: Json, types: list[str]) -> Json:
    """Return a text or a number as the first of the types that it can be read as."""
    if isinstance(value, float):
        is_whole = "integer" in types and "number" not in types and value.is_integer()
        return int(value) if is_whole else value
    if not isinstance(value, str):
        return value
    for name in types:
        read = _READERS.get(name)
        try:
            return read(value.strip()) if read is not None else value
        except ValueError:
            continue
    return value


def _integer(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(text)
    return int(text.partition(".")[0])


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _truth(text: str) -> bool:
    """Read a boolean as axe does."""
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise ValueError(text)


_READERS: Mapping[str, Callable[[str], Json]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _truth,
}
