"""The wire format of OpenAI's Responses API. No I/O.

The conversation is a list of items: messages, calls, their outputs, and reasoning, which is encrypted.
Nothing is stored at the service (`store: false`), so the items of an answer go back as they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from axe_lsp.agentfile.schema.providers import WIRES
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
from axe_lsp.runtime.providers.failures import raise_reported
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.sse import SseStream
from axe_lsp.runtime.providers.stated_usage import stated_cost, token_counts
from axe_lsp.runtime.providers.wire import (
    NOT_OFFERED,
    PICTURE,
    Node,
    Shape,
    WireError,
    data_url,
    given_messages,
    is_strict_schema,
    plain_params,
    read_call,
    returned_parts,
    stated,
    to_json,
    tool_schema,
)
from axe_lsp.runtime.sources import Source, sources_of

SHAPE = Shape(any_version=True, messages="input", has_tags=True)

_LEAST_OUTPUT = WIRES["openai-responses"].least_output
_LONGEST_CACHE_KEY = 64

_TEXTS = {"output_text": "text", "refusal": "refusal"}
"""Which field of a part of a message holds its text."""

_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_THOUGHT_DELTAS = frozenset(
    {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}
)
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})

_UNREAD = {
    "image_generation_call": PICTURE,
    **dict.fromkeys(
        (
            *("computer_call", "custom_tool_call", "local_shell_call", "shell_call"),
            *("apply_patch_call", "mcp_approval_request"),
        ),
        NOT_OFFERED,
    ),
}
"""The items that hold something else than text. Those of tools that the service itself executes are no part of the answer."""

_OUTPUT_LIMIT = "max_output_tokens"


def path(_model: str, _stream: bool) -> str:
    """Return the same for all models."""
    return "v1/responses"


def head(request: Request, stream: bool, restrictions: Restrictions) -> dict[str, Json]:
    """Return the body of a request without its items."""
    limit, wanted = request.max_tokens, request.response_format
    is_keyed = request.session and "prompt_cache_key" not in restrictions.refused
    optional: dict[str, Json] = {
        "include": None if "include" in restrictions.refused else ["reasoning.encrypted_content"],
        "instructions": request.system or None,
        "prompt_cache_key": request.session[:_LONGEST_CACHE_KEY] if is_keyed else None,
        **plain_params(request, "openai-responses"),
        "max_output_tokens": max(limit, _LEAST_OUTPUT) if limit else None,
        "reasoning": _encode_effort(request.params.effort, restrictions),
        "text": {"format": _encode_format(wanted)} if wanted else None,
        "tools": [_encode_tool(tool) for tool in request.tools] or None,
        "stream": stream or None,
    }
    return {"model": request.model, "store": False, **stated(optional)}


def dropped(_request: Request, _restrictions: Restrictions) -> list[str]:
    """Return no warnings: no parameter excludes another one on this wire."""
    return []


def encode_message(message: Message, _marked: bool) -> list[Json]:
    """Return the items of a message. Caching needs no marks here."""
    if message.tool_results:
        results = [_encode_result(result) for result in message.tool_results]
        return [*results, *given_messages(message)]
    if isinstance(message.original, list):
        return _items_back(message, message.original)
    items: list[Json] = []
    if message.content or message.images or not (message.tool_calls or message.given):
        content = _encode_content(message.content, message.images)
        items.append({"role": message.role, "content": content})
    items += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": to_json(dict(call.arguments)),
        }
        for call in message.tool_calls
    ]
    return [*items, *given_messages(message)]


def decode(body: Json) -> Response:
    """Return the answer in a whole body."""
    answer = Node(body)
    raise_reported(body)
    given, status = answer["output"], answer["status"].text()
    output = [(item["type"].text(), item) for item in given.items()]
    if status in ("queued", "in_progress"):  # With `background` in [params.extra].
        # To send the request again would begin another one.
        message = f"the response is {status}: the service answers in the background, which is not waited for"
        raise ProviderError("server", message, may_pass=False)
    if status in ("failed", "cancelled") or given.value is None:
        raise ProviderError("server", f"the response is {status}" if status else "no output")
    _add_call_ids(answer, output)
    parts = [
        (part["type"].text(), part)
        for kind, item in output
        if kind == "message"
        for part in item["content"].items()
    ]
    is_refused = any(kind == "refusal" for kind, _ in parts)
    reason = answer["incomplete_details"]["reason"].text()
    incomplete, detail = _incomplete(status, reason, is_refused)
    usage = answer["usage"]
    tokens = token_counts(
        usage["input_tokens"].integer(), usage["output_tokens"].integer(), usage.table()
    )
    return Response(
        content="".join(part[_TEXTS[kind]].text() for kind, part in parts if kind in _TEXTS),
        tool_calls=tuple(
            read_call(
                item["call_id"].text(),
                item["name"].text(),
                item["arguments"],
                is_whole=item["status"].text() != "incomplete",
            )
            for kind, item in output
            if kind == "function_call"
        ),
        model=answer["model"].text(),
        stop_reason=reason or status,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.read,
        cache_write_tokens=tokens.written,
        cost=stated_cost(usage.table()),
        original=[item.table() for _, item in output] or None,
        incomplete=incomplete,
        incomplete_detail=detail,
        thoughts=_thoughts(item for kind, item in output if kind == "reasoning"),
        sources=_sources(answer, output, parts),
        unread=next((_UNREAD[kind].format(kind) for kind, _ in output if kind in _UNREAD), ""),
    )


def _sources(
    answer: Node, output: Sequence[tuple[str, Node]], parts: Sequence[tuple[str, Node]]
) -> tuple[Source, ...]:
    """Return the sources that the text cites, else those that the service's searches list.

    Files that the model has made (`file_path`, `container_file_citation`) are no sources.
    """
    cited = [
        annotation.table()
        for _, part in parts
        for annotation in part["annotations"].items()
        if annotation["type"].text() in ("url_citation", "file_citation")
    ]
    found = [
        entry.value
        for kind, item in output
        if kind in ("web_search_call", "file_search_call")
        for entry in (*item["action"]["sources"].items(), *item["results"].items())
    ]
    listed = answer["citations"].value  # xAI
    return sources_of(cited or found or (listed if isinstance(listed, list) else ()))


def _incomplete(status: str, reason: str, is_refused: bool) -> tuple[Incomplete | None, str]:
    """Return why an answer is not whole, and the provider's word for it where ours says less."""
    if status == "incomplete":
        if reason == "content_filter":
            return "content_filter", ""
        return "length", "" if reason == _OUTPUT_LIMIT else reason
    return ("refusal" if is_refused else None), ""


