"""The wire format of OpenAI's Chat Completions API, which many others speak too (001-3). No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import (
    Delta,
    Json,
    Message,
    Request,
    Response,
    ResponseFormat,
    ToolCall,
)
from axe_lsp.runtime.providers.failures import reported
from axe_lsp.runtime.providers.sse import SseParser
from axe_lsp.runtime.providers.terms import Terms
from axe_lsp.runtime.providers.wire import (
    Node,
    WireError,
    call_of,
    function_of,
    parse_json,
    to_json,
)

HEADERS: Mapping[str, str] = {}
STREAM_TYPES = frozenset({"text/event-stream"})
ANY_VERSION = True
IS_BINARY = False
MESSAGES = "messages"
CACHE_MARK = b""

_DONE = "[DONE]"

_THOUGHTS = "reasoning_content"
"""The field in which DeepSeek and others put them, and want them back with the results of calls."""


def path(_model: str, _stream: bool) -> str:
    """The same for all models."""
    return "v1/chat/completions"


def head(request: Request, stream: bool, terms: Terms) -> dict[str, Json]:
    """The body of a request without its messages."""
    limit, params = request.max_tokens or None, request.params
    # OpenAI's own models want the new name, the newer ones no other. Stand-ins know the old one.
    is_new = terms.current or "max_tokens" in terms.refused
    has_options = stream and "stream_options" not in terms.refused
    optional: dict[str, Json] = {
        "temperature": request.temperature,
        "top_p": params.top_p,
        "seed": params.seed,
        "stop": list(params.stop) or None,
        "max_completion_tokens" if is_new else "max_tokens": limit,
        **_encode_effort(request, terms),
        "response_format": _encode_format(request.response_format),
        "tools": [function_of(tool) for tool in request.tools] or None,
        "stream": stream or None,
        "stream_options": {"include_usage": True} if has_options else None,
    }
    asked = {key: value for key, value in optional.items() if value is not None}
    return {"model": request.model, **asked}


def _encode_effort(request: Request, terms: Terms) -> dict[str, Json]:
    """How much to think. OpenRouter has a table for that, which takes a number of tokens too."""
    effort, budget = request.params.effort, request.params.thinking_budget
    if terms.provider == "openrouter":
        limits = {"effort": effort or None, "max_tokens": budget or None}
        asked = {key: value for key, value in limits.items() if value is not None}
        if budget == 0:
            asked["effort"] = "none"
        return {"reasoning": asked or None}
    if request.tools and "tools_with_effort" in terms.refused:
        effort = "none"
    return {"reasoning_effort": effort or None}


def opening(request: Request) -> list[Json]:
    """The system prompt."""
    return [{"role": "system", "content": request.system}] if request.system else []


def encode_message(message: Message, _marked: bool) -> list[Json]:
    """A message; each result of a tool becomes one of its own. Caching needs no marks here."""
    if message.tool_results:
        return [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
            for result in message.tool_results
        ]
    if not message.tool_calls:
        return [{"role": message.role, "content": message.content}]
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": to_json(dict(call.arguments))},
        }
        for call in message.tool_calls
    ]
    thoughts = message.original or {}
    content = message.content or None
    return [{"role": message.role, "content": content, **thoughts, "tool_calls": calls}]


def decode(body: Json) -> Response:
    """The answer in a whole body."""
    answer = Node(body)
    choices = answer["choices"].items()
    if not choices:
        raise reported(body) or ProviderError("server", "response contains no choices")
    message, usage = choices[0]["message"], answer["usage"]
    return Response(
        content=message["content"].text() or message["refusal"].text(),
        tool_calls=tuple(_decode_call(call) for call in message["tool_calls"].items()),
        model=answer["model"].text(),
        stop_reason=choices[0]["finish_reason"].text(),
        input_tokens=usage["prompt_tokens"].integer(),
        output_tokens=usage["completion_tokens"].integer(),
        cache_read_tokens=usage["prompt_tokens_details"]["cached_tokens"].integer(),
        cache_write_tokens=usage["prompt_tokens_details"]["cache_write_tokens"].integer(),
        original=_original(message),
        thoughts=message[_THOUGHTS].text(),
    )


def _original(message: Node) -> Json:
    thoughts = message[_THOUGHTS]
    return {_THOUGHTS: thoughts.text()} if thoughts.value is not None else None


def stream_decoder() -> OpenAIStream:
    """A decoder for one streamed answer."""
    return OpenAIStream()


class OpenAIStream:
    """Puts the chunks of a stream together again to the body of an unstreamed answer."""

    def __init__(self) -> None:
        self._events = SseParser()
        self._model = ""
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[_PartialCall] = []
        self._finish_reason = ""
        self._usage: Mapping[str, Json] = {}
        self._complete = False

    def feed(self, line: bytes) -> Delta:
        """Take a line; returns what it adds."""
        data = self._events.feed(line)
        if data == _DONE:
            self._complete = True
        return self._take(parse_json(data)) if data and data != _DONE else Delta()

    def finish(self) -> Response:
        """The whole answer. Servers that are only like OpenAI's may leave out the end mark."""
        if not self._complete and not self._finish_reason:
            raise WireError("the stream ended before the answer was complete")
        calls = sorted(self._calls, key=lambda call: call.index)
        message: dict[str, Json] = {
            "content": "".join(self._text),
            _THOUGHTS: "".join(self._thoughts) or None,
            "tool_calls": [call.whole() for call in calls],
        }
        return decode(
            {
                "model": self._model,
                "choices": [{"message": message, "finish_reason": self._finish_reason}],
                "usage": self._usage,
            }
        )

    def _take(self, body: Json) -> Delta:
        failure = reported(body)
        if failure is not None:
            raise failure
        chunk = Node(body, "chunk")
        self._model = chunk["model"].text() or self._model
        self._usage = chunk["usage"].table() or self._usage
        choices = chunk["choices"].items()
        if not choices:
            return Delta()
        self._finish_reason = choices[0]["finish_reason"].text() or self._finish_reason
        delta = choices[0]["delta"]
        for call in delta["tool_calls"].items():
            self._take_call(call)
        thought = delta[_THOUGHTS].text()
        self._thoughts.append(thought)
        text = delta["content"].text() + delta["refusal"].text()
        self._text.append(text)
        return Delta(text, thought)

    def _take_call(self, part: Node) -> None:
        """A part belongs to the last call of its index, but another id begins another call.

        Some servers give no index, and Google's gives the same to all.
        """
        index, id_ = part["index"].integer(), part["id"].text()
        call = next((call for call in reversed(self._calls) if call.index == index), None)
        if call is None or (id_ and call.id and id_ != call.id):
            call = _PartialCall(index)
            self._calls.append(call)
        call.id = id_ or call.id
        call.name = part["function"]["name"].text() or call.name
        call.arguments.append(part["function"]["arguments"].text())


class _PartialCall(Struct):
    """As much of a tool call as has arrived."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def whole(self) -> Json:
        """As it stands in an answer that is not streamed."""
        function = {"name": self.name, "arguments": "".join(self.arguments)}
        return {"id": self.id, "function": function}


def _encode_format(wanted: ResponseFormat | None) -> Json:
    if wanted is None:
        return None
    if wanted.type != "json_schema":
        return {"type": wanted.type}
    schema = {"name": wanted.name, "strict": wanted.strict, "schema": dict(wanted.schema)}
    return {"type": "json_schema", "json_schema": schema}


def _decode_call(call: Node) -> ToolCall:
    function = call["function"]
    return call_of(call["id"].text(), function["name"].text(), function["arguments"].text())
