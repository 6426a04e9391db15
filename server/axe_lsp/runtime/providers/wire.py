"""The common parts of the wire formats: JSON from outside, addresses, errors.

An answer is never trusted: whatever it holds, reading it gives a value or a WireError that says
what is wrong and where.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, Protocol
from urllib.parse import urlencode, urlsplit

from msgspec import Struct

from axe_lsp.agentfile.schema.providers import PARAMS, Wire
from axe_lsp.runtime.messages import (
    Delta,
    Image,
    Json,
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolParameter,
)
from axe_lsp.runtime.plain_text import decode, valid_text
from axe_lsp.runtime.providers.restrictions import Restrictions, is_set, param_value

_DEEPEST = 100
"""Levels of a call's arguments. All that reads them goes down level by level, and Python not for ever."""

_VERSION = r"[^/]/v\d[^/]*(/|$)"

_ENDPOINT = r"(/v\d[^/]*(?:/openai)?|/deployments/[^/]+)/(?:chat/completions|messages|responses)$"
_ENDS = ("/completions", "/messages", "/responses")
"""The ends of endpoints. The pattern is compiled for those alone."""

_WHOLE = {"v1/chat/completions": "/chat/completions", "api/chat": "/api/chat"}
"""The end of a base URL that is the whole address, by the path that would follow it."""


class WireError(ValueError):
    """An answer that is not of its wire format."""


class StreamDecoder(Protocol):
    """Reads a streamed answer, line by line, or in chunks of any size if the wire is binary."""

    is_abrupt: bool = False
    """Whether the reason for the end has come with the first piece of the answer.

    Then it may be one of a server that gives a reason with each piece.
    """

    @property
    def is_over(self) -> bool:
        """Whether the end mark of the wire has come, so that nothing is missing if the connection breaks."""

    @property
    def is_ending(self) -> bool:
        """Whether the model has said its last word. Tokens and the end mark may still follow."""
        return self.is_over

    def feed(self, line: bytes) -> Delta:
        """Take a line without its end, or a chunk; returns what it adds to the answer.

        Raises WireError, or ProviderError for an error that the provider reports in the stream.
        """

    def finish(self) -> Response:
        """Return the whole answer, equal to the unstreamed one. Raises WireError if it is incomplete."""


BUDGET_ONLY = "params.effort is not sent: of the two, the model gets params.thinking_budget"
"""For models that take one of the two."""


def without_budget(model: str) -> str:
    """Return the warning about a model that takes no budget."""
    return (
        f"params.thinking_budget is not sent: the model {model} decides itself how long it thinks, "
        "and params.effort says how much"
    )


PICTURE = "a picture"
"""The name of a picture in an answer, for `Response.unread`."""

NOT_OFFERED = "a call of a tool that is not offered ({})"
"""The name of a call of a kind that no request offers, with the word of the wire."""


class Shape(Struct, frozen=True):
    """The shape of the requests and answers of a wire, as other modules need it.

    `headers` has each request beside the content type and the key. `stream_types` are the media types
    of a streamed answer, whose pieces are lines, or frames of bytes if it `is_binary`. With `any_version`
    a base URL may hold a version of its own in place of the path's. `messages` is the field of a
    request's body that holds them, and `cache_mark` what is at the end of the last block of a message up
    to which the provider shall cache, nothing if it does not want to be told. With `system_message` the system prompt is
    the first message. `has_tags`: servers without a
    parser for thoughts leave them between tags in the text. `advice` follows an error's
    message that a pattern fits, with the `{provider}`, the `{model}` and the `{address}`.
    """

    headers: Mapping[str, str] = {}
    stream_types: frozenset[str] = frozenset({"text/event-stream"})
    any_version: bool = False
    is_binary: bool = False
    messages: str = "messages"
    system_message: bool = False
    cache_mark: bytes = b""
    has_tags: bool = False
    advice: Mapping[str, str] = {}


class WireFormat(Protocol):
    """The interface of a module for a wire format."""

    SHAPE: Shape

    def path(self, model: str, stream: bool) -> str:
        """Return where requests go, below the base URL. The first part is left out if the base has a version."""

    def head(self, request: Request, stream: bool, restrictions: Restrictions) -> dict[str, Json]:
        """Return the body of a request without its messages."""

    def dropped(self, request: Request, restrictions: Restrictions) -> list[str]:
        """Return the parameters that others exclude, so they are not sent: a sentence for each."""

    def encode_message(self, message: Message, marked: bool) -> list[Json]:
        """Return a message, which may become several. `marked`: the provider shall cache all up to it."""

    def decode(self, body: Json) -> Response:
        """Return the answer in a whole body. Raises WireError or ProviderError."""

    def stream_decoder(self) -> StreamDecoder:
        """Return a decoder for one streamed answer."""