def _add_call_ids(answer: Node, output: Sequence[tuple[str, Node]]) -> None:
    """Give each call an id: servers that stand in for OpenAI's may leave it empty."""
    for index, (kind, item) in enumerate(output):
        if kind == "function_call" and not item["call_id"].text():
            item.table()["call_id"] = f"call_{answer['id'].text()}_{index}"


def _thoughts(items: Iterable[Node]) -> str:
    """Return the summary of the model's reasoning, in paragraphs."""
    parts = (
        part
        for item in items
        for key in ("summary", "content")
        if item.table().get(key) is not None
        for part in item[key].items()
    )
    return "\n\n".join(filter(None, (part["text"].text() for part in parts)))


class ResponsesStream(SseStream):
    """Shows the pieces of a stream. Its last event holds the whole answer.

    Only what is encrypted is taken from the event that ends its item, where it is sure to be whole.
    """

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._thinks_in: tuple[str, int] | None = None
        self._done: dict[int, dict[str, Json]] = {}
        self._last: Response | None = None

    @property
    def is_over(self) -> bool:
        """Whether the last event has come."""
        return self._last is not None

    def finish(self) -> Response:
        """Return the whole answer. What has been shown is its text."""
        if self._last is None:
            raise WireError("the stream ended before the answer was complete")
        thoughts = self._last.thoughts or "".join(self._thoughts)
        return replace(self._last, content="".join(self._text), thoughts=thoughts)

    def _take(self, body: Json) -> Delta:
        event = Node(body, "event")
        kind = event["type"].text()
        raise_reported({"error": body} if kind == "error" and "error" not in body else body)
        if kind in _TEXT_DELTAS:
            return self._show(event["delta"].text())
        if kind in _THOUGHT_DELTAS:
            return self._think(event)
        if kind == "response.output_item.done":
            self._done[event["output_index"].integer()] = event["item"].table()
        elif kind in _LAST:
            self._last = decode(self._completed(event["response"]))
            # A server that sends no pieces has its text shown at the end.
            shown = "".join(self._text)
            if self._last.content.startswith(shown):
                return self._show(self._last.content[len(shown) :])
        return Delta()

    def _show(self, text: str) -> Delta:
        self._text.append(text)
        return Delta(text)

    def _think(self, event: Node) -> Delta:
        part = event["item_id"].text(), event["summary_index"].integer()
        is_new = bool(self._thoughts) and part != self._thinks_in
        self._thinks_in = part
        thought = ("\n\n" if is_new else "") + event["delta"].text()
        self._thoughts.append(thought)
        return Delta(thought=thought)

    def _completed(self, response: Node) -> Json:
        """Return the body of the answer. Some servers leave its items out, which all have come by then."""
        done = [self._done[index] for index in sorted(self._done)]
        encrypted = {
            Node(item)["id"].text(): item["encrypted_content"]
            for item in done
            if item.get("encrypted_content")
        }
        items = [item.table() for item in response["output"].items()] or done
        for item in items:
            if item.get("type") == "reasoning" and (id_ := Node(item)["id"].text()) in encrypted:
                item["encrypted_content"] = encrypted[id_]
        return {**response.table(), "output": items}


