"""The wire format of Google's Gemini API, `generateContent`. No I/O.

Fields are those of Google's own library, google-genai 3.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

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
    ToolResult,
)
from axe_lsp.runtime.providers.failures import raise_reported
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.sse import SseStream
from axe_lsp.runtime.providers.wire import (
    BUDGET_ONLY,
    PICTURE,
    Node,
    Shape,
    WireError,
    plain_params,
    returnable,
    returned_parts,
    tool_schema,
    usable_arguments,
    without_budget,
)
from axe_lsp.runtime.sources import Source, sources_of

SHAPE = Shape(any_version=True, messages="contents")

_LEVELS = {"none": "MINIMAL", "max": "XHIGH"}
"""The levels of thinking that have another name here. Gemini 3 always thinks."""

_COUNTS_THOUGHTS = re.compile(r"gemini-[12]\b")
"""Models that are told a number of tokens in place of a level."""

_TAKES_NO_BUDGET = re.compile(r"gemini-([4-9]|\d\d)\b")
"""Models that refuse a request with a number of tokens for thoughts."""

_BUDGETS = {
    "none": 0,
    "minimal": 1_024,
    "low": 1_024,
    "medium": 8_192,
    "high": 24_576,
    "xhigh": 24_576,
    "max": 24_576,
}
"""Tokens for the levels, as Google's OpenAI endpoint translates them. More than 24,576 is refused by
most of the models."""

_LEAST_OF_PRO = 128
"""Tokens for thoughts of Gemini 2.5 Pro, which can't be kept from thinking."""

_UNSIGNED = "skip_thought_signature_validator"
"""The text that Google requires in place of the signature of another model's call."""

_OWN_ID = "gemini_"
"""How the ids of calls begin that came without one. They are not sent."""

_UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"

_COMPLETE = "STOP"

_INCOMPLETE: Mapping[str, Incomplete] = {
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "MODEL_ARMOR",
            "ESCALATION",
        ),
        "content_filter",
    ),
    **dict.fromkeys(
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"),
        "malformed_call",
    ),
    "CONTINUATION": "paused",
}
"""By finish reason; `IMAGE_…` are filters as well. All others cut the answer off."""


_UNREAD = {"image": PICTURE, "audio": "audio", "video": "a video"}
"""Names of data by the beginning of its media type."""


def path(model: str, stream: bool) -> str:
    """Return the model and the method; a tuned model stands in a collection of its own."""
    name = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"v1beta/{quote(name)}:{method}"


def head(request: Request, _stream: bool, restrictions: Restrictions) -> dict[str, Json]:
    """Return the body of a request without its messages. What it does not know, the API refuses."""
    body: dict[str, Json] = {}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_encode_tool(tool) for tool in request.tools]}]
    if request.continuation:
        body["continuationToken"] = request.continuation
    config = {**_sampling(request), **_form(request), **_thinking(request, restrictions)}
    if config:
        body["generationConfig"] = config
    return body


def _sampling(request: Request) -> dict[str, Json]:
    limit = {"maxOutputTokens": request.max_tokens} if request.max_tokens else {}
    return {**limit, **plain_params(request, "gemini")}


def _form(request: Request) -> dict[str, Json]:
    wanted = request.response_format
    if wanted is None:
        return {}
    if wanted.type == "text":
        return {"responseMimeType": "text/plain"}
    schema = {"responseJsonSchema": dict(wanted.schema)} if wanted.type == "json_schema" else {}
    return {"responseMimeType": "application/json", **schema}


def _thinking(request: Request, restrictions: Restrictions) -> dict[str, Json]:
    """Return the thinking configuration, only if the agent has one: some models refuse the field.

    A budget is more exact than a level, and the two together are refused.
    """
    effort, takes_budget = request.params.effort, "budget" not in restrictions.refused
    budget = _budget(request) if takes_budget else None
    if takes_budget and budget is None and effort and _COUNTS_THOUGHTS.search(request.model):
        budget = _BUDGETS[effort]
        if not budget and "-pro" in request.model:
            budget = _LEAST_OF_PRO
    if budget is not None:
        config: dict[str, Json] = {"thinkingBudget": budget, "includeThoughts": budget > 0}
    elif effort:
        config = {
            "thinkingLevel": _LEVELS.get(effort, effort.upper()),
            "includeThoughts": effort != "none",
        }
    else:
        return {}
    return {"thinkingConfig": config}


def _budget(request: Request) -> int | None:
    """Return the tokens for thoughts that the agent names, if the model takes such a number."""
    return None if _TAKES_NO_BUDGET.search(request.model) else request.params.thinking_budget


def dropped(request: Request, restrictions: Restrictions) -> list[str]:
    """Return the parameters that are dropped: a model gets a level or a number of tokens."""
    params = request.params
    if params.thinking_budget is None:
        return []
    if _budget(request) is None:
        return [
            f"params.thinking_budget is not sent: the model {request.model} takes a level of "
            "thinking and no number of tokens; params.effort is the level"
        ]
    if "budget" in restrictions.refused:
        return [without_budget(request.model)]
    return [BUDGET_ONLY] if params.effort else []


