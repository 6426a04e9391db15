"""Bedrock's wire format."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import (
    Image,
    Message,
    Request,
    Response,
    ResponseFormat,
    Tool,
    ToolCall,
    ToolParameter,
    ToolResult,
)
from axe_lsp.runtime.providers.failures import refusal
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wire import WireError
from axe_lsp.runtime.providers.wires import bedrock
from support.answers import aws_event
from support.bodies import encode

CLAUDE = "us.anthropic.claude-opus-5-v1:0"
OLD_CLAUDE = "anthropic.claude-sonnet-4-20250514-v1:0"
ASK = Message("user", "ask")
CALL = ToolCall("1", "t", {"a": 1})
TOOL = Tool("t", "Does it.", {"a": ToolParameter("integer", "What")})
POINT = {"cachePoint": {"type": "default"}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Let me think.", "signature": "s"}}}
HIDDEN = {"reasoningContent": {"redactedContent": "QUJD"}}
USE = {"toolUse": {"toolUseId": "1", "name": "t", "input": {"a": 1}}}


def answer(*blocks: dict[str, Any], reason: str = "end_turn", **usage: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(blocks)}
    return {"output": {"message": message}, "stopReason": reason, "usage": usage}


def streamed(*events: tuple[str, Any]) -> Response:
    decoder = bedrock.stream_decoder()
    data = b"".join(aws_event(name, payload) for name, payload in events)
    for place in range(len(data)):
        decoder.feed(data[place : place + 1])
    return decoder.finish()


def params(model: str, *, max_tokens: int = 0, **more: Any) -> dict[str, Any]:
    request = Request(model, (ASK,), temperature=0.5, max_tokens=max_tokens, params=Params(**more))
    body = encode(bedrock, request)
    del body["messages"]
    return body


@pytest.mark.parametrize(
    ("model", "stream", "path"),
    [
        (CLAUDE, False, "model/us.anthropic.claude-opus-5-v1%3A0/converse"),
        ("a.b", True, "model/a.b/converse-stream"),
        ("arn:aws:x/y", False, "model/arn%3Aaws%3Ax%2Fy/converse"),
    ],
)
def test_the_path_holds_the_model_with_nothing_left_as_it_is(
    model: str, stream: bool, path: str
) -> None:
    assert bedrock.path(model, stream) == path


def test_a_request_holds_what_is_set_and_nothing_else() -> None:
    messages = [{"role": "user", "content": [{"text": "ask"}]}]
    assert encode(bedrock, Request("m", (ASK,))) == {"messages": messages}
    wanted = ResponseFormat("json_schema", {"type": "object"}, "it")
    full = Request("m", (ASK,), "s", 0.0, 7, (TOOL,), wanted, Params(top_p=0.5, stop=("a",)))
    assert encode(bedrock, full) == {
        "system": [{"text": "s"}],
        "inferenceConfig": {
            "maxTokens": 7,
            "temperature": 0.0,
            "topP": 0.5,
            "stopSequences": ["a"],
        },
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "t",
                        "description": "Does it.",
                        "inputSchema": {
                            "json": {
                                "type": "object",
                                "properties": {"a": {"type": "integer", "description": "What"}},
                                "required": [],
                            }
                        },
                    }
                }
            ]
        },
        "outputConfig": {
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"name": "it", "schema": '{"type":"object"}'}},
            }
        },
        "messages": messages,
    }


def test_claude_thinks_as_it_does_at_its_makers() -> None:
    sampling = {"inferenceConfig": {"temperature": 0.5}}
    assert params(CLAUDE, effort="minimal") == {
        **sampling,
        "outputConfig": {"effort": "low"},
        "additionalModelRequestFields": {"thinking": {"type": "adaptive", "display": "summarized"}},
    }
    assert params(CLAUDE, effort="none") == {
        **sampling,
        "additionalModelRequestFields": {"thinking": {"type": "disabled"}},
    }
    assert params(OLD_CLAUDE, thinking_budget=2000, max_tokens=1000) == {
        "inferenceConfig": {"maxTokens": 3000},  # And no temperature, which would be refused.
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2000}},
    }
    assert params("openai.gpt-oss-120b", effort="high") == {
        **sampling,
        "outputConfig": {"effort": "high"},
    }


def test_what_is_worth_caching_is_marked() -> None:
    request = Request(CLAUDE, (ASK,), "s", tools=(TOOL,))
    body = encode(bedrock, request, restrictions=Restrictions(current=True))
    places = body["system"], body["toolConfig"]["tools"], body["messages"][0]["content"]
    assert [place[-1] for place in places] == [POINT] * 3
    nova = encode(
        bedrock,
        Request("nova", (ASK,), "s", tools=(TOOL,)),
        restrictions=Restrictions(current=True),
    )
    assert POINT not in nova["toolConfig"]["tools"]
    assert POINT in nova["system"]
    refused = Restrictions(current=True, refused=frozenset({"cache_control"}))
    assert "cachePoint" not in str(encode(bedrock, request, restrictions=refused))


def test_blocks_go_back_as_they_came_and_results_in_the_next_message() -> None:
    response = bedrock.decode(answer(THOUGHT, HIDDEN, {"text": " "}, USE, reason="tool_use"))
    assert (response.thoughts, response.tool_calls) == ("Let me think.", (CALL,))
    results = (ToolResult("1", "r"), ToolResult("2", " ", is_error=True))
    history = (
        ASK,
        Message("assistant", " ", response.tool_calls, original=response.original),
        Message("tool", tool_results=results),
    )
    _, echoed, answered = encode(bedrock, Request("m", history, tools=(TOOL,)))["messages"]
    assert echoed == {"role": "assistant", "content": [THOUGHT, HIDDEN, USE]}
    first = {"toolUseId": "1", "content": [{"text": "r"}], "status": "success"}
    second = {"toolUseId": "2", "content": [{"text": "(empty)"}], "status": "error"}
    content = [{"toolResult": first}, {"toolResult": second}]
    assert answered == {"role": "user", "content": content}


def test_calls_in_the_history_need_tools() -> None:
    history = (
        ASK,
        Message("assistant", "", (CALL, CALL)),
        Message("tool", tool_results=(ToolResult("1", "r"), ToolResult("1", "r"))),
    )
    (tool,) = encode(bedrock, Request("m", history))["toolConfig"]["tools"]
    assert tool["toolSpec"]["name"] == "t"
    assert "description" not in tool["toolSpec"]


def test_no_text_is_blank_and_no_message_empty() -> None:
    history = (Message("user", "\n"), Message("assistant", ""), ASK)
    contents = [each["content"] for each in encode(bedrock, Request("m", history, " "))["messages"]]
    assert contents == [[{"text": "(empty)"}], [{"text": "(empty)"}], [{"text": "ask"}]]


def test_pictures_are_blocks() -> None:
    picture = Image("image/jpeg", "QUJD")
    block = {"image": {"format": "jpeg", "source": {"bytes": "QUJD"}}}
    results = (ToolResult("1", "seen", images=(picture,)),)
    history = (Message("user", "look", images=(picture,)), Message("tool", tool_results=results))
    asked, answered = encode(bedrock, Request("m", history))["messages"]
    assert asked["content"] == [block, {"text": "look"}]
    assert answered["content"][0]["toolResult"]["content"] == [{"text": "seen"}, block]


@pytest.mark.parametrize(
    ("reason", "why", "detail"),
    [
        ("end_turn", None, ""),
        ("stop_sequence", None, ""),
        ("max_tokens", "length", ""),
        ("model_context_window_exceeded", "context_window", ""),
        ("content_filtered", "content_filter", "content_filtered"),
        ("guardrail_intervened", "content_filter", "guardrail_intervened"),
        ("malformed_tool_use", "malformed_call", "malformed_tool_use"),
        ("malformed_model_output", "malformed_call", "malformed_model_output"),
    ],
)
def test_a_stop_reason_says_why_an_answer_is_not_whole(
    reason: str, why: str | None, detail: str
) -> None:
    response = bedrock.decode(answer({"text": "x"}, reason=reason))
    assert (response.incomplete, response.incomplete_detail) == (why, detail)
    assert response.stop_reason == reason


def test_what_went_through_the_cache_is_input() -> None:
    usage = {"cacheReadInputTokens": 40, "cacheWriteInputTokens": 10}
    response = bedrock.decode(answer({"text": "x"}, inputTokens=50, outputTokens=5, **usage))
    assert (response.input_tokens, response.output_tokens) == (100, 5)
    assert (response.cache_read_tokens, response.cache_write_tokens) == (40, 10)


def test_a_stream_is_put_together_from_single_bytes() -> None:
    def delta(index: int, piece: dict[str, Any]) -> tuple[str, Any]:
        return "contentBlockDelta", {"contentBlockIndex": index, "delta": piece}

    start = {"toolUse": {"toolUseId": "1", "name": "t"}}
    response = streamed(
        ("messageStart", {"role": "assistant"}),
        delta(0, {"reasoningContent": {"text": "Let me "}}),
        delta(0, {"reasoningContent": {"text": "think."}}),
        delta(0, {"reasoningContent": {"signature": "s"}}),
        delta(1, {"reasoningContent": {"redactedContent": "QUJD"}}),
        delta(2, {"text": "So: "}),
        delta(2, {"text": "é"}),
        ("contentBlockStart", {"contentBlockIndex": 3, "start": start}),
        delta(3, {"toolUse": {"input": '{"a"'}}),
        delta(3, {"toolUse": {"input": ":1}"}}),
        ("contentBlockStart", {"contentBlockIndex": 4, "start": {"image": {"format": "png"}}}),
        ("brandNew", {"contentBlockIndex": 9}),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": {"inputTokens": 3, "outputTokens": 4}}),
    )
    whole = answer(
        THOUGHT, HIDDEN, {"text": "So: é"}, USE, reason="tool_use", inputTokens=3, outputTokens=4
    )
    assert response == replace(bedrock.decode(whole), unread="a picture")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("throttlingException", "rate_limit: Too many"),
        ("serviceUnavailableException", "overloaded: Too many"),
        ("internalServerException", "server: Too many"),
        ("modelStreamErrorException", "server: Too many"),
        ("validationException", "bad_request: Too many"),
    ],
)
def test_an_exception_in_a_stream_has_its_kind(name: str, told: str) -> None:
    frame = aws_event(name, {"message": "Too many"}, "exception")
    with pytest.raises(ProviderError) as caught:
        bedrock.stream_decoder().feed(frame)
    assert str(caught.value) == told


def test_a_prompt_that_is_too_long_is_told_in_a_stream_as_well() -> None:
    frame = aws_event("validationException", {"message": "Input is too long"}, "exception")
    with pytest.raises(ProviderError, match="context_overflow: Input is too long"):
        bedrock.stream_decoder().feed(frame)


@pytest.mark.parametrize(
    ("status", "name", "told"),
    [
        (429, "ThrottlingException", "rate_limit: no"),
        (429, "ModelNotReadyException", "rate_limit: no"),
        (503, "ServiceUnavailableException", "overloaded: no"),
        (408, "ModelTimeoutException", "server: no"),
        (424, "ModelErrorException", "server: no"),
        (403, "AccessDeniedException", "auth: no"),
        (400, "ExpiredTokenException", "auth: no"),
        (400, "ValidationException", "bad_request: no"),
        (404, "ResourceNotFoundException:http://x", "bad_request: no"),
        (400, "ServiceQuotaExceededException", "quota: no"),
    ],
)
@pytest.mark.parametrize("field", ["message", "Message"])
def test_a_refusal_has_its_kind_from_its_name(
    status: int, name: str, told: str, field: str
) -> None:
    body = json.dumps({field: "no"}).encode()
    assert str(refusal(status, body, headers={"x-amzn-errortype": name})) == told


def test_a_damaged_stream_is_noticed_at_once() -> None:
    frame = aws_event("messageStop", {"stopReason": "end_turn"})
    for place in range(len(frame)):
        spoiled = bytearray(frame)
        spoiled[place] ^= 0x10
        with pytest.raises(WireError):
            bedrock.stream_decoder().feed(bytes(spoiled))


def test_headers_of_other_types_are_skipped() -> None:

    flag = b"\x01f\x00" + b"\x01n\x04" + struct.pack(">i", 7) + b"\x01b\x06\x00\x02xy"
    name = b"\x0b:event-type\x07\x00\x0bmessageStop"
    headers, payload = flag + name, b'{"stopReason":"end_turn"}'
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    data = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + payload
    decoder = bedrock.stream_decoder()
    decoder.feed(data + struct.pack(">I", zlib.crc32(data)))
    assert decoder.finish().stop_reason == "end_turn"


@pytest.mark.parametrize("body", [None, {}, {"output": {}}])
def test_no_message_is_an_error(body: object) -> None:
    with pytest.raises(ProviderError, match="server: response contains no message"):
        bedrock.decode(body)
