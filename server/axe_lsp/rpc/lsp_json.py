"""Between JSON and the classes of lsprotocol.

Knows which class a method's params and result have, and nothing of messages. One converter serves
all connections: it is immutable apart from the code that it caches per class.
"""

from __future__ import annotations

import functools
import re
from typing import Any, TypeVar, cast

import attrs
from cattrs import ClassValidationError, Converter, IterableValidationError, transform_error
from lsprotocol import converters, types
from lsprotocol.types import METHOD_TO_TYPES
from msgspec import to_builtins

from axe_lsp.serving.json_rpc import Wire

T = TypeVar("T")


class MisfitError(Exception):
    """JSON that doesn't fit the type of a method's params or result; the message says where and why."""


@functools.cache
def shared_converter() -> Converter:
    """Return the converter of all connections."""
    converter = converters.get_converter()

    part, whole = (
        types.TextDocumentContentChangePartial,
        types.TextDocumentContentChangeWholeDocument,
    )

    def read_change(change: Any, _: Any) -> Any:
        # cattrs goes by the key alone, and takes `"range": null` for a change of a part.
        is_part = isinstance(change, dict) and change.get("range") is not None
        return converter.structure(change, part if is_part else whole)

    converter.register_structure_hook(part | whole, read_change)
    return converter


def read_params(method: str, params: Any) -> Any:
    """Return the params as lsprotocol's class for the method; unchanged for methods that LSP doesn't define."""
    params_type = METHOD_TO_TYPES[method][2] if method in METHOD_TO_TYPES else None
    if params_type is None:
        return params
    # Clients leave out params of which every member is optional.
    return _structure({} if params is None else params, params_type, "params")


def read_result(method: str, result: Any) -> Any:
    """Return the client's answer to `method`, likewise."""
    response_type = METHOD_TO_TYPES[method][1] if method in METHOD_TO_TYPES else None
    if response_type is None:
        return result
    message = {"id": 0, "jsonrpc": "2.0", "result": result}
    return _structure(message, response_type, "answer").result


def structured(value: Any, wanted: type[T], name: str) -> T:
    """Return a part of a message as a class of lsprotocol. Raises MisfitError."""
    return cast(T, _structure(value, wanted, name))


def to_json(value: Any) -> Any:
    """Return the JSON for an object that `json.dumps` doesn't know."""
    if isinstance(value, Wire):
        return to_builtins(value)
    if not attrs.has(type(value)):
        raise TypeError(f"a {type(value).__name__} can't be sent as JSON")
    return shared_converter().unstructure(value)


def _structure(value: Any, wanted: Any, name: str) -> Any:
    try:
        return shared_converter().structure(value, wanted)
    except (ClassValidationError, IterableValidationError) as error:
        raise MisfitError(_in_lsp_names("; ".join(transform_error(error, name)))) from error
    except Exception as error:
        # The hooks of lsprotocol raise whatever their code runs into.
        raise MisfitError(f"{name} is not valid in LSP here") from error


def _in_lsp_names(text: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), text)
