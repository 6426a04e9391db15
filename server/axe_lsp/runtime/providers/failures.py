"""The meaning of a provider's error: its kind, its message, and whether to send the request again.

The same for all wire formats, since services answer with each other's errors: proxies pass them on,
and a compatible server has words of its own. What the body says decides before the HTTP status.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timezone
from itertools import chain

from msgspec import Struct

from axe_lsp.runtime.errors import PASSING, ProviderError, ProviderErrorCategory
from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.providers.restrictions import PICTURE_CODES
from axe_lsp.runtime.providers.retry_after import told_wait
from axe_lsp.runtime.providers.wire import WireError, parse_json

WRONG_PLACE = "(check the base URL)"
"""What is said of a 404 without a message. The address before it may hold the name of the model."""

_PAYMENT_REQUIRED = 402

_BY_STATUS: Mapping[int, ProviderErrorCategory] = {
    400: "bad_request",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "bad_request",
    405: "bad_request",
    413: "context_overflow",
    422: "bad_request",
    429: "rate_limit",
    529: "overloaded",
}
"""Every other status is of the kind "server"."""

_PASSING_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""The same request may not meet them again. All others will be the same the next time."""

_FILTERED = r"(?i)content_filter|content_policy"

_BY_WORDS: tuple[tuple[str, ProviderErrorCategory], ...] = (
    (
        r"(?i)context_length_exceeded|prompt is too long|maximum (context|prompt|model) length"
        r"|exceed context limit|input is too long|maximum number of tokens allowed"
        r"|exceed_context_size_error|request_too_large|exceeds the context window"
        r"|exceeds the available context size"  # llama.cpp until 2025
        r"|(greater|longer) than the (model's )?context length|context length of only"  # LM Studio, Together
        r"|context window exceeds limit|exceeded model token limit"  # MiniMax, Kimi
        r"|reduce the length of the messages|exceeded (max )?context length"  # Groq, Ollama
        r"|too_many_prompt_tokens|total length of all messages is too long"  # Perplexity
        r"|input tokens exceeded|number of input tokens exceeds"  # Nova on Bedrock
        r"|prompt exceeds max(imum)? length|tokens_limit_reached|too many tokens: "  # Z.ai, GitHub, Cohere
        # A limit for each minute that the request alone is above, so that no wait helps (OpenAI, Groq).
        r"|request too large for .*\blimit \d+, (used \d+, )?requested \d+",
        "context_overflow",
    ),
    (
        r"(?i)incorrect api key|\binvalid[ _]api[ _]?key\b|api key not valid|invalid x-api-key",
        "auth",
    ),
    (
        r"(?i)insufficient_quota|billing_hard_limit_reached|credit balance is too low"
        r"|used all available credits"  # xAI
        r"|RequestsPerDay|TokensPerDay|spend_limit_reached|organization_billing_unavailable",
        "quota",
    ),
    (_FILTERED, "bad_request"),
    ("(?i)server busy", "overloaded"),
)
"""Words anywhere in an error that decide, whatever the status is."""

_GARBLED = (
    r"(?i)tool_use_failed|output_parse_failed|tool call validation failed|failed to call a function"  # Groq
    r"|failed to generate tool_calls"  # Cerebras
    r"|error parsing tool call|xml syntax error on line \d"  # Ollama
    r"|failed to parse tool call|failed to parse input at pos|does not match the expected \S+ format"  # llama.cpp
    r"|unexpected tokens remaining in message header"  # Harmony, in vLLM
    r"|malformed_function_call|malformed_tool_use"  # Google and Bedrock behind OpenRouter
)
"""Words of an error about a tool call that the service itself can't read. Asked again, the model may write another one."""

_BY_KIND: Mapping[str, ProviderErrorCategory] = {
    "API_KEY_INVALID": "auth",
    "UnrecognizedClientException": "auth",
    "ExpiredTokenException": "auth",
    "billing_error": "quota",
    "ServiceQuotaExceededException": "quota",
    "ThrottlingException": "rate_limit",
    "ModelNotReadyException": "rate_limit",
    "overloaded_error": "overloaded",
    "UNAVAILABLE": "overloaded",
    "ServiceUnavailableException": "overloaded",
    "insufficient_system_resource": "overloaded",
}
"""Codes and types that decide, whatever the status is."""

