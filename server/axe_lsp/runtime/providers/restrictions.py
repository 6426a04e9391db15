"""The restrictions of a server: those that are known in advance, and those learnt from its refusals.

Names of models say little about it, and new ones appear every month. So a request is sent as it is
meant, and what the server refuses by name is changed or left out, for this model from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.agentfile.schema.providers import EFFORTS, PARAMS, PROVIDERS, WIRES, Wire, WireTraits
from axe_lsp.agentfile.schema.services import EMPTY_FIELDS
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Json, Message, Request, Response
from axe_lsp.runtime.providers.tool_schemas import RefusedTool, offered_tools, refused_tool

Field = str
"""A part of requests to omit or change: a key of `_REFUSALS`. `tools_with_effort`: tools need effort none. `budget`: the model
decides itself how long it thinks."""

_LONG = 2
"""Answers after which a run is long."""


class Restrictions(Struct, frozen=True):
    """How to ask a server for a model.

    `current`: it is the provider's own, which knows all of its API. Those that stand in for it,
    proxies and compatible servers, are asked in the words of axe M7 (001-2, 001-3, 001-4). `provider`
    is the name of the service, for wires that have dialects. `efforts` are those that the model takes
    of `params.effort`, none as long as it has not refused one. `omitted_fields` are the fields of former
    messages that it refuses, `required_fields` those that it wants in each assistant message.
    `refused_tools` are left out. If it `separates_results`, no message of the user may follow a tool result.
    """

    current: bool = False
    refused: frozenset[Field] = frozenset()
    provider: str = ""
    wire: Wire = "openai-chat"
    efforts: tuple[str, ...] = ()
    refused_tools: tuple[RefusedTool, ...] = ()
    omitted_fields: frozenset[str] = frozenset()
    required_fields: frozenset[str] = frozenset()
    separates_results: bool = False

    @property
    def message_fields(self) -> tuple[frozenset[str], frozenset[str], bool]:
        """The part that changes how a message is written."""
        return self.omitted_fields, self.required_fields, self.separates_results


def accepted(request: Request, restrictions: Restrictions) -> Request:
    """Return the request as it is sent: without what may be left out and was refused, and with one system prompt."""
    params = request.params
    if request.server_instructions:
        system = request.system + request.server_instructions
        request = replace(request, system=system, server_instructions="")
    if "temperature" in restrictions.refused:
        request = replace(request, temperature=None)
    names = [spec.name for spec in PARAMS if spec.name in restrictions.refused]
    if names:
        params = replace(params, **{name: getattr(_UNSET, name) for name in names})
    if params.effort:
        params = replace(params, effort=_effort(params.effort, restrictions))
    if params != request.params:
        request = replace(request, params=params)
    if "tools" in restrictions.refused:
        request = replace(request, tools=())
    elif request.tools:
        offered = offered_tools(request, restrictions.wire, restrictions.refused_tools)
        request = replace(request, tools=offered.tools)
    if "images" in restrictions.refused and _has_images(request):
        messages = (_without_images(m) if _shows(m) else m for m in request.messages)
        request = replace(request, messages=tuple(messages))
    wanted = request.response_format
    if "response_format" in restrictions.refused and wanted is not None:
        system = request.system + wanted.otherwise
        request = replace(request, response_format=None, system=system)
    return request


def brings_pictures(request: Request) -> bool:
    """Return whether there are pictures in the newest message."""
    return _shows(request.messages[-1])


def _has_images(request: Request) -> bool:
    return any(map(_shows, request.messages))


def _shows(message: Message) -> bool:
    return bool(message.images) or any(result.images for result in message.tool_results)


@lru_cache(maxsize=256)
def _without_images(message: Message) -> Message:
    """Return the message with a sentence in place of its pictures. The same one again for the same one."""
    results = tuple(
        replace(result, content=_told(result.content, len(result.images)), images=())
        for result in message.tool_results
    )
    content = _told(message.content, len(message.images))
    return replace(message, content=content, images=(), tool_results=results)


def _told(text: str, images: int) -> str:
    note = f"[{images} picture{'s' if images > 1 else ''} left out: this model takes none]"
    return "\n\n".join(filter(None, (text, note))) if images else text


def left_out_tools(request: Request, restrictions: Restrictions) -> tuple[str, ...]:
    """Return a warning for each tool that the provider does not get because of its schema."""
    if not request.tools or "tools" in restrictions.refused:
        return ()
    return offered_tools(request, restrictions.wire, restrictions.refused_tools).warnings


def caches(request: Request, restrictions: Restrictions) -> bool:
    """Return whether to say what is worth caching.

    A stand-in is told only when a run has become long: some know nothing of caching, and writing to
    a cache costs more than it saves in a run of two turns.
    """
    turns = sum(message.role == "assistant" for message in request.messages)
    return "cache_control" not in restrictions.refused and (restrictions.current or turns >= _LONG)


def marked_messages(request: Request, restrictions: Restrictions) -> Collection[int]:
    """Return the messages up to which all is cached, by index: the last two that the model is sent.

    The next turn begins with what ends at the last one. The one before is where this turn finds
    what the last turn has written, however many results there are in between.
    """
    if not (request.tools and caches(request, restrictions)):
        return ()
    ours = [i for i, message in enumerate(request.messages) if message.role != "assistant"]
    return ours[-2:]


def _effort(asked: str, restrictions: Restrictions) -> str:
    """Return the effort that a request asks for: the next lower one that the model takes, "" for none of them."""
    if restrictions.refused & {"effort", "think"}:
        return ""
    if not restrictions.efforts or asked in restrictions.efforts:
        return asked
    lower = [each for each in restrictions.efforts if EFFORTS.index(each) < EFFORTS.index(asked)]
    return lower[-1] if lower else restrictions.efforts[0]


_LONGEST_READ = 4000
"""Characters of an error that are searched: the time of some patterns grows with the square of the length."""


def learnt(
    error: ProviderError,
    request: Request,
    restrictions: Restrictions,
    sent_fields: Callable[[], Collection[str]] = tuple,
) -> Restrictions | None:
    """Return the restrictions with what the error says of them, if the server may be asked again in another way.

    `sent_fields` returns the names of the fields of the request's messages.
    """
    about_one_picture = _ONE_PICTURE in error.message or not PICTURE_CODES.isdisjoint(error.codes)
    if error.status not in _REFUSING or about_one_picture or error.is_garbled_call:
        return None
    tool = _refused_tool(error, request, restrictions)
    if tool is not None:
        return replace(restrictions, refused_tools=(*restrictions.refused_tools, tool))
    said = "\n".join((error.message[:_LONGEST_READ], *error.codes))
    if (messages := _learnt_about_messages(said, sent_fields, restrictions)) is not None:
        return messages
    sent = (field for field in _REFUSALS if _was_sent(field, request, restrictions))
    field = next((field for field in sent if re.search(_REFUSALS[field], said)), None)
    asked = accepted(request, restrictions).params.effort
    if field == "tools_with_effort" and asked:
        return None  # The user wants both, and has to choose.
    efforts = tuple(each for each in _efforts_in(said, restrictions) if each != asked)
    if field == "effort" and efforts:
        return replace(restrictions, efforts=efforts)
    return replace(restrictions, refused=restrictions.refused | {field}) if field else None


def _refused_tool(
    error: ProviderError, request: Request, restrictions: Restrictions
) -> RefusedTool | None:
    """Return the tool that a refusal names, if it was sent."""
    if not request.tools or "tools" in restrictions.refused:
        return None
    return refused_tool(error, request, restrictions.wire, restrictions.refused_tools)


def with_taken_fields(items: list[Json], restrictions: Restrictions) -> list[Json]:
    """Return an encoded message without the fields that the server refuses, and with those that it requires."""
    omitted, required = restrictions.omitted_fields, restrictions.required_fields
    if restrictions.separates_results:
        items = [*_with_answers_between(items)]
    if omitted:
        items = [_without_fields(item, omitted) for item in items]
    if not required:
        return items
    return [
        {**item, **{name: EMPTY_FIELDS[name] for name in required if name not in item}}
        if item.get("role") == "assistant"
        else item
        for item in items
    ]


def _with_answers_between(items: Iterable[Json]) -> Iterator[Json]:
    """Yield encoded messages with an empty answer between a tool result and a message of the user."""
    before = ""
    for item in items:
        role = item.get("role", "")
        if (before, role) == ("tool", "user"):
            yield {"role": "assistant", "content": ""}
        before = role
        yield item


_USER_AFTER_RESULT = r"(?i)\brole\W*user\b.{0,20}\bafter\b.{0,20}\btool\b"
"""The words for a message of the user that may not follow a result: of Mistral."""


def fields_of(value: Json) -> set[str]:
    """Return the names of the fields of an encoded message, at any depth."""
    if isinstance(value, list):
        return {name for each in value for name in fields_of(each)}
    if not isinstance(value, dict):
        return set()
    inner = (fields_of(each) for name, each in value.items() if name not in _USER_DATA)
    return set(value).union(*inner)


def _without_fields(value: Json, names: Collection[str]) -> Json:
    if isinstance(value, list):
        return [_without_fields(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: each if name in _USER_DATA else _without_fields(each, names)
        for name, each in value.items()
        if name not in names
    }


_USER_DATA = frozenset({"input", "args", "arguments", "response"})
"""The fields that hold arguments and results of tools, whose fields are no fields of the wire."""

_ESSENTIAL = frozenset(
    {
        *("role", "content", "type", "text", "parts", "name", "function", "output", "summary"),
        *("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "tool_calls"),
        *("functionCall", "functionResponse", "toolUse", "toolResult", "source", "data"),
        *("signature", "thinking", "encrypted_content", "redactedContent", "reasoningContent"),
        *("thoughtSignature", "image", "image_url", "images", "inlineData", *_USER_DATA),
    }
)
"""The fields without which a message means something else, or nothing."""


def _learnt_about_messages(
    said: str, sent_fields: Callable[[], Collection[str]], restrictions: Restrictions
) -> Restrictions | None:
    """Return the restrictions with another way to write messages."""
    if not restrictions.separates_results and re.search(_USER_AFTER_RESULT, said):
        return replace(restrictions, separates_results=True)
    return _learnt_fields(said, sent_fields, restrictions)


def _learnt_fields(
    said: str, sent_fields: Callable[[], Collection[str]], restrictions: Restrictions
) -> Restrictions | None:
    """Return the restrictions with a field of messages that the server requires, or fields that it refuses."""
    required = restrictions.required_fields
    missing = {
        name
        for name in EMPTY_FIELDS
        if name not in restrictions.omitted_fields | required
        and re.search(_MISSING.format(name=name), said)
    }
    if missing:
        return replace(restrictions, required_fields=required | missing)
    if not re.search(_UNKNOWN_FIELD, said):
        return None
    essential = _ESSENTIAL if WIRES[restrictions.wire].has_call_ids else _ESSENTIAL - {"id"}
    refused = {
        name
        for name in required.union(sent_fields()) - essential - restrictions.omitted_fields
        if re.search(_named(name), said)
    }
    if not refused:
        return None
    return replace(
        restrictions,
        omitted_fields=restrictions.omitted_fields | refused,
        required_fields=required - refused,
    )


_MISSING = (
    r"(?is)\b{name}\b.*(must be passed back|\bmissing\b|\brequired\b)"
    r"|\b(missing|requires)\b.*\b{name}\b"
)
"""The words for a field that each assistant message must have: of DeepSeek, Kimi, SiliconFlow, FastAPI."""

_UNKNOWN_FIELD = (
    r"(?i)extra (inputs|fields)|extra_forbidden|extraneous|additional propert|unsupported|n[o']t support"
    r"|not (permitted|allowed|recognized|defined)|unexpected|unrecognized|forbidden|cannot find field"
    r"|(unknown|invalid) (name|field|parameter|argument|property|properties|key)"
)
"""The words for a field that a server does not know: of Groq, Mistral, Anthropic, OpenAI, Google, Bedrock."""


def _named(name: str) -> str:
    """Return a pattern of a field's name in an error: a part of a path or in quotes, unless it can be no word."""
    end = r"(?![\w-])"
    if "_" in name or name != name.lower():
        return rf"(?<![\w-]){name}{end}"
    kind = "(field|property|parameter|key)"
    return rf"[\"'`.\[/(]{name}{end}|\b{name} {kind}\b|\b{kind} {name}{end}"


