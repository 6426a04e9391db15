"""The wire format of Anthropic's Messages API (001-2). No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from axe_lsp.runtime.errors import ProviderError, ProviderErrorCategory
from axe_lsp.runtime.messages import Json, Message, Request, Response, ToolCall
from axe_lsp.runtime.providers.sse import SseParser
from axe_lsp.runtime.providers.wire import (
    Node,
    WireError,
    error_message,
    parse_arguments,
    parse_json,
    tool_schema,
)

DEFAULT_BASE_URL = "https://api.anthropic.com"
PATH = "v1/messages"
STREAM_TYPES = frozenset({"text/event-stream"})

VERSION = "2023-06-01"
"""Of the API, which wants to know."""

DEFAULT_MAX_TOKENS = 4096
"""The API wants a number even if the agent names none."""

_ERRORS: Mapping[str, ProviderErrorCategory] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_request_error": "bad_request",
    "not_found_error": "bad_request",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
}


def headers(key: str) -> dict[str, str]:
    """The key and the API's version."""
    return {"x-api-key": key, "anthropic-version": VERSION}


def encode(request: Request, stream: bool) -> Json:
    """The body of a request."""
    body: dict[str, Json] = {
        "model": request.model,
        "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
    }
    if request.system:
        body["system"] = request.system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    wanted = request.response_format
    if wanted and wanted.type == "json_schema":
        schema = {"type": "json_schema", "schema": dict(wanted.schema)}
        body["output_config"] = {"format": schema}
    if request.tools:
        body["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool_schema(tool),
            }
            for tool in request.tools
        ]
    if stream:
        body["stream"] = True
    body["messages"] = [_encode_message(message) for message in request.messages]
    return body


def decode(body: Json) -> Response:
    """The answer in a whole body. An empty list of blocks is an empty answer (001-5.6g)."""
    failure = error_message(body)
    if failure:
        raise ProviderError("server", failure)
    answer = Node(body)
    usage = answer["usage"]
    blocks = [(block["type"].text(), block) for block in answer["content"].items()]
    return Response(
        content="".join(block["text"].text() for kind, block in blocks if kind == "text"),
        tool_calls=tuple(
            ToolCall(block["id"].text(), block["name"].text(), block["input"].table())
            for kind, block in blocks
            if kind == "tool_use"
        ),
        model=answer["model"].text(),
        stop_reason=answer["stop_reason"].text(),
        input_tokens=usage["input_tokens"].integer(),
        output_tokens=usage["output_tokens"].integer(),
    )


def stream_decoder() -> AnthropicStream:
    """A decoder for one streamed answer."""
    return AnthropicStream()


class AnthropicStream:
    """Puts the events of a stream together again to the body of an unstreamed answer."""

    def __init__(self) -> None:
        self._events = SseParser()
        self._body: dict[str, Json] = {}
        self._blocks: dict[int, dict[str, Json]] = {}
        self._texts: dict[int, list[str]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._complete = False

    def feed(self, line: bytes) -> str:
        """Take a line; returns the text that it adds."""
        data = self._events.feed(line)
        return self._take(Node(parse_json(data), "event")) if data else ""

    def finish(self) -> Response:
        """The whole answer."""
        if not self._complete:
            raise WireError("the stream ended before the answer was complete")
        for index, texts in self._texts.items():
            self._blocks.setdefault(index, {"type": "text"})["text"] = "".join(texts)
        for index, parts in self._inputs.items():
            if any(parts):
                self._blocks.setdefault(index, {})["input"] = parse_arguments("".join(parts))
        self._body["content"] = [self._blocks[index] for index in sorted(self._blocks)]
        return decode(self._body)

    def _take(self, event: Node) -> str:
        kind = event["type"].text()
        if kind == "message_start":
            self._body.update(event["message"].table())
        elif kind == "content_block_start":
            block = event["content_block"]
            self._blocks[event["index"].integer()] = dict(block.table())
            return self._add_text(event["index"].integer(), block["text"].text())
        elif kind == "content_block_delta":
            return self._take_delta(event["index"].integer(), event["delta"])
        elif kind == "message_delta":
            usage = Node(self._body)["usage"].table()
            self._body.update(_known(event["delta"]))
            self._body["usage"] = {**usage, **_known(event["usage"])}
        elif kind == "message_stop":
            self._complete = True
        elif kind == "error":
            error = event["error"]
            category = _ERRORS.get(error["type"].text(), "server")
            raise ProviderError(category, error["message"].text() or "the stream failed")
        return ""

    def _take_delta(self, index: int, delta: Node) -> str:
        kind = delta["type"].text()
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(delta["partial_json"].text())
        return self._add_text(index, delta["text"].text()) if kind == "text_delta" else ""

    def _add_text(self, index: int, text: str) -> str:
        if text:
            self._texts.setdefault(index, []).append(text)
        return text


def _known(table: Node) -> dict[str, Json]:
    """What an event says. A null leaves open what an earlier one may have said."""
    return {key: value for key, value in table.table().items() if value is not None}


def _encode_message(message: Message) -> Json:
    if message.tool_results:
        return {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": result.call_id,
                    "content": result.content,
                    "is_error": result.is_error,
                }
                for result in message.tool_results
            ],
        }
    if not message.tool_calls:
        return {"role": message.role, "content": message.content}
    blocks: list[Json] = [{"type": "text", "text": message.content}] if message.content else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": blocks}
