"""What errors of providers mean: by their status, by their body, within an answer."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.failures import refusal, reported

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=timezone.utc)


def refused(status: int, error: Any, **headers: str) -> ProviderError:
    """Return the refusal of a service; `_` in the name of a header stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return refusal(status, json.dumps({"error": error}).encode(), "", named, NOW)


@pytest.mark.req("001-5.7d", "001-5.7e")
@pytest.mark.parametrize(
    ("status", "category", "exit_code"),
    [
        (400, "bad_request", 1),
        (404, "bad_request", 1),
        (405, "bad_request", 1),
        (422, "bad_request", 1),
        (413, "context_overflow", 1),
        (401, "auth", 3),
        (403, "auth", 3),
        (402, "quota", 3),
        (429, "rate_limit", 3),
        (529, "overloaded", 3),
        (500, "server", 3),
        (503, "server", 3),
        (408, "server", 3),
        (418, "server", 3),
        (409, "server", 3),
        (302, "server", 3),
    ],
)
def test_a_status_has_a_category_and_an_exit_code(
    status: int, category: str, exit_code: int
) -> None:
    error = refusal(status, b'{"error": {"message": "why"}}')
    assert (error.category, error.exit_code) == (category, exit_code)
    assert str(error) == f"{category}: why"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "slow down", "code": 429}}', "slow down"),
        (b'{"error": {"message": "slow down", "code": null}}', "slow down"),
        (b'{"error": "plain string"}', "plain string"),
        (b'{"error": {"message": 5}}', "Internal Server Error"),
        (b'{"error": null}', "Internal Server Error"),
        (b'[{"error": {"message": "in a list"}}]', "in a list"),
        (b'{"message": "as Bedrock has it"}', "as Bedrock has it"),
        (b'{"detail": "as FastAPI has it"}', "as FastAPI has it"),
        (
            b'{"object": "error", "message": {"detail": [{"type": "extra_forbidden", "input": 7,'
            b' "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}, {"msg": "So"}]}}',
            "seed: Extra inputs are not permitted; So",
        ),
        (b'{"errors": [{"code": 7003, "message": "No route"}]}', "No route"),
        (b'{"message": ' + b"[" * 300 + b'"x"' + b"]" * 300 + b"}", "Internal Server Error"),
        (b"[]", "Internal Server Error"),
        (b"<html>", "Internal Server Error"),
        (b"", "Internal Server Error"),
    ],
)
def test_the_message_of_a_refusal_is_the_providers_or_the_status(body: bytes, message: str) -> None:
    assert refusal(500, body).message == message


def test_a_status_without_a_name_is_a_number() -> None:
    assert refusal(529, b"").message == "HTTP status 529"