def _efforts_in(said: str, restrictions: Restrictions) -> Collection[str]:
    """Return the efforts that a refusal lists, the lowest first. Of two refusals the second takes one away."""
    if restrictions.efforts:
        return restrictions.efforts
    levels = WIRES[restrictions.wire].efforts
    if levels and re.search(_REFUSED_LEVEL, said):
        return levels
    listed = re.split(r"(?i)supported values|one of|expected|choose from", said, maxsplit=1)[-1]
    return [each for each in EFFORTS if re.search(rf"\b{each}\b", listed)]


_REFUSED_LEVEL = r"(?:\b|THINKING_LEVEL_)(?:MINIMAL|LOW|MEDIUM|HIGH|XHIGH)\b"
"""Google's refusals name a level and list no others."""


_REFUSING = (400, 422)

PICTURE_CODES = frozenset(
    {
        *("invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url"),
        *("invalid_image_mode", "image_too_large", "image_too_small", "image_parse_error"),
        *("image_content_policy_violation", "image_file_too_large", "unsupported_image_media_type"),
        *("empty_image_file", "failed_to_download_image", "image_file_not_found"),
    }
)
"""OpenAI's error codes about one picture of a request (`ResponseError.code`). The model may read others."""

_ONE_PICTURE = "uploaded an unsupported image"
"""What OpenAI says of a picture in a format that it does not read."""