def has_content(message: Message) -> bool:
    """Return whether a message has more than the texts that are given with it."""
    return bool(message.content or message.images or message.tool_calls or not message.given)


def given_messages(message: Message) -> list[Json]:
    """Return the texts that are given with a message as messages of the user, for a wire that takes several in a row."""
    return [{"role": "user", "content": text} for text in message.given]


class Node:
    """A JSON value and where it stands. What is absent or null is empty, as in axe."""

    __slots__ = ("_name", "_parent", "value")

    def __init__(self, value: Json, name: str = "response", parent: Node | None = None) -> None:
        self.value = value
        self._name = name
        self._parent = parent

    @property
    def where(self) -> str:
        """The path of the value, which is computed only for an error message."""
        return self._parent.where + self._name if self._parent is not None else self._name

    def __getitem__(self, key: str) -> Node:
        value = self.value
        member = value.get(key) if isinstance(value, dict) else self.table().get(key)
        return Node(member, "." + key, self)

    def text(self) -> str:
        """Return a string."""
        if self.value is None:
            return ""
        return self.value if isinstance(self.value, str) else self._fail("a string")

    def integer(self) -> int:
        """Return a whole number."""
        if self.value is None:
            return 0
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.value
        if isinstance(self.value, float) and self.value.is_integer():  # Some servers write 12.0.
            return int(self.value)
        return self._fail("an integer")

    def table(self) -> dict[str, Json]:
        """Return an object."""
        if self.value is None:
            return {}
        return self.value if isinstance(self.value, dict) else self._fail("an object")

    def items(self) -> list[Node]:
        """Return the elements of an array."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            self._fail("an array")
        return [Node(value, f"[{index}]", self) for index, value in enumerate(self.value)]

    def _fail(self, wanted: str) -> NoReturn:
        raise WireError(f"{self.where} is not {wanted}")


def parse_json(data: bytes | str) -> Json:
    """Parse strict JSON. Invalid UTF-8 and lone surrogates become U+FFFD. Raises WireError."""
    text = decode(data) if isinstance(data, bytes) else data
    try:
        value = _DECODER.decode(text)
        return _valid(value) if "\\u" in text else value
    except RecursionError:
        raise WireError("nested too deeply") from None
    except json.JSONDecodeError as error:
        if not text.strip():
            raise WireError("it is empty") from None
        place = f"line {error.lineno}, column {error.colno}"
        raise WireError(f"it is not JSON: {error.msg} ({place})") from None
    except ValueError as error:
        raise WireError(str(error)) from None


def read_call(id_: str, name: str, arguments: Node, *, is_whole: bool = True) -> ToolCall:
    """Return a call whose arguments are a JSON text, or the object itself, as some servers write them. No text means none."""
    if isinstance(arguments.value, dict):
        return ToolCall(id_, name, usable_arguments(arguments.value), is_broken=not is_whole)
    text = arguments.text()
    value, is_empty = parse_arguments(text), "".join(text.split()) in ("", "{}")
    return ToolCall(id_, name, value, is_broken=not (is_whole and (value or is_empty)))


def parse_arguments(text: str) -> Mapping[str, Json]:
    """Return the arguments of a tool call in a JSON text; none if it is no JSON object (001-3.4)."""
    try:
        value = parse_json(text)
    except WireError:
        return {}
    return usable_arguments(value) if isinstance(value, dict) else {}


def with_arguments(call: dict[str, Json], name: str) -> dict[str, Json]:
    """Return a call as the provider wants it back: its arguments are an object, also if they came as a JSON text."""
    given = call.get(name)
    return {**call, name: dict(parse_arguments(given))} if isinstance(given, str) else call


def returned_parts(
    parts: Iterable[Json], message: Message, call: Callable[[Json, ToolCall], Json | None]
) -> Iterator[Json]:
    """Yield the parts of an answer as the provider gets them back, with the calls of the message.

    `call` returns a part with the id and the name of a call, None for a part that is no call. Calls that nobody
    has answered are left out, since a service refuses them.
    """
    calls = iter(message.tool_calls)
    nobody = ToolCall("", "")
    for part in parts:
        if call(part, nobody) is None:
            yield part
        elif (answered := next(calls, None)) is not None:
            yield call(part, answered)


def usable_arguments(arguments: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the arguments; none if a model that went astray has nested them as no tool wants them.

    So the tool says what is missing, as for text that is no JSON, and the run goes on.
    """
    return {} if is_deeper(arguments, _DEEPEST) else arguments


def is_deeper(value: Json, levels: int) -> bool:
    """Return whether a value is nested in more levels."""
    level = [value]
    for _ in range(levels):
        level = [item for each in level for item in _items_of(each)]
        if not level:
            return False
    return True