def encode_message(message: Message, _marked: bool) -> list[Json]:
    """Return a message. Caching needs no marks here."""
    role = "model" if message.role == "assistant" else "user"
    given = [{"text": text} for text in message.given]
    return [{"role": role, "parts": [*_encode_parts(message), *given]}]


def decode(body: Json) -> Response:
    """Return the answer in a whole body. Calls that have no ids get some."""
    raise_reported(body)
    answer = Node(body)
    candidates = answer["candidates"].items()
    blocked = answer["promptFeedback"]["blockReason"].text()
    if not candidates and not blocked:
        raise ProviderError("server", "response contains no candidates")
    candidate = candidates[0] if candidates else Node({})
    parts = candidate["content"]["parts"].items()
    calls = [part["functionCall"] for part in parts if part["functionCall"].value is not None]
    usage = answer["usageMetadata"]
    return Response(
        content=_text(parts),
        tool_calls=tuple(
            ToolCall(
                call["id"].text() or f"{_OWN_ID}{index}",
                call["name"].text(),
                usable_arguments(call["args"].table()),
            )
            for index, call in enumerate(calls)
        ),
        model=answer["modelVersion"].text(),
        stop_reason=candidate["finishReason"].text() or blocked,
        input_tokens=usage["promptTokenCount"].integer()
        + usage["toolUsePromptTokenCount"].integer(),
        output_tokens=usage["candidatesTokenCount"].integer()
        + usage["thoughtsTokenCount"].integer(),
        cache_read_tokens=usage["cachedContentTokenCount"].integer(),
        original=_returned(parts) or None,
        thoughts=_text(parts, thoughts=True),
        continuation=candidate["continuationToken"].text(),
        sources=_sources(candidate),
        unread=_unread(parts),
        **_end(candidate, bool(calls), blocked),
    )


def _sources(candidate: Node) -> tuple[Source, ...]:
    """Return the sources of a grounded answer; else the pages that were read, and the texts that it quotes."""
    chunks = candidate["groundingMetadata"]["groundingChunks"].items()
    grounding = [
        entry for chunk in chunks for entry in chunk.table().values() if isinstance(entry, dict)
    ]
    pages = [page.table() for page in candidate["urlContextMetadata"]["urlMetadata"].items()]
    quoted = candidate["citationMetadata"]
    quotes = [
        quote.table() for name in ("citations", "citationSources") for quote in quoted[name].items()
    ]
    return sources_of(grounding or [*pages, *quotes])


def _unread(parts: Sequence[Node]) -> str:
    """Return the name of content that is no text, such as a picture."""
    data = (part[name] for part in parts for name in ("inlineData", "fileData"))
    kinds = (each["mimeType"].text().partition("/")[0] for each in data if each.value is not None)
    return next((_UNREAD.get(kind, "a file") for kind in kinds), "")


def _returned(parts: Sequence[Node]) -> list[Json]:
    """Return the parts as the model wants them back: as they came, but for what can't be sent again."""
    found = returnable((part.table() for part in parts), "functionCall", "args")
    return [part for part in found if part != {"text": ""}]


def _end(candidate: Node, has_calls: bool, blocked: str) -> dict[str, Json]:
    """Return why an answer is not whole, with the provider's word for it."""
    reason, told = candidate["finishReason"].text(), candidate["finishMessage"].text()
    if blocked:
        return {"incomplete": "content_filter", "incomplete_detail": f"prompt: {blocked}"}
    if reason == "MISSING_THOUGHT_SIGNATURE":
        raise ProviderError("bad_request", told or "the request lacks a thought signature")
    if reason == _COMPLETE or (has_calls and reason in ("", _UNSPECIFIED)):
        return {}
    is_filter = reason.startswith("IMAGE_")
    why = "content_filter" if is_filter else _INCOMPLETE.get(reason, "length")
    detail = ": ".join(filter(None, (reason or "no finish reason", told)))
    return {"incomplete": why, "incomplete_detail": "" if reason == "MAX_TOKENS" else detail}


def _text(parts: Sequence[Node], *, thoughts: bool = False) -> str:
    """Return the text in parts: that of the answer, or of the model's thoughts."""
    return "".join(
        part["text"].text() for part in parts if bool(part.table().get("thought")) is thoughts
    )


