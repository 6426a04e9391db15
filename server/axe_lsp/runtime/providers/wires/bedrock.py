"""The wire format of Amazon Bedrock's Converse API. No I/O.

Fields are those of AWS's own model of the service, in botocore 1.44 (`bedrock-runtime`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.incomplete import Incomplete
from axe_lsp.runtime.messages import (
    Delta,
    Image,
    Json,
    Message,
    Request,
    Response,
    ResponseFormat,
    Tool,
    ToolCall,
    ToolResult,
)
from axe_lsp.runtime.providers.event_stream import EventStreamParser, StreamMessage
from axe_lsp.runtime.providers.failures import raise_reported, reported
from axe_lsp.runtime.providers.restrictions import Restrictions, caches
from axe_lsp.runtime.providers.wire import (
    PICTURE,
    Node,
    Shape,
    StreamDecoder,
    WireError,
    has_content,
    parse_json,
    plain_params,
    read_call,
    returnable,
    returned_parts,
    sampling_of,
    to_json,
    tool_schema,
    with_arguments,
    without_budget,
)
from axe_lsp.runtime.providers.wires import anthropic
from axe_lsp.runtime.sources import sources_of

SHAPE = Shape(
    stream_types=frozenset({"application/vnd.amazon.eventstream"}),
    is_binary=True,
    cache_mark=b',{"cachePoint":{"type":"default"}}',
)

_MARK: dict[str, Json] = {"cachePoint": {"type": "default"}}

_EMPTY = "(empty)"
"""The text in place of one without letters, which the API refuses."""

_INCOMPLETE: Mapping[str, Incomplete] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "context_window",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "malformed_tool_use": "malformed_call",
    "malformed_model_output": "malformed_call",
}
"""The meaning of a `stopReason`. Every other one means a complete answer."""

_UNREAD = {"image": PICTURE, "audio": "audio", "video": "a video", "document": "a document"}
"""The blocks that hold something else than text."""


def path(model: str, stream: bool) -> str:
    """Return the model and the method; nothing of a model's name, not even an ARN's `/`, is left as it is."""
    return f"model/{quote(model, safe='')}/converse{'-stream' if stream else ''}"


def head(request: Request, _stream: bool, restrictions: Restrictions) -> dict[str, Json]:
    """Return the body of a request without its messages."""
    marks = [_MARK] if caches(request, restrictions) else []
    is_claude = _is_claude(request.model)
    thinking = (anthropic.thinking_of if is_claude else _thinking)(request, restrictions)
    body: dict[str, Json] = {}
    if request.system.strip():
        body["system"] = [{"text": request.system}, *marks]
    if config := _inference(request, thinking.get("budget_tokens", 0)):
        body["inferenceConfig"] = config
    if tools := _tools(request):
        # Amazon's own models take no mark among the tools.
        body["toolConfig"] = {"tools": [*tools, *(marks if is_claude else ())]}
    if output := _output(request, restrictions):
        body["outputConfig"] = output
    if thinking:
        body["additionalModelRequestFields"] = {"thinking": thinking}
    return body


def dropped(request: Request, restrictions: Restrictions) -> list[str]:
    """Return warnings about parameters that are not sent: Anthropic's for Claude; with a budget, sampling for others."""
    if _is_claude(request.model):
        told = anthropic.dropped(request, restrictions)
        return [each for each in told if "top_k" not in each]  # Which no model gets here.
    budget = request.params.thinking_budget
    if budget is not None and "budget" in restrictions.refused:
        return [without_budget(request.model)]
    return [*map(anthropic.without_thinking, sampling_of(request, "bedrock"))] if budget else []


def _is_claude(model: str) -> bool:
    return "claude" in model


def _thinking(request: Request, restrictions: Restrictions) -> dict[str, Json]:
    budget = request.params.thinking_budget
    if budget is None or "budget" in restrictions.refused:
        return {}
    return {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"}


def _inference(request: Request, budget: int) -> dict[str, Json]:
    """Return limits and sampling. With a thinking budget there is no sampling, and `maxTokens` includes the budget."""
    longest = request.max_tokens
    limit = {"maxTokens": longest if longest > budget else budget + longest} if longest else {}
    return {**limit, **plain_params(request, "bedrock", has_budget=bool(budget))}


def _tools(request: Request) -> list[Json]:
    """Return the tools, or else those that the history names: with calls in it, the API wants some."""
    if request.tools:
        return [{"toolSpec": _encode_tool(tool)} for tool in request.tools]
    names = {call.name: None for message in request.messages for call in message.tool_calls}
    return [{"toolSpec": _encode_tool(Tool(name, ""))} for name in names]


def _encode_tool(tool: Tool) -> Json:
    description = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **description, "inputSchema": {"json": tool_schema(tool)}}