stream_decoder = ResponsesStream


def _items_back(message: Message, items: Sequence[dict[str, Json]]) -> list[Json]:
    """Return the items of an answer as it gets them back: as they came.

    Except for calls that nobody answers, arguments that are no JSON, and reasoning that leads to no
    item, each of which the service would refuse.
    """
    back = [*returned_parts(items, message, _call_of)]
    while back and back[-1].get("type") == "reasoning":
        back.pop()
    return back or [{"role": "assistant", "content": message.content}]


def _call_of(item: Json, call: ToolCall) -> Json | None:
    if item.get("type") != "function_call":
        return None
    came = item.get("arguments")
    is_fit = came and isinstance(came, str) and not call.is_broken
    arguments = {} if is_fit else {"arguments": to_json(dict(call.arguments))}
    return {**item, "call_id": call.id, "name": call.name, **arguments}


def _encode_effort(effort: str, restrictions: Restrictions) -> Json:
    """Return the reasoning effort with a summary, the only part of the reasoning that users see."""
    if not effort:
        return None
    has_summary = effort != "none" and "summary" not in restrictions.refused
    return {"effort": effort, **({"summary": "auto"} if has_summary else {})}


def _encode_result(result: ToolResult) -> Json:
    output = _encode_content(result.content, result.images)
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _encode_content(text: str, images: Sequence[Image]) -> Json:
    if not images:
        return text
    parts: list[Json] = [{"type": "input_text", "text": text}] if text else []
    return parts + [
        {"type": "input_image", "image_url": data_url(image), "detail": "auto"} for image in images
    ]


def _encode_tool(tool: Tool) -> Json:
    """Encode a tool, not strict, which would require every parameter."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool_schema(tool),
        "strict": False,
    }


def _encode_format(wanted: ResponseFormat) -> Json:
    if wanted.type != "json_schema":
        return {"type": wanted.type}
    schema = dict(wanted.schema)
    is_strict = wanted.strict and is_strict_schema(schema)
    return {"type": "json_schema", "name": wanted.name, "strict": is_strict, "schema": schema}
