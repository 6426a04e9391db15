"""The wire format of Ollama's chat API (001-4). No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from axe_lsp.agentfile.models import LocalModel
from axe_lsp.runtime.messages import Delta, Json, Message, Request, Response, ToolCall
from axe_lsp.runtime.providers.failures import reported
from axe_lsp.runtime.providers.terms import Terms
from axe_lsp.runtime.providers.wire import (
    Node,
    WireError,
    function_of,
    parse_json,
    usable_arguments,
)

MODELS_PATH = "api/tags"
HEADERS: Mapping[str, str] = {}
STREAM_TYPES = frozenset({"application/x-ndjson", "application/jsonl", "text/plain"})
ANY_VERSION = False
IS_BINARY = False
MESSAGES = "messages"
CACHE_MARK = b""


def path(_model: str, _stream: bool) -> str:
    """The same for all models."""
    return "api/chat"


def head(request: Request, stream: bool, _terms: Terms) -> dict[str, Json]:
    """The body of a request without its messages."""
    body: dict[str, Json] = {"model": request.model, "stream": stream}
    options: dict[str, Json] = {}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_tokens:
        options["num_predict"] = request.max_tokens
    if options:
        body["options"] = options
    wanted = request.response_format
    if wanted and wanted.type != "text":
        body["format"] = dict(wanted.schema) if wanted.type == "json_schema" else "json"
    if request.tools:
        body["tools"] = [function_of(tool) for tool in request.tools]
    return body


def opening(request: Request) -> list[Json]:
    """The system prompt."""
    return [{"role": "system", "content": request.system}] if request.system else []


def encode_message(message: Message, _marked: bool) -> list[Json]:
    """A message; each result of a tool becomes one of its own."""
    if message.tool_results:
        return [{"role": "tool", "content": result.content} for result in message.tool_results]
    encoded: dict[str, Json] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        encoded["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in message.tool_calls
        ]
    return [encoded]


def decode(body: Json) -> Response:
    """The answer in a whole body. Calls have no ids on the wire, so they get some (001-4.3)."""
    failure = reported(body)
    if failure is not None:
        raise failure
    answer = Node(body)
    message = answer["message"]
    return Response(
        content=message["content"].text(),
        tool_calls=tuple(
            ToolCall(
                f"ollama_{index}",
                call["function"]["name"].text(),
                usable_arguments(call["function"]["arguments"].table()),
            )
            for index, call in enumerate(message["tool_calls"].items())
        ),
        model=answer["model"].text(),
        stop_reason=answer["done_reason"].text(),
        input_tokens=answer["prompt_eval_count"].integer(),
        output_tokens=answer["eval_count"].integer(),
    )


def decode_models(body: Json) -> tuple[LocalModel, ...]:
    """The models in the answer to a GET of `MODELS_PATH`. Raises WireError."""
    return tuple(
        LocalModel(
            each["name"].text(),
            each["details"]["parameter_size"].text(),
            each["size"].integer(),
        )
        for each in Node(body)["models"].items()
    )


def stream_decoder() -> OllamaStream:
    """A decoder for one streamed answer."""
    return OllamaStream()


class OllamaStream:
    """Puts the lines of a stream together again; the last one carries all but the text."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[Json] = []
        self._last: Mapping[str, Json] | None = None

    def feed(self, line: bytes) -> Delta:
        """Take a line, a JSON object of its own; returns what it adds."""
        if not line.strip():
            return Delta()
        body = parse_json(line)
        failure = reported(body)
        if failure is not None:
            raise failure
        part = Node(body, "line")
        message = part["message"]
        text = message["content"].text()
        self._text.append(text)
        self._calls += [call.value for call in message["tool_calls"].items()]
        if part.table().get("done") is True:
            self._last = part.table()
        return Delta(text)

    def finish(self) -> Response:
        """The whole answer."""
        if self._last is None:
            raise WireError("the stream ended before the answer was complete")
        message = {"content": "".join(self._text), "tool_calls": self._calls}
        return decode({**self._last, "message": message})
