"""The messages of JSON-RPC 2.0, as LSP narrows it: no batches, ids never null.

Knows no method and keeps no state. Reading never raises: a body that is no message becomes `Invalid`,
which says how it is answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from msgspec import DecodeError, Struct
from msgspec.json import Decoder, Encoder

MessageId: TypeAlias = int | str
JsonObject: TypeAlias = dict[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


class Request(Struct, frozen=True):
    """A message that gets exactly one answer. `params` is plain JSON, `None` where it was left out."""

    id: MessageId
    method: str
    params: Any


class Notification(Struct, frozen=True):
    """A message that gets no answer."""

    method: str
    params: Any


class Response(Struct, frozen=True):
    """The answer to a request of ours; `error` is `None` unless it failed."""

    id: MessageId | None
    result: Any
    error: Any


class Invalid(Struct, frozen=True):
    """A body that is no message; answered with `code`, and with its `id` if it had one."""

    code: int
    reason: str
    id: MessageId | None = None


class Wire(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The base of results and params that msgspec encodes, in a tenth of the time of Python's `json`.

    They hold such structs and plain JSON: no objects of lsprotocol, and no float that may be a NaN.
    """


class UnsendableError(Exception):
    """A message that has no form in JSON."""


_reader, _writer = Decoder(), Encoder()

Message: TypeAlias = Request | Notification | Response | Invalid


def read_message(body: bytes) -> Message:
    """Return the message in a body."""
    try:
        message = _loads(body)
    except RecursionError:
        return Invalid(PARSE_ERROR, "the message is nested too deeply")
    except UnicodeDecodeError as error:
        return Invalid(PARSE_ERROR, f"the message is not UTF-8: {error.reason}")
    except ValueError as error:
        return Invalid(PARSE_ERROR, f"the message is not JSON: {error}")
    return _classify(message)


def write_message(message: JsonObject, default: Callable[[Any], Any]) -> bytes:
    """Return the body for `message`; `default` turns into JSON what isn't (as for `json.dumps`).

    Raises `UnsendableError` for what has no form in JSON, such as NaN.
    """
    if isinstance(message.get("result", message.get("params")), Wire):
        with suppress(UnicodeEncodeError):
            return _writer.encode(message)
    try:
        return _dumps(message, default, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which JSON can only hold escaped.
        return _dumps(message, default, ensure_ascii=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UnsendableError(str(error)) from error


def plain_json(value: Any) -> bytes:
    """Encode a value as JSON without NaN; equal values give the same bytes."""
    try:
        return _writer.encode(value)
    except UnicodeEncodeError:  # Half a surrogate pair.
        return json.dumps(value).encode()


def id_of(message: JsonObject) -> MessageId | None:
    """Return the id in a message, or in the params of `$/cancelRequest`; `None` if it is no id."""
    value = message.get("id")
    return value if isinstance(value, (int, str)) and not isinstance(value, bool) else None


def _loads(body: bytes) -> Any:
    """Return the value of the JSON. msgspec takes a tenth of the time, but no NaN, BOM or half a surrogate pair."""
    try:
        return _reader.decode(body)
    except (DecodeError, UnicodeDecodeError):
        return json.loads(body)


def _dumps(message: JsonObject, default: Callable[[Any], Any], *, ensure_ascii: bool) -> str:
    return json.dumps(
        message, default=default, ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":")
    )


def _classify(message: Any) -> Message:
    if isinstance(message, list):
        return Invalid(INVALID_REQUEST, "batches are not supported; send one message at a time")
    if not isinstance(message, dict):
        return Invalid(INVALID_REQUEST, "a message must be a JSON object")
    if message.get("jsonrpc") != "2.0":
        return Invalid(INVALID_REQUEST, '"jsonrpc" must be "2.0"', id_of(message))
    if "method" in message:
        return _classify_call(message)
    if "result" in message or "error" in message:
        # Also without a usable id: an error that answered an error would go back and forth forever.
        return Response(id_of(message), message.get("result"), message.get("error"))
    return Invalid(INVALID_REQUEST, 'a message must have a "method"', id_of(message))


def _classify_call(message: JsonObject) -> Message:
    method, params, message_id = message["method"], message.get("params"), id_of(message)
    if not isinstance(method, str):
        return Invalid(INVALID_REQUEST, '"method" must be a string', message_id)
    if "id" not in message:
        return Notification(method, params)
    if message_id is None:
        return Invalid(INVALID_REQUEST, '"id" must be an integer or a string')
    return Request(message_id, method, params)