class GeminiStream(SseStream):
    """Puts the chunks of a stream together again to the body of an unstreamed answer."""

    def __init__(self) -> None:
        super().__init__()
        self._body: dict[str, Json] = {}
        self._usage: dict[str, Json] = {}
        self._candidate: dict[str, Json] = {}
        self._parts: list[dict[str, Json]] = []
        self._index: int | None = None
        self._goes_on = False

    @property
    def is_over(self) -> bool:
        """Whether anything shows that no event will follow: there is no end mark."""
        return False

    @property
    def is_ending(self) -> bool:
        """Whether there is a reason for the end. Older models give one with each piece, which says nothing."""
        has_end = bool(self._candidate.get("finishReason")) and not self._goes_on
        return has_end and any(map(_is_answer, self._parts))

    def finish(self) -> Response:
        """Return the whole answer."""
        is_blocked = "promptFeedback" in self._body
        if not is_blocked and self._candidate.get("finishReason") in (None, "", _UNSPECIFIED):
            raise WireError("the stream ended before the answer was complete")
        content = {"parts": [_whole(part) for part in self._parts]}
        candidate = {**self._candidate, "content": content}
        candidates = [candidate] if self._candidate or self._parts else []
        return decode({**self._body, "candidates": candidates, "usageMetadata": self._usage})

    def _take(self, body: Json) -> Delta:
        raise_reported(body)
        # A long answer has thousands of chunks, each with all that is known so far.
        chunk = Node(body, "chunk")
        _keep(self._usage, chunk["usageMetadata"])
        _keep(self._body, chunk, ("candidates", "usageMetadata"))
        candidate = self._first_candidate(chunk)
        if candidate is None:
            return Delta()
        if self._candidate.get("finishReason"):
            self._goes_on = True
        elif candidate["finishReason"].value:
            self.is_abrupt = not self._parts
        told = {True: "", False: ""}
        for part in candidate["content"]["parts"].items():
            table, text = part.table(), part["text"].text()
            told[bool(table.get("thought"))] += text
            self._add(table, text)
        _keep(self._candidate, candidate, ("content",))
        return Delta(told[False], told[True])

    def _first_candidate(self, chunk: Node) -> Node | None:
        """Return what a chunk has of the first candidate, which is the answer."""
        for candidate in chunk["candidates"].items():
            index = candidate["index"].integer()
            if self._index is None:
                self._index = index
            if index == self._index:
                return candidate
        return None

    def _add(self, part: dict[str, Json], text: str) -> None:
        """Keep a part. Pieces of a text are one part, unless one of them is signed."""
        is_text = "text" in part and part.keys() <= _OF_TEXT
        if not is_text:
            self._parts.append(part)
            return
        last = self._parts[-1] if self._parts else {}
        if last.keys() == part.keys() and last.get("thought") == part.get("thought"):
            last["text"].append(text)
        else:
            self._parts.append({**part, "text": [text]})


stream_decoder = GeminiStream


_OF_TEXT = frozenset({"text", "thought"})
"""The members of a part that is nothing but text."""


def _is_answer(part: dict[str, Json]) -> bool:
    """Return whether a part, whose text may be in pieces, is more than a thought."""
    if part.get("thought"):
        return False
    text = part.get("text")
    return any(text) if isinstance(text, list) else any(part[each] for each in part)


def _whole(part: dict[str, Json]) -> dict[str, Json]:
    """Return a part whose text may be in pieces."""
    text = part.get("text")
    return {**part, "text": "".join(text)} if isinstance(text, list) else part


def _keep(known: dict[str, Json], told: Node, left_out: Sequence[str] = ()) -> None:
    """Add the data of a chunk. A null keeps the value of an earlier chunk."""
    for key, value in told.table().items():
        if value is not None and key not in left_out:
            known[key] = value


def _encode_tool(tool: Tool) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool_schema(tool),
    }


def _encode_parts(message: Message) -> list[Json]:
    if message.original and (back := [*returned_parts(message.original, message, _call_of)]):
        return back
    if message.tool_results:
        images = [image for result in message.tool_results for image in result.images]
        return [*map(_encode_result, message.tool_results), *map(_encode_image, images)]
    parts: list[Json] = [*map(_encode_image, message.images)]
    if message.content or not (parts or message.tool_calls or message.given):
        parts.append({"text": message.content})
    for index, call in enumerate(message.tool_calls):
        # Only the first of parallel calls is signed.
        signature = {} if index else {"thoughtSignature": _UNSIGNED}
        called = {**_id(call.id), "name": call.name, "args": dict(call.arguments)}
        parts.append({"functionCall": called, **signature})
    return parts


def _call_of(part: Json, call: ToolCall) -> Json | None:
    """Encode a call, which keeps its id, and has none if it came without one."""
    if (named := part.get("functionCall")) is None:
        return None
    return {**part, "functionCall": {**named, "name": call.name}}


def _encode_result(result: ToolResult) -> Json:
    response = {"error" if result.is_error else "result": result.content}
    answer = {**_id(result.call_id), "name": result.name, "response": response}
    return {"functionResponse": answer}


def _encode_image(image: Image) -> Json:
    return {"inlineData": {"mimeType": image.media_type, "data": image.data}}


def _id(call_id: str) -> dict[str, Json]:
    return {} if call_id.startswith(_OWN_ID) else {"id": call_id}