_IN_A_STREAM = 0
"""The status of an error that a server reports in an answer of status 200."""

_REFUSALS: dict[Field, str] = {
    "max_tokens": "max_completion_tokens",
    **{spec.name: spec.refusal for spec in PARAMS if spec.refusal},
    "tools": "does not support tools",
    "budget": r"(?i)(thinking\.type\.enabled.?|thinking budget) is not supported",
    "think": "does not support thinking",
    "images": (
        r"(?is)(image|vision|multimodal).*(not support|unsupported|not allowed|not enabled|only text)"
        r"|(not support|unsupported).*(image|vision|multimodal)"
        r"|unknown variant .?image_url|image_url is only supported"
    ),
    "tools_with_effort": "(?i)tools with reasoning_effort are not supported",
    "summary": r"(?i)reasoning.?summar",
    "effort": r"(?i)\b(reasoning[._])?effort\b|\bthinking[ _]?level",
    "include": r"(?im)encrypted content is not supported|^include\b",
    "prompt_cache_key": "prompt_cache_key",
    "cache_control": "(?i)cache_control|cache ?point|prompt caching",
    "stream_options": "stream_options",
    "response_format": "(?i)format|schema|output_config|mime type",
}
"""Patterns, which are compiled when a server has refused something."""


def _was_sent(field: Field, request: Request, restrictions: Restrictions) -> bool:
    if field in restrictions.refused:
        return False
    wanted, params = request.response_format, request.params
    effort = accepted(request, restrictions).params.effort
    own_fields = WIRES[restrictions.wire].own_fields
    sent: dict[Field, bool] = {
        **_asked(request),
        "max_tokens": bool(request.max_tokens) and not restrictions.current,
        "tools": bool(request.tools),
        "budget": bool(effort) or params.thinking_budget is not None,
        "think": bool(effort),
        "images": _has_images(request),
        "tools_with_effort": bool(request.tools),
        "effort": bool(effort),
        "summary": bool(effort) and field in own_fields,
        "include": field in own_fields,
        "prompt_cache_key": field in own_fields,
        "response_format": wanted is not None and wanted.optional,
        "cache_control": caches(request, restrictions),
        "stream_options": True,
    }
    return sent[field]


