"""The wire format of OpenAI's Chat Completions API, which many others speak too (001-3). No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.schema.services import CHAT_FIELDS
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
    ToolCall,
)
from axe_lsp.runtime.providers.failures import raise_reported
from axe_lsp.runtime.providers.restrictions import WIRE_ADVICE, Restrictions
from axe_lsp.runtime.providers.sse import SseStream
from axe_lsp.runtime.providers.stated_usage import stated_cost, token_counts
from axe_lsp.runtime.providers.thinking_tags import has_tags
from axe_lsp.runtime.providers.wire import (
    BUDGET_ONLY,
    NOT_OFFERED,
    PICTURE,
    Node,
    Shape,
    WireError,
    data_url,
    function_of,
    given_messages,
    has_content,
    parse_arguments,
    plain_params,
    read_call,
    stated,
    to_json,
    without_budget,
)
from axe_lsp.runtime.sources import Source, sources_of

SHAPE = Shape(
    any_version=True,
    system_message=True,
    has_tags=True,
    advice={
        # What OpenAI says of a model that works only on the other wire, at all or with tools.
        r"v1/responses|reasoning_effort\W+does not support\W+none\b": f" ({WIRE_ADVICE})",
    },
)

_THOUGHTS = ("reasoning_content", "reasoning")
"""The fields in which services put them: DeepSeek, Kimi and llama.cpp the one, vLLM and OpenRouter the other."""

_OWN_FIELDS = frozenset(
    {"role", "content", "tool_calls", "refusal", "annotations", "audio", "function_call"}
)
"""The fields of a message that are written anew, or are not taken back."""

_GROWING = frozenset({"text", "summary", "data"})
"""The fields of one of OpenRouter's `reasoning_details` that come piece by piece."""

_INCOMPLETE: Mapping[str, Incomplete] = {
    "length": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}
"""By `finish_reason`. `max_tokens`, which is not documented, means a whole answer, as in axe."""

_SEARCHED = ("search_results", "citations", "web_search")
"""The fields of an answer that list what a service has found in the web."""

_MALFORMED = frozenset(
    {
        *("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"),
        *("MALFORMED_TOOL_USE", "MALFORMED_MODEL_OUTPUT"),
    }
)
"""The stop reasons of Google and Bedrock for a call that can't be read, in upper case."""


def path(_model: str, _stream: bool) -> str:
    """Return the same for all models."""
    return "v1/chat/completions"


def head(request: Request, stream: bool, restrictions: Restrictions) -> dict[str, Json]:
    """Return the body of a request without its messages."""
    limit = request.max_tokens or None
    # OpenAI's own models want the new name, the newer ones no other. Stand-ins know the old one.
    is_new = restrictions.current or "max_tokens" in restrictions.refused
    has_options = stream and "stream_options" not in restrictions.refused
    optional: dict[str, Json] = {
        **plain_params(request, "openai-chat"),
        "max_completion_tokens" if is_new else "max_tokens": limit,
        **_encode_effort(request, restrictions),
        "response_format": _encode_format(request.response_format),
        "tools": [function_of(tool) for tool in request.tools] or None,
        "stream": stream or None,
        "stream_options": {"include_usage": True} if has_options else None,
    }
    return {"model": request.model, **stated(optional)}


def _encode_effort(request: Request, restrictions: Restrictions) -> dict[str, Json]:
    """Return how much to think. OpenRouter has a table for that, which takes a number of tokens too."""
    effort, budget = request.params.effort, request.params.thinking_budget
    if restrictions.provider == "openrouter":
        effort = "none" if budget == 0 else effort
        if budget and "budget" not in restrictions.refused:
            return {"reasoning": {"max_tokens": budget}}
        return {"reasoning": {"effort": effort} if effort else None}
    if request.tools and "tools_with_effort" in restrictions.refused:
        effort = "none"
    return {"reasoning_effort": effort or None}


def dropped(request: Request, restrictions: Restrictions) -> list[str]:
    """Return warnings about reasoning parameters that are not sent: OpenRouter takes an effort or a budget, others no budget."""
    params = request.params
    if restrictions.provider != "openrouter" or params.thinking_budget is None:
        return []
    if params.thinking_budget and "budget" in restrictions.refused:
        return [without_budget(request.model)]
    return [BUDGET_ONLY] if params.effort else []