_WITHOUT_STATUS: Mapping[str, ProviderErrorCategory] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "PERMISSION_DENIED": "auth",
    "invalid_request_error": "bad_request",
    "invalid_prompt": "bad_request",
    "bio_policy": "bad_request",
    "misalignment_policy_violation": "bad_request",
    "data_residency_mismatch": "bad_request",
    **dict.fromkeys(PICTURE_CODES, "bad_request"),
    "not_found_error": "bad_request",
    "INVALID_ARGUMENT": "bad_request",
    "ValidationException": "bad_request",
    "AccessDeniedException": "auth",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "RESOURCE_EXHAUSTED": "rate_limit",
    # OpenRouter reports the status of the service behind it as the code.
    **{str(status): category for status, category in _BY_STATUS.items()},
}
"""Codes and types that are too general to overrule a status. They count where there is none."""


class _Fault(Struct, frozen=True):
    """The data in the body of an error. `kinds` are its code, type and similar members.

    `headers` are those of the service behind OpenRouter, with names in lower case.
    """

    message: str = ""
    kinds: tuple[str, ...] = ()
    details: Json = None
    is_moderated: bool = False
    headers: Mapping[str, str] = {}


def refusal(
    status: int,
    body: bytes,
    otherwise: str = "",
    headers: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> ProviderError:
    """Return the error that an HTTP status, which is no success, its headers and its body mean.

    `otherwise` is added if the body has no message. Names of `headers` are in lower case, or their
    case is ignored; `now` is the moment from which a date in them is counted.
    """
    headers = headers or {}
    fault = _fault_in(_json(body), refused=True)
    # Bedrock says the type in a header: `ThrottlingException:http://…`.
    kinds = (*fault.kinds, headers.get("x-amzn-errortype", "").partition(":")[0])
    category = _decided(fault, kinds) or _BY_STATUS.get(status, "server")
    usual = _status_text(status)
    message = usual + otherwise if fault.message in ("", usual) else fault.message
    wait = _wait(fault, message, category, headers, now)
    may_pass = _may_pass(status, category, headers, wait)
    return ProviderError(
        category,
        _explained(message, fault),
        status,
        wait,
        may_pass,
        codes=kinds,
        is_garbled_call=_is_garbled_call(fault.message, kinds),
    )


def reported(body: Json) -> ProviderError | None:
    """Return the error that an answer with a status of success holds, or an event of a stream; None if none."""
    is_error = (
        isinstance(body, dict) and body.get("object") == "error"
    )  # vLLM's, in no field of its own.
    if isinstance(body, dict) and body.get("error") is None and not is_error:
        return None  # At once: each piece of a stream is asked.
    fault = _fault_in(body, refused=is_error)
    if not (fault.message or fault.kinds):
        return None
    message = fault.message or f"error {fault.kinds[0]}"
    category = _decided(fault, fault.kinds) or _general(fault.kinds)
    wait = _wait(fault, message, category, {}, None)
    return ProviderError(
        category,
        _explained(message, fault),
        retry_after=wait,
        codes=fault.kinds,
        is_garbled_call=_is_garbled_call(message, fault.kinds),
    )


def raise_reported(body: Json) -> None:
    """Raise the error that a body holds, if it does."""
    failure = reported(body)
    if failure is not None:
        raise failure


def _may_pass(
    status: int, category: ProviderErrorCategory, headers: Mapping[str, str], wait: float | None
) -> bool:
    """Return whether the same request may be sent again. What the service itself says wins, but of one that is too large."""
    if category == "context_overflow":  # It would be too large again.
        return False
    told = headers.get("x-should-retry", "").strip().lower()
    if told in ("true", "false"):
        return told == "true"
    if status == _PAYMENT_REQUIRED:
        return wait is not None
    # What the body says may make a kind that passes of a status that never does.
    return category in PASSING and (status in _PASSING_STATUSES or category != "server")


def _wait(
    fault: _Fault,
    message: str,
    category: ProviderErrorCategory,
    headers: Mapping[str, str],
    now: datetime | None,
) -> float | None:
    now = now or datetime.now(timezone.utc)
    is_limited = category == "rate_limit"
    headers = {**fault.headers, **headers}
    return told_wait(headers, fault.details, message, now, is_limited=is_limited)


def _decided(fault: _Fault, kinds: Collection[str]) -> ProviderErrorCategory | None:
    """Return the kind of an error whose words say it without doubt."""
    if fault.is_moderated:
        return "bad_request"
    words = "\n".join((fault.message, *kinds))
    by_kind = (_BY_KIND[kind] for kind in kinds if kind in _BY_KIND)
    by_words = (category for pattern, category in _BY_WORDS if re.search(pattern, words))
    return next(chain(by_words, by_kind), None)


def _is_garbled_call(message: str, kinds: Collection[str]) -> bool:
    return bool(re.search(_GARBLED, "\n".join((message, *kinds))))


def _general(kinds: Collection[str]) -> ProviderErrorCategory:
    """Return the kind of an error that has no status."""
    known = (_WITHOUT_STATUS[kind] for kind in kinds if kind in _WITHOUT_STATUS)
    return next(known, "server")


def _explained(message: str, fault: _Fault) -> str:
    is_filtered = fault.is_moderated or any(re.search(_FILTERED, kind) for kind in fault.kinds)
    return (
        f"{message} (the prompt was filtered)"
        if is_filtered and "filter" not in message
        else message
    )


def _fault_in(body: Json, *, refused: bool = False) -> _Fault:
    """Return the error in a body, which Gemini's OpenAI endpoint puts into a list.

    Of a request that was `refused`, the body itself is the error where it has no field for it.
    """
    if isinstance(body, list):
        return _fault_in(body[0], refused=refused) if body else _fault_in(None)
    if not isinstance(body, dict):
        return _Fault()
    error = body.get("error")
    if error is None and refused:
        error = body
    if isinstance(error, str):  # xAI has the code beside it.
        return _Fault(error, kinds=tuple(_kinds(body)) if refused else ())
    if isinstance(error, list):  # Hugging Face
        return _Fault(_text_of(error))
    return _fault_of(error) if isinstance(error, dict) else _Fault()


def _fault_of(error: Mapping[str, Json]) -> _Fault:
    message = _text_of(error)
    metadata = error.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    raw = _raw_message(metadata.get("raw"))
    return _Fault(
        message=f"{message}: {raw}" if raw and message else message or raw,
        kinds=tuple(_kinds(error)),
        details=error.get("details"),
        is_moderated="reasons" in metadata,
        headers=_headers_in(metadata.get("headers")),
    )


_MESSAGES = ("message", "Message", "detail", "msg", "errors")
"""The members that hold the message of an error: AWS writes both of the first ones, FastAPI the third."""


def _text_of(value: Json, levels: int = 5) -> str:
    """Return the message in an error. Servers made with FastAPI, such as Mistral's, write a list of faults."""
    if isinstance(value, str) or not levels:
        return value if isinstance(value, str) else ""
    if isinstance(value, list):
        return "; ".join(filter(None, (_text_of(each, levels - 1) for each in value)))
    if not isinstance(value, dict):
        return ""
    texts = (_text_of(value.get(name), levels - 1) for name in _MESSAGES)
    text, place = next(filter(None, texts), ""), value.get("loc")
    where = ".".join(map(str, place[1:])) if isinstance(place, list) else ""
    return f"{where}: {text}" if where and text else text


def _kinds(error: Mapping[str, Json]) -> Iterator[str]:
    """Yield the words by which programs tell errors apart."""
    inner = error.get("innererror")
    places = [error, *([inner] if isinstance(inner, dict) else [])]
    details = error.get("details")
    # Google writes a list, Anthropic an object.
    for detail in details if isinstance(details, list) else [details]:
        if isinstance(detail, dict):
            violations = detail.get("violations")
            listed = violations if isinstance(violations, list) else ()
            places += [detail, *(each for each in listed if isinstance(each, dict))]
    for place in places:
        for key in ("code", "type", "status", "reason", "quotaId", "error_code", "__type", "param"):
            value = place.get(key)
            if isinstance(value, (str, int)):
                yield str(value)


def _headers_in(value: Json) -> Mapping[str, str]:
    table = value if isinstance(value, dict) else {}
    return {name.lower(): str(text) for name, text in table.items()}


def _raw_message(raw: Json) -> str:
    """Return the answer of the service behind OpenRouter: the message in it, or the text itself."""
    if not isinstance(raw, str):
        return ""
    return _fault_in(_json(raw.encode()), refused=True).message or raw.strip()


def _json(body: bytes) -> Json:
    """Return the JSON in the body of an error, also of one in an event of a stream that was requested."""
    lines = [line.strip() for line in body.splitlines()]
    event = b"".join(line[len(_DATA) :] for line in lines if line.startswith(_DATA))
    try:
        return parse_json(event or body)
    except WireError:
        return None


_DATA = b"data:"


def _status_text(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"HTTP status {status}"