def _asked(request: Request) -> dict[Field, bool]:
    """Return for each parameter that may be left out whether an agent sets it."""
    return {spec.name: is_set(request, spec.name) for spec in PARAMS if spec.refusal}


def is_set(request: Request, name: str) -> bool:
    """Return whether an agent sets a parameter of `PARAMS`."""
    return bool(param_value(request, name) != getattr(_UNSET, name))


def param_value(request: Request, name: str) -> Any:
    """Return the value of a parameter of `PARAMS`."""
    return request.temperature if name == "temperature" else getattr(request.params, name)


def window_told(error: ProviderError, request: Request, size: int) -> int | None:
    """Return the tokens of a model's context window, after an error that says a request of `size` is too long.

    Most name the number. The others say no more than that it is below `size`; 0 is not known. The size
    of pictures is not, so nothing is learnt from a request that has some.
    """
    if error.category != "context_overflow" or error.status not in (*_REFUSING, _IN_A_STREAM):
        return None
    found = re.search(_WINDOW, error.message)
    if found is not None:
        return int(next(filter(None, found.groups())).replace(",", ""))
    is_by_bytes = not _TOO_MANY_BYTES.isdisjoint(error.codes)
    return size if size and not (is_by_bytes or _has_images(request)) else None


_TOO_MANY_BYTES = frozenset({"413", "request_too_large"})
"""The codes of a body that is too large, whatever its tokens are."""