def encode_message(message: Message, _marked: bool) -> list[Json]:
    """Return a message; each result of a tool becomes one of its own. Caching needs no marks here.

    Pictures are taken from users only, so those of results follow in a message of the user.
    """
    if message.tool_results:
        results: list[Json] = [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
            for result in message.tool_results
        ]
        images = [image for result in message.tool_results for image in result.images]
        text = "The pictures of the results above."
        return [
            *results,
            *([_with_images(text, images)] if images else []),
            *given_messages(message),
        ]
    if message.images:
        return [_with_images(message.content, message.images), *given_messages(message)]
    if message.role != "assistant":
        own = [{"role": message.role, "content": message.content}] if has_content(message) else []
        return [*own, *given_messages(message)]
    original = message.original or {}
    fields = original.get("message", {})
    if not message.tool_calls:
        # Thoughts between tags are read again only with the calls behind them.
        is_text = isinstance(fields.get("content"), str)
        content = {"content": message.content} if is_text else {}
        return [{"role": message.role, "content": message.content, **fields, **content}]
    signed = original.get("calls", [{}] * len(message.tool_calls))
    calls = [
        {
            **more,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": to_json(dict(call.arguments))},
        }
        for call, more in zip(message.tool_calls, signed, strict=False)
    ]
    said = {"role": message.role, "content": message.content or None}
    return [{**said, **fields, "tool_calls": calls}]


def _with_images(text: str, images: Sequence[Image]) -> Json:
    parts: list[Json] = [{"type": "text", "text": text}] if text else []
    parts += [{"type": "image_url", "image_url": {"url": data_url(each)}} for each in images]
    return {"role": "user", "content": parts}


def decode(body: Json) -> Response:
    """Return the answer in a whole body."""
    raise_reported(body)
    answer = Node(body)
    choices = answer["choices"].items()
    if not choices:
        raise ProviderError("server", "response contains no choices")
    choice = choices[0]
    usage = answer["usage"] if answer["usage"].value is not None else choice["usage"]
    message, reason = choice["message"], choice["finish_reason"].text()
    native_reason = choice["native_finish_reason"].text()
    is_malformed = any(map(_is_malformed, (reason, native_reason)))
    if not is_malformed:
        _raise_failed(choice, reason)
    calls = [call for call in message["tool_calls"].items() if not _is_custom(call)]
    content, refusal = _text_of(message["content"]), message["refusal"].text()
    is_refused = bool(refusal) and not content
    incomplete = "malformed_call" if is_malformed else _incomplete(reason)
    tokens = token_counts(
        usage["prompt_tokens"].integer(), usage["completion_tokens"].integer(), usage.table()
    )
    return Response(
        content=content or refusal,
        tool_calls=tuple(
            _decode_call(call, f"call_{answer['id'].text()}_{index}")
            for index, call in enumerate(calls)
        ),
        model=answer["model"].text(),
        stop_reason=reason,
        native_stop_reason=native_reason,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.read,
        cache_write_tokens=tokens.written,
        cost=stated_cost(usage.table()),
        original=_original(message, calls),
        incomplete=incomplete or ("refusal" if is_refused else None),
        incomplete_detail=(native_reason or reason) if is_malformed else "",
        thoughts=_thoughts_of(message),
        sources=_sources(answer, message),
        unread=_unread(message),
    )


def _is_malformed(reason: str) -> bool:
    """Return whether a stop reason says that the model's call can't be read.

    OpenRouter has Google's reason and Bedrock's as `native_finish_reason`, Google's OpenAI endpoint its own behind
    `function_call_filter: `.
    """
    return reason.rpartition(": ")[2].upper() in _MALFORMED


def _incomplete(reason: str) -> Incomplete | None:
    """Return why an answer is not whole. Google's OpenAI endpoint names the filter behind a colon."""
    return _INCOMPLETE.get(reason) or _INCOMPLETE.get(reason.partition(": ")[0])


def _sources(answer: Node, message: Node) -> tuple[Source, ...]:
    """Return the sources: annotations of the message, else what the service lists of its search.

    Perplexity and xAI list addresses (`citations`), Perplexity also pages (`search_results`), Z.ai `web_search`,
    and Groq the results of `executed_tools`.
    """
    fields, lists = message.table(), answer.table()
    cited = [
        part.get("url_citation", part)
        for part in _objects(fields.get("annotations"))
        if part.get("type", "url_citation") in ("url_citation", "file_citation")
    ]
    searched = [
        entry for key in _SEARCHED if isinstance(lists.get(key), list) for entry in lists[key]
    ]
    for tool in _objects(fields.get("executed_tools")):
        results = tool.get("search_results")
        searched += _objects(results.get("results") if isinstance(results, dict) else None)
    return sources_of(cited or searched)


