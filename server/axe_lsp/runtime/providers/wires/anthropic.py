"""The wire format of Anthropic's Messages API (001-2). No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from axe_lsp.agentfile.schema.models import known_model
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.incomplete import Incomplete
from axe_lsp.runtime.messages import (
    Delta,
    Image,
    Json,
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
)
from axe_lsp.runtime.providers.failures import raise_reported
from axe_lsp.runtime.providers.restrictions import Restrictions, caches
from axe_lsp.runtime.providers.sse import SseStream
from axe_lsp.runtime.providers.stated_usage import stated_cost
from axe_lsp.runtime.providers.wire import (
    BUDGET_ONLY,
    Node,
    Shape,
    WireError,
    has_content,
    plain_params,
    read_call,
    returned_parts,
    sampling_of,
    stated,
    tool_schema,
    with_arguments,
    without_budget,
)
from axe_lsp.runtime.sources import Source, sources_of

VERSION = "2023-06-01"
"""The version of the API, which each request has to name."""

SHAPE = Shape(
    headers={"anthropic-version": VERSION}, cache_mark=b',"cache_control":{"type":"ephemeral"}'
)
"""Not more than four in a request: the tools, the system prompt, and two messages."""

DEFAULT_MAX_TOKENS = 4096
"""The API wants a number even if the agent names none: for models that are not in our table, as axe."""

LONG_ANSWER = 16_384
"""The same for models that are known to be able to say so much: a file of some size fits in. More would
take longer than most runs may."""

_MARK: dict[str, Json] = {"cache_control": {"type": "ephemeral"}}

_ADAPTIVE = re.compile(
    r"claude-((opus|sonnet)-4[.-][6-9]|(opus|sonnet|haiku|fable|mythos)-([5-9]|\d\d))(?!\d)"
)
"""Models that decide themselves how long they think."""

_ALWAYS_THINKS = re.compile(r"claude-(opus-(5[.-][5-9]|[6-9]|\d\d)|(fable|mythos)-\d)(?!\d)")
"""Models that refuse to be kept from thinking."""

_THINKS_BETWEEN = re.compile(r"claude-sonnet-(5[.-][5-9]|[6-9]|\d\d)(?!\d)")
"""Models whose least thinking are short notes between calls of tools."""

_LEAST_BUDGET = 1024
_BUDGETS = {
    "minimal": _LEAST_BUDGET,
    "low": 5_000,
    "medium": 10_000,
    "high": 20_000,
    "xhigh": 32_000,
    "max": 48_000,
}
"""Tokens that all other models get to think with."""

_INCOMPLETE: Mapping[str, Incomplete] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "context_window",
    "refusal": "refusal",
    "pause_turn": "paused",
}
"""The meaning of a `stop_reason`. Every other one means a complete answer."""

_THINKING = ("thinking", "redacted_thinking")

_EMPTY_BLOCK: dict[str, Json] = {"type": "text", "text": "(empty)"}
"""The block in place of blank text alone, which the API refuses: "text content blocks must contain non-whitespace text"."""

_NONE = Restrictions()

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Which field of a block grows by which event."""


def path(_model: str, _stream: bool) -> str:
    """Return the same for all models."""
    return "v1/messages"


def head(request: Request, stream: bool, restrictions: Restrictions) -> dict[str, Json]:
    """Return the body of a request without its messages."""
    mark = _MARK if caches(request, restrictions) else {}
    thinking = thinking_of(request, restrictions)
    known = known_model(f"anthropic/{request.model}")
    default = min(known.max_output, LONG_ANSWER) if known else DEFAULT_MAX_TOKENS
    longest = request.max_tokens or default
    budget = thinking.get("budget_tokens", 0)
    # What the model thinks counts as a part of its answer.
    body: dict[str, Json] = {
        "model": request.model,
        "max_tokens": longest if longest > budget else budget + longest,
    }
    if request.system:
        marked = [{"type": "text", "text": request.system, **mark}]
        body["system"] = marked if mark else request.system
    if thinking:
        body["thinking"] = thinking
    body.update(plain_params(request, "anthropic", has_budget=bool(budget)))
    if output := _output_config(request, restrictions):
        body["output_config"] = output
    if request.tools:
        body["tools"] = [_encode_tool(tool) for tool in request.tools]
        body["tools"][-1].update(mark)
    if stream:
        body["stream"] = True
    return body