@pytest.mark.parametrize(
    ("status", "error", "category"),
    [
        (429, {"message": "no", "code": "insufficient_quota"}, "quota"),
        (429, {"message": "no", "type": "insufficient_quota"}, "quota"),
        (400, {"message": "Your credit balance is too low to access the API."}, "quota"),
        (429, {"message": "no", "code": "billing_hard_limit_reached"}, "quota"),
        (400, {"message": "no", "code": "context_length_exceeded"}, "context_overflow"),
        (400, {"message": "prompt is too long: 210000 tokens > 200000"}, "context_overflow"),
        (400, "This model's maximum context length is 8192 tokens.", "context_overflow"),
        (400, {"message": "no", "type": "exceed_context_size_error"}, "context_overflow"),
        (400, {"message": "Input is too long for requested model."}, "context_overflow"),
        (413, {"message": "no", "type": "request_too_large"}, "context_overflow"),
        (400, "Your input exceeds the context window of this model.", "context_overflow"),
        (400, "the request exceeds the available context size.", "context_overflow"),
        (
            400,
            "The decoder prompt (length 9) is longer than the maximum model length of 8.",
            "context_overflow",
        ),
        (400, "Please reduce the length of the messages or completion.", "context_overflow"),
        (400, "invalid params, context window exceeds limit", "context_overflow"),
        (400, "prompt too long; exceeded max context length by 9 tokens", "context_overflow"),
        (400, {"message": "no", "type": "too_many_prompt_tokens"}, "context_overflow"),
        (400, "The total length of all messages is too long.", "context_overflow"),
        (
            400,
            "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
            "context_overflow",
        ),
        (
            429,
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30001.",
            "context_overflow",
        ),
        (
            429,
            "Rate limit reached for gpt-4o: Limit 30000, Used 29000, Requested 2000.",
            "rate_limit",
        ),
        (429, "Too many tokens, please wait before trying again.", "rate_limit"),
        (400, "Incorrect API key provided.", "auth"),
        (400, {"message": "Invalid API key"}, "auth"),
        (429, "Your team has either used all available credits or reached its limit.", "quota"),
        (
            429,
            {
                "type": "rate_limit_error",
                "message": "no",
                "details": {"error_code": "enforced_spend_limit_reached"},
            },
            "quota",
        ),
        (429, {"message": "no", "error_code": "contract_spend_limit_reached"}, "quota"),
        (429, {"message": "no", "details": {"error_code": "ramp_limit_exceeded"}}, "rate_limit"),
        (400, {"message": "no", "details": [{"reason": "API_KEY_INVALID"}]}, "auth"),
        (
            429,
            {"message": "no", "details": [{"violations": 2}, {"violations": True}]},
            "rate_limit",
        ),
        (
            429,
            {"message": "no", "details": {"violations": [3, {"code": "spend_limit_reached"}]}},
            "quota",
        ),
        (503, {"message": "no", "code": 503, "status": "UNAVAILABLE"}, "overloaded"),
        (503, {"message": "Service temporarily unavailable"}, "server"),
        (503, "server busy, please try again", "overloaded"),
        (403, {"message": "no", "metadata": {"reasons": ["violence"]}}, "bad_request"),
        # Too general to say more than the status does.
        (401, {"message": "no", "type": "invalid_request_error"}, "auth"),
        (429, {"message": "no", "type": "api_error"}, "rate_limit"),
        (500, {"message": "no", "type": "not_found_error", "code": "429"}, "server"),
    ],
)
def test_what_the_body_says_decides_before_the_status(
    status: int, error: Any, category: str
) -> None:
    assert refused(status, error).category == category


def test_the_quota_of_a_day_is_none_that_passes() -> None:
    quota = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
    details = [{"violations": [{"quotaId": quota}]}, {"retryDelay": "40s"}]
    error = {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED", "details": details}
    assert (refused(429, error).category, refused(429, error).may_pass) == ("quota", False)
    details[0] = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]}
    assert (refused(429, error).category, refused(429, error).retry_after) == ("rate_limit", 40)


def test_bedrock_says_the_kind_in_a_header() -> None:
    kind = "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/"
    error = refusal(400, b'{"message": "Too many requests"}', "", {"x-amzn-errortype": kind})
    assert str(error) == "rate_limit: Too many requests"
    assert error.may_pass