def returnable(
    parts: Iterable[dict[str, Json]], call: str, arguments: str
) -> Iterable[dict[str, Json]]:
    """Yield the parts of an answer that can be sent back to the model: without those that are nested too deeply.

    A part with a tool call in the member `call` stays, without the `arguments` of the call.
    """
    for part in parts:
        if usable_arguments(part):
            yield part
        elif part.get(call) is not None:
            yield {**part, call: {**part[call], arguments: {}}}


def _items_of(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def plain_params(request: Request, wire: Wire, *, has_budget: bool = False) -> dict[str, Json]:
    """Return the fields for the parameters of `PARAMS` that are set; no sampling if the model thinks by a budget."""
    specs = (
        spec for spec in PARAMS if wire in spec.fields and not (has_budget and spec.is_sampling)
    )
    values = (
        (spec, param_value(request, spec.name)) for spec in specs if is_set(request, spec.name)
    )
    return {
        spec.fields[wire]: list(value) if isinstance(value, tuple) else value
        for spec, value in values
    }


def sampling_of(request: Request, wire: Wire) -> list[str]:
    """Return the names of the sampling parameters that are set and that the wire has."""
    return [
        spec.name
        for spec in PARAMS
        if spec.is_sampling and wire in spec.fields and is_set(request, spec.name)
    ]


def stated(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields of a body that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def to_json(value: Json) -> str:
    """Compact JSON."""
    return valid_text(_ENCODER.encode(value))


def address(
    base_url: str,
    path: str,
    any_version: bool = False,
    query: Mapping[str, str] | None = None,
) -> str:
    """Return where requests go. A base that already ends in the path's first part (`/v1`) is as good.

    So is, with `any_version`, one that has a version of its own (`/api/v3`, `/v1beta/openai`), or that
    names a deployment of Azure. What a base has behind a `?` goes behind the path, before `query`. A base
    that is the address of an endpoint with a version is taken for its beginning, and one without a version as it is.
    """
    base, _, asked = base_url.partition("?")
    base = base.rstrip("/")
    if base.endswith(_ENDS):
        base = re.sub(_ENDPOINT, r"\1", base)
    first, _, rest = path.partition("/")
    has_own = any_version and (
        "/deployments/" in base or ("/v" in base and re.search(_VERSION, base))
    )
    has_first = base.endswith(f"/{first}") or has_own
    url = f"{base}/{rest}" if has_first else f"{base}/{path}"
    if path in _WHOLE and base.endswith(_WHOLE[path]):
        url = base
    queries = "&".join(filter(None, (asked, urlencode(query or {}))))
    return f"{url}{'&' if '?' in url else '?'}{queries}" if queries else url


def is_http_address(url: str) -> bool:
    """Return whether requests can be sent to `url`, or through it if it is a proxy's."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname and parts.port != 0)
    except ValueError:  # Brackets without an end, or a port that is none.
        return False


def function_of(tool: Tool) -> Json:
    """Return a tool's definition as OpenAI has it, and Ollama after it (001-3.1)."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool_schema(tool),
        },
    }


def tool_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of a tool's parameters (001-2.2). The order is the tool's, always the same."""
    if tool.schema is not None:
        return dict(tool.schema)
    parameters = tool.parameters.items()
    return {
        "type": "object",
        "properties": {name: _parameter_schema(parameter) for name, parameter in parameters},
        "required": [name for name, parameter in parameters if parameter.required],
    }


def is_strict_schema(schema: Json) -> bool:
    """Return whether all objects are closed and all their members required, as OpenAI's `strict` wants."""
    if isinstance(schema, list):
        return all(is_strict_schema(each) for each in schema)
    if not isinstance(schema, dict):
        return True
    members = schema.get("properties")
    if schema.get("type") == "object" or isinstance(members, dict):
        is_closed, required = schema.get("additionalProperties") is False, schema.get("required")
        if not is_closed or sorted(members or ()) != sorted(map(str, required or ())):
            return False
    return all(is_strict_schema(each) for each in schema.values())


def data_url(image: Image) -> str:
    """Return a picture as an address that holds it."""
    return f"data:{image.media_type};base64,{image.data}"


def _parameter_schema(parameter: ToolParameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.type, "description": parameter.description}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.items:
        schema["items"] = {"type": parameter.items}
    return schema


def _reject(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits} is too large")
    return number


def _valid(value: Json) -> Json:
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [_valid(item) for item in value]
    if isinstance(value, dict):
        return {valid_text(key): _valid(item) for key, item in value.items()}
    return value


_DECODER = json.JSONDecoder(parse_constant=_reject, parse_float=_finite)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
"""Made once: the functions of `json` would make one for each text."""