def thinking_of(request: Request, restrictions: Restrictions = _NONE) -> dict[str, Json]:
    """Return how the model is asked to think, empty if no key says so.

    Newer models decide about the length themselves, older ones and other makers' want a budget.
    """
    params, budget = request.params, request.params.thinking_budget
    if _shall_not_think(request):
        if _ALWAYS_THINKS.search(request.model):
            return {}
        is_between = _THINKS_BETWEEN.search(request.model)
        return {"type": "between_tools" if is_between else "disabled"}
    if not params.effort and budget is None:
        return {}
    if _is_adaptive(request, restrictions):
        return {"type": "adaptive", "display": "summarized"}
    if budget == 0:
        return {"type": "disabled"}
    budget = _BUDGETS[params.effort] if budget is None else max(budget, _LEAST_BUDGET)
    return {"type": "enabled", "budget_tokens": budget}


def _is_adaptive(request: Request, restrictions: Restrictions) -> bool:
    """Return whether a model decides itself how long it thinks. Names such as that of a deployment don't tell."""
    return "budget" in restrictions.refused or bool(_ADAPTIVE.search(request.model))


def _shall_not_think(request: Request) -> bool:
    params = request.params
    return params.effort == "none" or (params.thinking_budget == 0 and not params.effort)


def dropped(request: Request, restrictions: Restrictions) -> list[str]:
    """Return warnings about parameters that are not sent. Newer models take an effort, older ones a budget in its place.

    A model that thinks by a budget takes no sampling.
    """
    params, model = request.params, request.model
    effort, budget = params.effort, params.thinking_budget
    is_adaptive = _is_adaptive(request, restrictions)
    told = []
    if _shall_not_think(request) and _ALWAYS_THINKS.search(model):
        told.append(f"the model {model} always thinks, so it is asked for the effort low")
    elif budget and effort == "none":
        told.append("params.thinking_budget is not sent: params.effort turns thinking off")
    elif budget and is_adaptive:
        told.append(without_budget(model))
    elif budget is not None and effort not in ("", "none") and not is_adaptive:
        told.append(BUDGET_ONLY)
    if "budget_tokens" in thinking_of(request, restrictions):
        if budget is not None and budget < _LEAST_BUDGET:
            told.append(
                f"params.thinking_budget is {budget}, and {_LEAST_BUDGET} is asked for, the lowest "
                "number that the API takes"
            )
        told += map(without_thinking, sampling_of(request, "anthropic"))
    return told


def without_thinking(name: str) -> str:
    """Return the warning about a parameter for sampling."""
    return f"params.{name} is not sent: a model that thinks by a budget does not take it"


def _output_config(request: Request, restrictions: Restrictions) -> dict[str, Json]:
    """Return the form of the answer, and how much effort goes into it."""
    config: dict[str, Json] = {}
    wanted = request.response_format
    if effort := effort_of(request, restrictions):
        config["effort"] = effort
    if wanted and wanted.type == "json_schema":
        config["format"] = {"type": "json_schema", "schema": dict(wanted.schema)}
    return config


def effort_of(request: Request, restrictions: Restrictions = _NONE) -> str:
    """Return how much effort the model is asked for, "" if it is not told."""
    effort = request.params.effort
    if _shall_not_think(request):
        return "low" if _ALWAYS_THINKS.search(request.model) else ""
    if not effort or not _is_adaptive(request, restrictions):
        return ""
    return "low" if effort == "minimal" else effort


def encode_message(message: Message, marked: bool) -> list[Json]:
    """Return a message. `marked`: the provider shall cache all up to its end."""
    blocks = [*_encode_blocks(message), *({"type": "text", "text": text} for text in message.given)]
    role = "assistant" if message.role == "assistant" else "user"
    if marked:
        blocks[-1].update(_MARK)
    elif _is_text(message) and not _is_blank(message):
        return [{"role": role, "content": message.content}]
    return [{"role": role, "content": blocks}]


