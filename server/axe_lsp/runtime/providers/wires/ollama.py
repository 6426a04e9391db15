"""The wire format of Ollama's chat API (001-4). No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from axe_lsp.agentfile.schema.models import LocalModel
from axe_lsp.runtime.messages import Delta, Json, Message, Request, Response, ToolResult
from axe_lsp.runtime.providers.failures import raise_reported
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.thinking_tags import has_tags
from axe_lsp.runtime.providers.wire import (
    PICTURE,
    Node,
    Shape,
    StreamDecoder,
    WireError,
    function_of,
    given_messages,
    has_content,
    parse_json,
    plain_params,
    read_call,
)

MODELS_PATH = "api/tags"
SHAPE = Shape(
    stream_types=frozenset({"application/x-ndjson", "application/jsonl", "text/plain"}),
    system_message=True,
    has_tags=True,
    advice={
        "^connection refused$": ": is Ollama running? (expected at {address})",
        # Older versions add this themselves.
        "^model .* not found$": " (`ollama pull {model}` fetches it)",
    },
)

_THINK: Mapping[str, bool | str] = {
    "none": False,
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}


def path(_model: str, _stream: bool) -> str:
    """Return the same for all models."""
    return "api/chat"


def head(request: Request, stream: bool, _restrictions: Restrictions) -> dict[str, Json]:
    """Return the body of a request without its messages."""
    body: dict[str, Json] = {"model": request.model, "stream": stream}
    if options := _options(request):
        body["options"] = options
    if request.params.effort:
        body["think"] = _THINK[request.params.effort]
    wanted = request.response_format
    if wanted and wanted.type != "text":
        body["format"] = dict(wanted.schema) if wanted.type == "json_schema" else "json"
    if request.tools:
        body["tools"] = [function_of(tool) for tool in request.tools]
    return body


def _options(request: Request) -> dict[str, Json]:
    limit = {"num_predict": request.max_tokens} if request.max_tokens else {}
    return {**limit, **plain_params(request, "ollama")}


def dropped(_request: Request, _restrictions: Restrictions) -> list[str]:
    """Return no warnings: no parameter excludes another one on this wire."""
    return []


def encode_message(message: Message, _marked: bool) -> list[Json]:
    """Return a message; each result of a tool becomes one of its own."""
    if message.tool_results:
        results = [_encode_result(result) for result in message.tool_results]
        return [*results, *given_messages(message)]
    if not has_content(message):
        return given_messages(message)
    encoded: dict[str, Json] = {"role": message.role, "content": message.content}
    encoded.update(message.original or {})
    if message.images:
        encoded["images"] = [image.data for image in message.images]
    if message.tool_calls:
        encoded["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in message.tool_calls
        ]
    return [encoded, *given_messages(message)]


def _encode_result(result: ToolResult) -> dict[str, Json]:
    encoded: dict[str, Json] = {"role": "tool", "content": result.content}
    # axe's first version had no other tool, and sends no name with its results.
    if result.name and result.name != "call_agent":
        encoded["tool_name"] = result.name
    if result.images:
        encoded["images"] = [image.data for image in result.images]
    return encoded


def decode(body: Json) -> Response:
    """Return the answer in a whole body. Calls have no ids on the wire, so they get some (001-4.3).

    Arguments are an object; some models write a JSON text, which Ollama and proxies before it pass on.
    """
    raise_reported(body)
    answer = Node(body)
    if answer["done"].value is False:
        raise WireError("the answer is not done")
    message = answer["message"]
    thoughts, content = message["thinking"].text(), message["content"].text()
    calls = message["tool_calls"].items()
    original = {"thinking": thoughts} if thoughts else {}
    if calls and has_tags(content):
        original["content"] = content
    is_cut = answer["done_reason"].text() == "length"
    return Response(
        content=content,
        tool_calls=tuple(
            read_call(
                f"ollama_{index}", call["function"]["name"].text(), call["function"]["arguments"]
            )
            for index, call in enumerate(calls)
        ),
        model=answer["model"].text(),
        stop_reason=answer["done_reason"].text(),
        incomplete="length" if is_cut else None,
        incomplete_detail="num_predict or num_ctx" if is_cut else "",
        thoughts=thoughts,
        unread=PICTURE if answer["image"].value or message["images"].value else "",
        original=original or None,
        input_tokens=answer["prompt_eval_count"].integer(),
        output_tokens=answer["eval_count"].integer(),
    )


def decode_models(body: Json) -> tuple[LocalModel, ...]:
    """Return the models in the answer to a GET of `MODELS_PATH`. Raises WireError."""
    return tuple(
        LocalModel(
            each["name"].text(),
            each["details"]["parameter_size"].text(),
            each["size"].integer(),
        )
        for each in Node(body)["models"].items()
    )


class OllamaStream(StreamDecoder):
    """Puts the lines of a stream together again; the last one carries all but the text."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[Json] = []
        self._last: Mapping[str, Json] | None = None

    @property
    def is_over(self) -> bool:
        """Whether the last line has come."""
        return self._last is not None

    def feed(self, line: bytes) -> Delta:
        """Take a line, a JSON object of its own; returns what it adds."""
        if not line.strip():
            return Delta()
        body = parse_json(line)
        raise_reported(body)
        part = Node(body, "line")
        message = part["message"]
        text, thought = message["content"].text(), message["thinking"].text()
        self._text.append(text)
        self._thoughts.append(thought)
        self._calls += [call.value for call in message["tool_calls"].items()]
        if part.table().get("done") is True:
            self._last = part.table()
        return Delta(text, thought)

    def finish(self) -> Response:
        """Return the whole answer."""
        if self._last is None:
            raise WireError("the stream ended before the answer was complete")
        message = {
            "content": "".join(self._text),
            "thinking": "".join(self._thoughts),
            "tool_calls": self._calls,
        }
        return decode({**self._last, "message": message})


stream_decoder = OllamaStream