def _objects(value: Json) -> list[Mapping[str, Json]]:
    """Return the objects in a list, none of another value."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _is_custom(call: Node) -> bool:
    """Return whether a call is that of a custom tool (OpenAI), which takes a text and which no request offers."""
    return call["type"].text() == "custom" and not call["function"]["name"].text()


def _unread(message: Node) -> str:
    """Return the name of content that is no text: pictures (OpenRouter's `images`, parts), audio, custom calls."""
    fields = message.table()
    content, audio = fields.get("content"), fields.get("audio")
    kinds = [part.get("type") for part in _objects(content)]
    if fields.get("images") or "image_url" in kinds:
        return PICTURE
    if any(map(_is_custom, message["tool_calls"].items())):
        return NOT_OFFERED.format("custom")
    return "audio" if isinstance(audio, dict) and audio.get("data") else ""


def _raise_failed(choice: Node, reason: str) -> None:
    """Raise ProviderError for an error within a choice, where OpenRouter reports those of its upstream."""
    raise_reported(choice.value)
    if reason == "error":
        raise ProviderError("server", "the provider ended the answer with an error")
    if reason == "insufficient_system_resource":
        raise ProviderError("overloaded", "insufficient_system_resource")


def _original(message: Node, calls: Sequence[Node]) -> Json:
    """Return the parts of an answer that belong to the provider: thoughts and signatures.

    As `message`, the fields of the message, and `calls`, those of each call. A service may refuse other fields,
    even those that its own answers have.
    """
    fields = _returned(message)
    content = message["content"].value
    # Qwen's and DeepSeek's templates read the thoughts between tags again, until the user says something.
    if isinstance(content, list) or (isinstance(content, str) and has_tags(content)):
        fields["content"] = content
    signed = [_returned(call) for call in calls]
    if not fields and not any(signed):
        return None
    return {"message": fields, "calls": signed}


def _returned(node: Node) -> dict[str, Json]:
    """Return the fields of a message or a call that services take back. An empty text says that there were no thoughts."""
    fields = node.table().items()
    return {key: value for key, value in fields if key in CHAT_FIELDS and value is not None}


def _text_of(content: Node) -> str:
    """Return the text of a message, which Mistral's models that reason write in parts."""
    if not isinstance(content.value, list):
        return content.text()
    return "".join(part["text"].text() for part in content.items())


def _thoughts_of(message: Node) -> str:
    """Return the thoughts of the model, in a field or in parts of the content."""
    fields = message.table()
    for name in _THOUGHTS:
        if isinstance(thought := fields.get(name), str) and thought:
            return thought
    if thought := _detailed_thoughts(fields.get("reasoning_details")):
        return thought
    if not isinstance(fields.get("content"), list):
        return ""
    thinking = (part["thinking"] for part in message["content"].items())
    return "".join(map(_text_of, thinking))


def _detailed_thoughts(details: Json) -> str:
    """Return the text in `reasoning_details` (OpenRouter's form), which Snowflake sends without another field."""
    texts = (part.get(name) for part in _objects(details) for name in ("text", "summary"))
    return "".join(text for text in texts if isinstance(text, str))


class OpenAIStream(SseStream):
    """Puts the chunks of a stream together again to the body of an unstreamed answer."""

    def __init__(self) -> None:
        super().__init__()
        self._head: dict[str, Json] = {}
        self._content: list[str | list[Json]] = []
        self._refusal: list[str] = []
        self._fields: dict[str, Json] = {}
        self._unreturned: dict[str, Json] = {}
        self._calls: list[_PartialCall] = []
        self._finish_reason = ""
        self._native_reason = ""
        self._index: int | None = None
        self._usage: Mapping[str, Json] = {}
        self._complete = self._goes_on = False

    @property
    def is_over(self) -> bool:
        """Whether the end mark has come, which is behind the tokens."""
        return self._complete

    @property
    def is_ending(self) -> bool:
        """Whether there is a reason for the end. Some servers then send neither tokens nor the end mark.

        Others give one with each piece, or before the text, which says nothing.
        """
        has_end = bool(self._finish_reason) and not self._goes_on
        return self._complete or (has_end and self._has_more_than_thoughts)

    def finish(self) -> Response:
        """Return the whole answer. Servers that are only like OpenAI's may leave out the end mark."""
        if not self._finish_reason and not (self._complete and self._has_answer):
            raise WireError("the stream ended before the answer was complete")
        calls = sorted(self._calls, key=lambda call: call.index)
        message: dict[str, Json] = {
            **self._fields,
            **self._unreturned,
            "content": _joined(self._content),
            "refusal": "".join(self._refusal),
            "tool_calls": [call.whole() for call in calls],
        }
        choice = {
            "message": message,
            "finish_reason": self._finish_reason,
            "native_finish_reason": self._native_reason,
        }
        response = decode({**self._head, "choices": [choice], "usage": self._usage})
        # Text beside a refusal has been shown, and so has the refusal.
        shown = _text_of(Node(message["content"])) + message["refusal"]
        return replace(response, content=shown)

    @property
    def _has_answer(self) -> bool:
        """Whether there is anything that the model has said. The end mark alone is no answer."""
        return self._has_more_than_thoughts or any(self._fields.values())

    @property
    def _has_more_than_thoughts(self) -> bool:
        return bool(self._calls) or any(self._content) or any(self._refusal)

    def _end(self) -> None:
        self._complete = True

    def _take(self, body: Json) -> Delta:
        raise_reported(body)
        chunk = Node(body, "chunk")
        self._keep_head(chunk)
        choice = self._first_choice(chunk)
        if choice is None:
            return Delta()
        if choice["usage"].value is not None:  # Moonshot
            self._usage = choice["usage"].table() or self._usage
        reason = self._reason_in(choice)
        delta = choice["delta"]
        if self._finish_reason:
            told = delta.table()
            self._goes_on = self._goes_on or any(told[each] for each in told if each != "role")
        elif reason:
            self.is_abrupt = not self._has_answer
        self._finish_reason = reason or self._finish_reason
        if delta.value is None and not self._has_answer:
            delta = choice["message"]  # Of a server that answers at once, in one event or in none.
        return self._add(delta)

    def _keep_head(self, chunk: Node) -> None:
        """Keep what a chunk has beside its choices."""
        # A long answer has thousands of chunks, nearly all of which say something new in one field.
        told = chunk.table()
        for key in ("id", "model"):
            if told.get(key) != self._head.get(key):
                self._head[key] = chunk[key].text() or self._head.get(key)
        for key in _SEARCHED:
            if told.get(key):
                self._head[key] = told[key]
        if told.get("usage") is not None:
            self._usage = chunk["usage"].table() or self._usage

    def _reason_in(self, choice: Node) -> str:
        """Return the stop reason in a piece of a choice, "" if there is none yet. Raises ProviderError for a failure."""
        reason, native_reason = (
            choice[name].text() for name in ("finish_reason", "native_finish_reason")
        )
        if not any(map(_is_malformed, (reason, native_reason))):
            _raise_failed(choice, reason)
        self._native_reason = native_reason or self._native_reason
        return reason

    def _first_choice(self, chunk: Node) -> Node | None:
        """Return what a chunk has of the first choice, which is the answer: with `n` in [params.extra] there are more."""
        for choice in chunk["choices"].items():
            index = choice["index"].integer()
            if self._index is None:
                self._index = index
            if index == self._index:
                return choice
        return None

    def _add(self, delta: Node) -> Delta:
        added = delta.table()
        if added.get("tool_calls") is not None:
            for call in delta["tool_calls"].items():
                self._take_call(call)
        text = refusal = ""
        if added.get("content") is not None:
            text = _text_of(delta["content"])
            self._content.append(added["content"])
        if added.get("refusal") is not None:
            refusal = delta["refusal"].text()
            self._refusal.append(refusal)
        for key, value in added.items():
            if key not in _OWN_FIELDS:
                self._fields[key] = _merged(key, self._fields.get(key), value)
            elif key in ("annotations", "audio"):
                self._unreturned[key] = _merged(key, self._unreturned.get(key), value)
        return Delta(text + refusal, _thoughts_of(delta))

    def _take_call(self, part: Node) -> None:
        """Add a part to the last call of its index; another id begins another call.

        Some servers give no index, and Google's gives the same to all, with ids that may be empty: so a
        name begins another call, too, once the arguments of the last one are whole. vLLM gave each part
        an id of its own, so an id without a name begins none.
        """
        index, id_ = part["index"].integer(), part["id"].text()
        name, arguments = part["function"]["name"].text(), part["function"]["arguments"]
        text = (
            arguments.text() if not isinstance(arguments.value, dict) else to_json(arguments.value)
        )
        call = next((call for call in reversed(self._calls) if call.index == index), None)
        is_other = call is not None and (
            (name and id_ and call.id and id_ != call.id)
            or (not id_ and name and text and parse_arguments("".join(call.arguments)))
        )
        if call is None or is_other:
            call = _PartialCall(index)
            self._calls.append(call)
        call.id = call.id or id_
        call.name = name or call.name
        call.arguments.append(text)
        for key, value in part.table().items():
            if key not in ("index", "id", "type", "function"):
                call.fields[key] = _merged(key, call.fields.get(key), value)


stream_decoder = OpenAIStream


class _PartialCall(Struct):
    """As much of a tool call as has arrived."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    fields: dict[str, Json] = field(default_factory=dict)

    def whole(self) -> Json:
        """Return the call in the form of an answer that is not streamed."""
        function = {"name": self.name, "arguments": "".join(self.arguments)}
        return {**self.fields, "id": self.id, "function": function}


def _joined(pieces: Sequence[str | list[Json]]) -> Json:
    """Return the content of all deltas: a text, or parts if any came in parts."""
    if not any(isinstance(piece, list) for piece in pieces):
        return "".join(piece for piece in pieces if isinstance(piece, str))
    parts: list[Json] = []
    for piece in pieces:
        more: list[Json] = piece if isinstance(piece, list) else []
        if isinstance(piece, str) and piece:
            more = [{"type": "text", "text": piece}]
        for part in more:
            last = parts[-1] if parts else {}
            if part.get("type") == last.get("type") and set(part) == set(last) == {"type", "text"}:
                parts[-1] = {**last, "text": (last["text"] or "") + (part["text"] or "")}
            else:
                parts.append(part)
    return parts


def _merged(key: str, before: Json, more: Json) -> Json:
    """Return a field of a message after another delta, whatever it is."""
    if key in _THOUGHTS and isinstance(before, str) and isinstance(more, str):
        return before + more
    if isinstance(before, list) and isinstance(more, list):
        return _with_details(before, more)
    if isinstance(before, dict) and isinstance(more, dict):
        return {**before, **{name: _merged(name, before.get(name), more[name]) for name in more}}
    return before if before not in (None, "") else more


def _with_details(before: list[Json], more: list[Json]) -> list[Json]:
    """Merge pieces of OpenRouter's `reasoning_details`. Those of one detail have the same index and type."""
    details = list(before)
    for piece in more:
        place = next((i for i, each in enumerate(details) if _is_same_detail(each, piece)), None)
        if place is None:
            details.append(piece)
            continue
        known = details[place]
        grown = {
            key: known[key] + piece[key]
            for key in _GROWING
            if isinstance(known.get(key), str) and isinstance(piece.get(key), str)
        }
        new = {key: value for key, value in piece.items() if known.get(key) in (None, "")}
        details[place] = {**known, **new, **grown}
    return details


def _is_same_detail(one: Json, other: Json) -> bool:
    if not isinstance(one, dict) or not isinstance(other, dict) or other.get("index") is None:
        return False
    ids = [each for each in (one.get("id"), other.get("id")) if each not in (None, "")]
    is_same_id = len(ids) < 2 or ids[0] == ids[1]
    return is_same_id and all(one.get(key) == other.get(key) for key in ("index", "type"))


def _encode_format(wanted: ResponseFormat | None) -> Json:
    if wanted is None:
        return None
    if wanted.type != "json_schema":
        return {"type": wanted.type}
    schema = {"name": wanted.name, "strict": wanted.strict, "schema": dict(wanted.schema)}
    return {"type": "json_schema", "json_schema": schema}


def _decode_call(call: Node, id_: str) -> ToolCall:
    """Return a call. Some servers leave its id empty: it gets another."""
    function = call["function"]
    return read_call(call["id"].text() or id_, function["name"].text(), function["arguments"])