def _is_blank(message: Message) -> bool:
    """Return whether an answer is nothing but blank text, which the API refuses to take back."""
    is_answer = message.role == "assistant" and not message.tool_calls
    return is_answer and not message.content.strip()


def _is_text(message: Message) -> bool:
    parts = message.tool_results, message.tool_calls, message.images, message.given
    return not any(parts) and message.original is None


def decode(body: Json) -> Response:
    """Return the answer in a whole body. An empty list of blocks is an empty answer (001-5.6g)."""
    raise_reported(body)
    answer = Node(body)
    usage, stop_reason = answer["usage"], answer["stop_reason"].text()
    read = usage["cache_read_input_tokens"].integer()
    written = usage["cache_creation_input_tokens"].integer()
    blocks = [(block["type"].text(), block) for block in answer["content"].items()]
    return Response(
        content="".join(block["text"].text() for kind, block in blocks if kind == "text"),
        tool_calls=tuple(
            # Its own service writes an object, some that speak its language a JSON text.
            read_call(block["id"].text(), block["name"].text(), block["input"])
            for kind, block in blocks
            if kind == "tool_use"
        ),
        model=answer["model"].text(),
        stop_reason=stop_reason,
        incomplete=_INCOMPLETE.get(stop_reason),
        incomplete_detail=answer["stop_details"]["category"].text(),
        # Anthropic counts apart what went through the cache.
        input_tokens=usage["input_tokens"].integer() + read + written,
        output_tokens=usage["output_tokens"].integer(),
        cache_read_tokens=read,
        cache_write_tokens=written,
        original=_original(blocks, is_paused=stop_reason == "pause_turn"),
        thoughts="".join(block["thinking"].text() for kind, block in blocks if kind == "thinking"),
        cost=stated_cost(usage.table()),
        sources=_sources(blocks),
    )


def _sources(blocks: Sequence[tuple[str, Node]]) -> tuple[Source, ...]:
    """Return the sources that the text cites, else the results of the search. An error of the search has none."""
    cited = [
        citation.table()
        for kind, block in blocks
        if kind == "text"
        for citation in block["citations"].items()
    ]
    results = [
        result.table()
        for kind, block in blocks
        if kind == "web_search_tool_result" and isinstance(block["content"].value, list)
        for result in block["content"].items()
    ]
    return sources_of(cited or results)


def _original(blocks: Sequence[tuple[str, Node]], *, is_paused: bool) -> Json:
    """Return the blocks of an answer that is paused, or whose model has thought.

    The provider wants them back unchanged, but not a block without text, which it would refuse.
    """
    has_thought = {kind for kind, _ in blocks} & {*_THINKING}
    if not (has_thought or is_paused):
        return None
    kept = (b.table() for kind, b in blocks if kind != "text" or b["text"].text().strip())
    return [with_arguments(block, "input") for block in kept]