def _output(request: Request, restrictions: Restrictions) -> dict[str, Json]:
    """Return the form of the answer, and how much effort goes into it."""
    config: dict[str, Json] = {}
    wanted = request.response_format
    if wanted and wanted.type == "json_schema":
        config["textFormat"] = _encode_format(wanted)
    is_claude = _is_claude(request.model)
    asked = request.params.effort
    if effort := anthropic.effort_of(request, restrictions) if is_claude else asked:
        config["effort"] = effort
    return config


def _encode_format(wanted: ResponseFormat) -> Json:
    schema = {"name": wanted.name, "schema": to_json(dict(wanted.schema))}
    return {"type": "json_schema", "structure": {"jsonSchema": schema}}


def encode_message(message: Message, marked: bool) -> list[Json]:
    """Return a message. `marked`: the provider shall cache all up to its end."""
    role = "assistant" if message.role == "assistant" else "user"
    given = [block for text in message.given for block in _encode_text(text)]
    mark = [_MARK] if marked else ()
    return [{"role": role, "content": [*_encode_blocks(message), *given, *mark]}]


def decode(body: Json) -> Response:
    """Return the answer in a whole body."""
    raise_reported(body)
    answer = Node(body)
    message = answer["output"]["message"]
    if message.value is None:
        raise ProviderError("server", "response contains no message")
    blocks, usage = message["content"].items(), answer["usage"]
    answered = {block["toolResult"]["toolUseId"].text() for block in blocks} - {""}
    calls = [
        block["toolUse"]
        for block in blocks
        if block["toolUse"].value is not None and not _is_answered(block["toolUse"], answered)
    ]
    stop_reason = answer["stopReason"].text()
    why = _INCOMPLETE.get(stop_reason)
    read = usage["cacheReadInputTokens"].integer()
    written = usage["cacheWriteInputTokens"].integer()
    return Response(
        content="".join(map(_text_of, blocks)),
        tool_calls=tuple(
            read_call(call["toolUseId"].text(), call["name"].text(), call["input"])
            for call in calls
        ),
        stop_reason=stop_reason,
        incomplete=why,
        incomplete_detail=stop_reason if why in ("content_filter", "malformed_call") else "",
        # What went through the cache is counted apart.
        input_tokens=usage["inputTokens"].integer() + read + written,
        output_tokens=usage["outputTokens"].integer(),
        cache_read_tokens=read,
        cache_write_tokens=written,
        original=_returned(blocks) or None,
        thoughts="".join(
            block["reasoningContent"]["reasoningText"]["text"].text() for block in blocks
        ),
        sources=sources_of(
            _source_entry(citation)
            for block in blocks
            for citation in block["citationsContent"]["citations"].items()
        ),
        unread=next(
            (_UNREAD[name] for block in blocks for name in block.table() if name in _UNREAD), ""
        ),
    )


def _is_answered(call: Node, answered: Collection[str]) -> bool:
    """Return whether the service itself has executed a call, as of Nova's code interpreter and Claude's server tools."""
    return call["type"].text() == "server_tool_use" or call["toolUseId"].text() in answered


def _text_of(block: Node) -> str:
    """Return the text of a block, which stands in parts where it has citations."""
    cited = block["citationsContent"]["content"].items()
    return block["text"].text() + "".join(part["text"].text() for part in cited)


def _source_entry(citation: Node) -> Json:
    """Return a citation with the address of a web page, which stands in its location, beside its title."""
    web = citation["location"]["web"]
    return {**citation.table(), **web.table()}


def _returned(blocks: Sequence[Node]) -> list[Json]:
    """Return the blocks as the model wants them back: as they came, but for what would be refused."""
    found = returnable(map(_with_arguments, blocks), "toolUse", "input")
    return [block for block in found if (block.get("text") or "-").strip()]


def _with_arguments(block: Node) -> dict[str, Json]:
    table, call = block.table(), block["toolUse"]
    return {**table, "toolUse": with_arguments(call.table(), "input")} if call.value else table


