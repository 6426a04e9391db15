"""Whether a JSON value is what a type says: TypedDicts of a provider's own library, read to the letter.

Stricter than pydantic, which lets unknown keys pass and reads iterables late.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from typing_extensions import NotRequired, Required, get_type_hints, is_typeddict

_TRANSPARENT = (Annotated, Required, NotRequired)


def faults(type_: Any, value: Any, where: str = "body") -> list[str]:
    """Return where `value` is not of the type, in words."""
    origin, arguments = get_origin(type_), get_args(type_)
    if type_ in (Any, object):
        return []
    if origin in _TRANSPARENT:
        return faults(arguments[0], value, where)
    if origin in (Union, types.UnionType):
        return _of_union(arguments, value, where)
    if origin is Literal:
        return [] if value in arguments else [f"{where} is {value!r}, not one of {arguments}"]
    if is_typeddict(type_):
        return _of_table(type_, value, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return (
            _all(arguments[1], value, where) if isinstance(value, dict) else [f"{where}: {value!r}"]
        )
    if _is_list(type_, origin):
        return (
            _all(arguments[0], value, where) if isinstance(value, list) else [f"{where}: {value!r}"]
        )
    return [] if _is_plain(type_, value) else [f"{where} is {value!r}, not {type_}"]


def _of_union(choices: Sequence[Any], value: Any, where: str) -> list[str]:
    """Return the fewest faults, which are most likely those of the choice that was meant."""
    return min((faults(choice, value, where) for choice in choices), key=len)


def _of_table(type_: Any, value: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where} is {value!r}, not an object"] * 100  # Further off than any object.
    hints = get_type_hints(type_, include_extras=True)
    # A class whose annotations are strings does not know itself what it requires.
    required = [key for key, hint in hints.items() if get_origin(hint) is Required]
    found = [f"{where}.{key} is missing" for key in required if key not in value]
    for key, item in value.items():
        if key in hints:
            found += faults(hints[key], item, f"{where}.{key}")
        else:
            found.append(f"{where}.{key} is unknown to {type_.__name__}")
    return found


def _all(type_: Any, value: Any, where: str) -> list[str]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [fault for key, item in pairs for fault in faults(type_, item, f"{where}[{key}]")]


def _is_list(type_: Any, origin: Any) -> bool:
    name = getattr(origin or type_, "__name__", "")
    return origin in (list, Iterable, Sequence) or name == "SequenceNotStr"


def _is_plain(type_: Any, value: Any) -> bool:
    if type_ is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if type_ is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return type_ in (str, bool, type(None)) and isinstance(value, type_)