class AnthropicStream(SseStream):
    """Puts the events of a stream together again to the body of an unstreamed answer."""

    def __init__(self) -> None:
        super().__init__()
        self._body: dict[str, Json] = {}
        self._blocks: dict[int, dict[str, Json]] = {}
        self._text: list[str] = []
        self._parts: dict[tuple[int, str], list[str]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._complete = self._has_reason = False
        self.is_abrupt = False
        """Whether the reason for the end has come before the answer."""

    @property
    def is_over(self) -> bool:
        """Whether the last event has come."""
        return self._complete

    @property
    def is_ending(self) -> bool:
        """Whether there is a reason for the end behind all blocks. Some servers then send no last event."""
        return self._complete or self._has_reason

    def finish(self) -> Response:
        """Return the whole answer."""
        if not self.is_ending:
            raise WireError("the stream ended before the answer was complete")
        for (index, name), parts in self._parts.items():
            block = self._blocks.setdefault(index, {"type": "text"} if name == "text" else {})
            block[name] = Node(block)[name].text() + "".join(parts)
        for index, parts in self._inputs.items():
            if any(parts):
                self._blocks.setdefault(index, {})["input"] = "".join(parts)
        self._body["content"] = [self._blocks[index] for index in sorted(self._blocks)]
        # In whatever blocks it came: what has been shown is the answer.
        return replace(decode(self._body), content="".join(self._text))

    def _end(self) -> None:
        """Take the end mark: some servers, such as GitHub Copilot, send it in place of the last event, others behind it."""
        self._complete = self._complete or bool(self._body.get("stop_reason"))

    def _take(self, body: Json) -> Delta:
        event = Node(body, "event")
        kind = event["type"].text()
        if kind in ("content_block_start", "content_block_delta"):
            self._has_reason = False  # The model goes on.
        if kind == "message_start":
            self._body.update(event["message"].table())
        elif kind == "content_block_start":
            block = event["content_block"]
            self._blocks[event["index"].integer()] = dict(block.table())
            return self._add_text(block["text"].text())
        elif kind == "content_block_delta":
            return self._take_delta(event["index"].integer(), event["delta"])
        elif kind == "message_delta":
            usage = Node(self._body)["usage"].table()
            # A null keeps the value of an earlier event.
            self._body.update(stated(event["delta"].table()))
            self._body["usage"] = {**usage, **stated(event["usage"].table())}
            if event["delta"]["stop_reason"].text():
                self._has_reason = True
                self.is_abrupt = not self._has_answer
        elif kind == "message_stop":
            self._complete = True
        elif kind == "error" or not kind:  # Proxies report theirs without a type.
            raise_reported(event.value)
            if kind:
                raise ProviderError("server", "the stream failed")
        return Delta()

    @property
    def _has_answer(self) -> bool:
        """Whether there is more than thoughts."""
        return any(self._text) or any(
            each.get("type") == "tool_use" for each in self._blocks.values()
        )

    def _take_delta(self, index: int, delta: Node) -> Delta:
        kind = delta["type"].text()
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(delta["partial_json"].text())
        elif kind == "citations_delta":
            block = self._blocks.setdefault(index, {"type": "text"})
            block["citations"] = [*(block.get("citations") or ()), delta["citation"].table()]
        elif kind in _DELTAS:
            part = delta[_DELTAS[kind]].text()
            self._parts.setdefault((index, _DELTAS[kind]), []).append(part)
            if kind == "text_delta":
                return self._add_text(part)
            return Delta(thought=part if kind == "thinking_delta" else "")
        return Delta()

    def _add_text(self, text: str) -> Delta:
        self._text.append(text)
        return Delta(text)


stream_decoder = AnthropicStream


def _encode_tool(tool: Tool) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool_schema(tool),
    }


def _encode_blocks(message: Message) -> list[dict[str, Json]]:
    if message.original is not None:
        return _without_blank_end([*returned_parts(message.original, message, _call_of)])
    if message.tool_results:
        return [
            {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": _with_images(result.content, result.images),
                "is_error": result.is_error,
            }
            for result in message.tool_results
        ]
    if _is_blank(message):
        return [{**_EMPTY_BLOCK}]
    if not has_content(message):
        return []
    blocks: list[dict[str, Json]] = [_encode_image(image) for image in message.images]
    if message.content.strip() or not message.tool_calls:
        blocks.append({"type": "text", "text": message.content})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in message.tool_calls
    ]
    return blocks


def _without_blank_end(blocks: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Return the blocks of an answer, without the blank text of one that has nothing else but thoughts."""
    said = [block for block in blocks if block.get("type") not in _THINKING]
    if all(block.get("type") == "text" and not block["text"].strip() for block in said):
        return [*(block for block in blocks if block not in said), {**_EMPTY_BLOCK}]
    return list(blocks)


def _call_of(block: Json, call: ToolCall) -> Json | None:
    is_call = block.get("type") == "tool_use"
    return {**block, "id": call.id, "name": call.name} if is_call else None


def _with_images(text: str, images: Sequence[Image]) -> Json:
    """Return the content of a result: its text, or blocks if there are images."""
    if not images:
        return text
    said: list[Json] = [{"type": "text", "text": text}] if text else []
    return [*said, *map(_encode_image, images)]


def _encode_image(image: Image) -> dict[str, Json]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}