class BedrockStream(StreamDecoder):
    """Puts the events of a stream together again to the body of an unstreamed answer."""

    def __init__(self) -> None:
        self._messages = EventStreamParser()
        self._starts: dict[int, dict[str, dict[str, Json]]] = {}
        self._lists: dict[int, dict[str, list[Json]]] = {}
        self._parts: dict[int, dict[str, list[str]]] = {}
        self._stop_reason: str | None = None
        self._usage: Json = None

    @property
    def is_over(self) -> bool:
        """Whether the event has come that is behind the last one."""
        return self._stop_reason is not None and self._usage is not None

    def feed(self, chunk: bytes) -> Delta:
        """Take some bytes; returns what they add."""
        deltas = [self._take(message) for message in self._messages.feed(chunk)]
        return Delta(
            "".join(delta.text for delta in deltas), "".join(delta.thought for delta in deltas)
        )

    def finish(self) -> Response:
        """Return the whole answer."""
        if self._stop_reason is None or not self._messages.is_between_messages:
            raise WireError("the stream ended before the answer was complete")
        content = [block for index in self._parts for block in self._blocks(index)]
        message = {"role": "assistant", "content": content}
        body = {"output": {"message": message}, "stopReason": self._stop_reason}
        response = decode({**body, "usage": self._usage})
        # Its bytes are not kept.
        has_image = any("image" in started for started in self._starts.values())
        return replace(response, unread=PICTURE) if has_image else response

    def _take(self, message: StreamMessage) -> Delta:
        kind = message.headers.get(":message-type")
        if kind in ("exception", "error"):
            raise _failure(message)
        name = message.headers.get(":event-type")
        event = Node(parse_json(message.payload), name or "event")
        index = event["contentBlockIndex"].integer()
        if name == "contentBlockStart":
            for kind in _STARTED:
                if event["start"][kind].value is not None:
                    self._starts.setdefault(index, {})[kind] = event["start"][kind].table()
                    self._parts.setdefault(index, {})
        elif name == "contentBlockDelta":
            delta, lists = event["delta"], self._lists.setdefault(index, {})
            if delta["citation"].value is not None:
                lists.setdefault("citations", []).append(delta["citation"].table())
            lists.setdefault("results", []).extend(
                each.value for each in delta["toolResult"].items()
            )
            return self._add(self._parts.setdefault(index, {}), delta)
        elif name == "messageStop":
            self._stop_reason = event["stopReason"].text()
        elif name == "metadata":
            self._usage = event["usage"].value
        return Delta()

    def _add(self, parts: dict[str, list[str]], delta: Node) -> Delta:
        reasoning = delta["reasoningContent"]
        pieces = {
            "text": delta["text"],
            "input": delta["toolUse"]["input"],
            "thought": reasoning["text"],
            "signature": reasoning["signature"],
            "redacted": reasoning["redactedContent"],
        }
        for name, piece in pieces.items():
            if piece.value is not None:
                parts.setdefault(name, []).append(piece.text())
        return Delta(pieces["text"].text(), pieces["thought"].text())

    def _blocks(self, index: int) -> Iterator[Json]:
        """Yield what stands at a place in an answer that is not streamed: one block, if the stream is sound."""
        parts = {name: "".join(pieces) for name, pieces in self._parts[index].items()}
        if "redacted" in parts:
            yield {"reasoningContent": {"redactedContent": parts["redacted"]}}
        if "thought" in parts or "signature" in parts:
            signature = {"signature": parts["signature"]} if "signature" in parts else {}
            text = {"text": parts.get("thought", ""), **signature}
            yield {"reasoningContent": {"reasoningText": text}}
        citations = self._lists.get(index, {}).get("citations")
        if citations:
            content = [{"text": parts.get("text", "")}]
            yield {"citationsContent": {"content": content, "citations": citations}}
        elif "text" in parts:
            yield {"text": parts["text"]}
        started = self._starts.get(index, {})
        if "toolUse" in started:
            yield {"toolUse": {**started["toolUse"], "input": parts.get("input", "")}}
        if "toolResult" in started:
            results = self._lists.get(index, {}).get("results", [])
            yield {"toolResult": {**started["toolResult"], "content": results}}


_STARTED = ("toolUse", "toolResult", "image")
"""The blocks that begin with an event of their own."""


stream_decoder = BedrockStream


def _failure(message: StreamMessage) -> ProviderError:
    """Return the error that the service reports in place of the rest of an answer."""
    headers = message.headers
    name = headers.get(":exception-type") or headers.get(":error-code") or "exception"
    try:
        told = Node(parse_json(message.payload))["message"].text()
    except WireError:
        told = ""
    error = {
        "type": name[:1].upper() + name[1:],
        "message": told or headers.get(":error-message") or name,
    }
    return reported({"error": error}) or ProviderError("server", name)


def _encode_blocks(message: Message) -> list[Json]:
    if message.original and (back := [*returned_parts(message.original, message, _call_of)]):
        return back
    if message.tool_results:
        return [{"toolResult": _encode_result(result)} for result in message.tool_results]
    if not has_content(message):
        return []
    blocks: list[Json] = [*map(_encode_image, message.images), *_encode_text(message.content)]
    blocks += [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": dict(call.arguments)}}
        for call in message.tool_calls
    ]
    return blocks or [{"text": _EMPTY}]


def _call_of(block: Json, call: ToolCall) -> Json | None:
    if not (use := block.get("toolUse")):
        return None
    return {**block, "toolUse": {**use, "toolUseId": call.id, "name": call.name}}


def _encode_result(result: ToolResult) -> Json:
    content = [*_encode_text(result.content), *map(_encode_image, result.images)]
    return {
        "toolUseId": result.call_id,
        "content": content or [{"text": _EMPTY}],
        "status": "error" if result.is_error else "success",
    }


def _encode_text(text: str) -> list[Json]:
    return [{"text": text}] if text.strip() else []


def _encode_image(image: Image) -> Json:
    form = image.media_type.partition("/")[2]
    return {"image": {"format": form, "source": {"bytes": image.data}}}