_WINDOW = (
    r"(?i)maximum (?:context|prompt|model) length (?:is|of) ([\d,]*\d)"  # OpenAI, vLLM, OpenRouter, xAI
    r"|context length of only ([\d,]*\d)|context length \(([\d,]*\d)"  # LM Studio, Together
    r"|model token limit: ([\d,]*\d)"  # Kimi
    r"|with ([\d,]*\d) maximum context length"  # Mistral
    r"|> ([\d,]*\d)"  # Anthropic: 208310 tokens > 200000 maximum, 199211 + 20000 > 200000
    r"|maximum number of tokens allowed \(?([\d,]*\d)"  # Gemini
    r"|available context size \(([\d,]*\d)"  # llama.cpp
)
"""A pattern, which is compiled when a server has refused something."""


def left_out(request: Request, restrictions: Restrictions) -> list[str]:
    """Return the notes for the user about a request."""
    model, wanted, params = request.model, request.response_format, request.params
    asked: dict[Field, bool] = {
        **_asked(request),
        "response_format": wanted is not None and not wanted.otherwise,
        "effort": bool(params.effort),
    }
    told = [*_without_field(params, restrictions)]
    told += [
        f"the model {model} refuses params.{field}, so it is left out"
        for field, is_asked in asked.items()
        if is_asked and field in restrictions.refused
    ]
    if "tools" in restrictions.refused and request.tools:
        told.append(f"the model {model} does not support tools, so it is offered none")
    if "think" in restrictions.refused and params.effort:
        told.append(f"the model {model} does not think, so params.effort is left out")
    if "images" in restrictions.refused and _has_images(request):
        told.append(f"the model {model} takes no pictures, so they are left out")
    effort = accepted(request, restrictions).params.effort
    if effort and effort != request.params.effort:
        told.append(
            f"the model {model} refuses the effort {request.params.effort}, so it is asked for {effort}"
        )
    if "tools_with_effort" in restrictions.refused and request.tools:
        told.append(
            f"the model {model} takes tools on /v1/chat/completions only with the effort none, "
            f"so it does not reason; {WIRE_ADVICE.format(provider=restrictions.provider)}"
        )
    least = WIRES[restrictions.wire].least_output
    if 0 < request.max_tokens < least:
        told.append(
            f"params.max_tokens is {request.max_tokens}, and {least} is asked for, "
            "the lowest number that the API takes"
        )
    return told


def _without_field(params: Params, restrictions: Restrictions) -> Iterator[str]:
    """Yield a warning for each parameter that has no field on this wire."""
    provider = PROVIDERS.get(restrictions.provider)
    sent = WIRES[restrictions.wire].params | (provider.params if provider else frozenset())
    for name in Params.__struct_fields__:
        if name not in sent and getattr(params, name) != getattr(_UNSET, name):
            yield f"params.{name} is not sent: {restrictions.provider} has no such parameter"


_UNSET = Params()


WIRE_ADVICE = (
    'wire = "openai-responses" in [providers.{provider}] of config.toml asks /v1/responses'
)
"""How to come to the Responses API."""


def told_of(request: Request, response: Response, traits: WireTraits) -> list[str]:
    """Return the notes for the user about an answer."""
    window = request.params.num_ctx if "num_ctx" in traits.params else None
    if window is None or response.input_tokens < window - 1:
        return []
    return [
        f"the prompt fills the context window of {window} tokens (params.num_ctx): "
        "the provider has probably cut it without a word"
    ]