def test_openrouter_names_the_moment_at_which_a_limit_is_reset() -> None:
    moment = NOW
    told = {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0"}

    def wait(reset: object, **more: str) -> float | None:
        headers = {**told, "X-RateLimit-Reset": reset, **more}
        error = {"code": 429, "message": "Rate limit exceeded", "metadata": {"headers": headers}}
        return refusal(429, json.dumps({"error": error}).encode(), now=moment).retry_after

    milliseconds = str(round(moment.timestamp() * 1000) + 7_000)
    assert wait(milliseconds) == 7
    assert wait(milliseconds, **{"X-RateLimit-Remaining": "3"}) is None
    assert wait("60") is None
    assert wait([1]) is None


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_a_filtered_prompt_is_told_to_be_one(code: str) -> None:
    error = refused(400, {"message": "Bad prompt.", "code": code})
    assert str(error) == "bad_request: Bad prompt. (the prompt was filtered)"
    assert not error.may_pass
    told = refused(400, {"message": "The prompt was filtered.", "code": code})
    assert told.message == "The prompt was filtered."


def test_what_the_service_behind_openrouter_has_said_is_shown() -> None:
    raw = json.dumps({"error": {"message": "prompt is too long: 9 > 8"}})
    error = refused(400, {"message": "Provider returned error", "metadata": {"raw": raw}})
    assert error.message == "Provider returned error: prompt is too long: 9 > 8"
    assert error.category == "context_overflow"
    plain = refused(502, {"message": "Provider returned error", "metadata": {"raw": "upstream"}})
    assert plain.message == "Provider returned error: upstream"


@pytest.mark.parametrize(
    ("status", "headers", "may_pass"),
    [
        *((status, {}, True) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
        *((status, {}, False) for status in (302, 400, 401, 402, 403, 404, 405, 413, 418, 422)),
        (402, {"retry_after": "3"}, True),
        (400, {"x_should_retry": "true"}, True),
        (429, {"x_should_retry": "false", "retry_after": "3"}, False),
        (500, {"x_should_retry": "maybe"}, True),
        (413, {"x_should_retry": "true"}, False),
    ],
)
def test_which_requests_may_be_sent_again(
    status: int, headers: dict[str, str], may_pass: bool
) -> None:
    assert refused(status, "no", **headers).may_pass == may_pass


def test_a_refusal_knows_the_wait_that_it_asks_for() -> None:
    assert refused(503, "no", retry_after="Sat, 21 Nov 2026 12:00:30 GMT").retry_after == 30
    assert refused(429, "no", x_ratelimit_reset_tokens="6m0s").retry_after == 360
    assert refused(500, "no", x_ratelimit_reset_tokens="6m0s").retry_after is None


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"type": "overloaded_error", "message": "m"}}, "overloaded: m"),
        ({"error": {"type": "rate_limit_error", "message": "m"}}, "rate_limit: m"),
        ({"error": {"type": "invalid_request_error", "message": "m"}}, "bad_request: m"),
        ({"error": {"type": "api_error", "message": "m"}}, "server: m"),
        ({"error": {"code": 429, "message": "m"}}, "rate_limit: m"),
        ({"error": {"code": 502, "message": "m"}}, "server: m"),
        ({"error": {"code": 502}}, "server: error 502"),
        ([{"error": {"status": "RESOURCE_EXHAUSTED", "message": "m"}}], "rate_limit: m"),
        ({"error": "plain"}, "server: plain"),
        ({"error": ["one", "two"]}, "server: one; two"),
        (
            {"object": "error", "message": "m", "type": "BadRequestError", "code": 400},
            "bad_request: m",
        ),
    ],
)
def test_an_answer_may_hold_an_error(body: Any, text: str) -> None:
    error = reported(body)
    assert error is not None
    assert str(error) == text


@pytest.mark.parametrize("body", [{}, {"error": None}, {"message": {"content": "x"}}, [], None, 5])
def test_an_answer_without_one_holds_none(body: Any) -> None:
    assert reported(body) is None


def test_refusal_reads_code_beside_the_message_of_xai() -> None:
    body = json.dumps({"code": "invalid-argument", "error": "Unknown field."}).encode()
    error = refusal(400, body)
    assert (str(error), error.codes[0]) == ("bad_request: Unknown field.", "invalid-argument")


def test_refusal_reads_error_in_an_event_of_a_stream() -> None:
    body = b'event: error\r\ndata: {"error": {"type": "overloaded_error", "message": "m"}}\r\n\r\n'
    assert str(refusal(500, body)) == "overloaded: m"


GARBLED_CALLS = [
    {"message": "no", "code": "tool_use_failed", "failed_generation": "{"},
    {"message": "no", "code": "output_parse_failed"},
    "Failed to call a function. Please adjust your prompt.",
    "Failed to generate tool_calls. Please adjust your prompt.",
    "error parsing tool call: raw='{\"path\"', err=unexpected end of JSON input",
    "XML syntax error on line 12: element <function> closed by </parameter>",
    "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]",
    "Failed to parse input at pos 131: <tool_call>",
    'unexpected tokens remaining in message header: Some("to=functions.find")',
]


@pytest.mark.parametrize("error", GARBLED_CALLS)
def test_error_about_a_call_that_the_service_cannot_read_is_a_garbled_call(error: Any) -> None:
    assert refused(500, error).is_garbled_call
    in_stream = reported({"error": error})
    assert in_stream is not None
    assert in_stream.is_garbled_call
    assert in_stream.reworded("other words").is_garbled_call


@pytest.mark.parametrize("error", ["tools are not supported", {"message": "no", "code": "boom"}])
def test_other_errors_are_no_garbled_calls(error: Any) -> None:
    assert not refused(400, error).is_garbled_call
