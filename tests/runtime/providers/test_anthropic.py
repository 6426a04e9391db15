"""Anthropic's wire format."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import (
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolParameter,
    ToolResult,
)
from axe_lsp.runtime.providers.wires import anthropic
from support.answers import Call, Says
from support.bodies import encode
from support.engines import agent, bench
from support.scripted_provider import ScriptedProvider

ASK = Message("user", "ask")
TOOL = Tool(
    "call_agent",
    "Delegate.",
    {
        "agent": ToolParameter("string", "Who", required=True),
        "context": ToolParameter("string", ""),
    },
)


def test_known_models_may_say_more_than_axe_lets_them() -> None:
    known = Request("claude-haiku-4-5", (ASK,))
    assert encode(anthropic, known, stream=False)["max_tokens"] == 16384
    own = Request("claude-haiku-4-5", (ASK,), max_tokens=7)
    assert encode(anthropic, own, stream=False)["max_tokens"] == 7


@pytest.mark.req("001-2.3", "001-1.8", "001-T2", "001-5.1a")
def test_a_request_holds_what_is_set_and_nothing_else() -> None:
    assert encode(anthropic, Request("m", (ASK,)), stream=False) == {
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "ask"}],
    }
    full = Request("m", (ASK,), system="s", temperature=0.0, max_tokens=7)
    assert encode(anthropic, full, stream=True) == {
        "model": "m",
        "max_tokens": 7,
        "system": "s",
        "temperature": 0.0,
        "stream": True,
        "messages": [{"role": "user", "content": "ask"}],
    }


@pytest.mark.req("001-2.1", "001-2.2", "001-T2")
def test_tools_are_offered_with_an_input_schema() -> None:
    body = encode(anthropic, Request("m", (ASK,), tools=(TOOL,)), stream=False)
    assert body["tools"] == [
        {
            "name": "call_agent",
            "description": "Delegate.",
            "input_schema": {
                "type": "object",
                "properties": {
                    "agent": {"type": "string", "description": "Who"},
                    "context": {"type": "string", "description": ""},
                },
                "required": ["agent"],
            },
        }
    ]


@pytest.mark.req("001-2.6", "001-T2")
def test_all_results_go_back_in_one_message_even_empty_ones() -> None:
    results = (ToolResult("1", ""), ToolResult("2", "bad", is_error=True))
    body = encode(anthropic, Request("m", (Message("tool", tool_results=results),)), stream=False)
    assert body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "", "is_error": False},
                {"type": "tool_result", "tool_use_id": "2", "content": "bad", "is_error": True},
            ],
        }
    ]


@pytest.mark.req("001-2.7", "001-T2", "001-5.1f")
@pytest.mark.parametrize("text", ["", "thinking"])
def test_calls_are_echoed_after_the_text_if_there_is_any(text: str) -> None:
    message = Message("assistant", text, tool_calls=(ToolCall("1", "t", {}),))
    (echoed,) = encode(anthropic, Request("m", (message,)), stream=False)["messages"]
    use = {"type": "tool_use", "id": "1", "name": "t", "input": {}}
    assert echoed["content"] == ([{"type": "text", "text": text}] if text else []) + [use]


@pytest.mark.req("001-2.4", "001-2.5", "001-1.9", "001-T2")
def test_an_answer_with_text_and_calls() -> None:
    response = anthropic.decode(
        {
            "model": "served",
            "content": [
                {"type": "thinking", "thinking": "hmm"},
                {"type": "text", "text": "one "},
                {"type": "tool_use", "id": "1", "name": "t", "input": {"n": 5}},
                {"type": "text", "text": "two"},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "output_tokens": 4},
        }
    )
    assert response.content == "one two"
    assert response.tool_calls == (ToolCall("1", "t", {"n": 5}),)
    assert response.tool_calls[0].argument("n") == "5"
    assert (response.model, response.stop_reason) == ("served", "tool_use")
    assert (response.input_tokens, response.output_tokens) == (3, 4)


@pytest.mark.req("001-2.5", "001-5.6g", "001-5.1e", "001-T2")
def test_an_answer_may_be_empty() -> None:
    assert anthropic.decode({"content": []}).content == ""
    only_call = {"content": [{"type": "tool_use", "id": "1", "name": "t"}]}
    assert anthropic.decode(only_call).content == ""
    assert anthropic.decode(only_call).tool_calls == (ToolCall("1", "t", {}),)


def test_a_block_may_begin_with_text() -> None:
    stream = anthropic.stream_decoder()
    events = [
        '{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}}',
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "b"}}',
        '{"type": "message_stop"}',
    ]
    heard = ""
    for event in events:
        stream.feed(f"data: {event}".encode())
        heard += stream.feed(b"").text
    assert heard == stream.finish().content == "ab"


def test_an_error_in_place_of_an_answer_is_an_error() -> None:
    error = {"type": "api_error", "message": "Internal server error"}
    with pytest.raises(ProviderError, match="server: Internal server error"):
        anthropic.decode({"type": "error", "error": error})


def test_what_later_events_leave_open_stays_as_it_was() -> None:
    answer = streamed(
        '{"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 7}}}',
        '{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}',
        '{"type": "message_delta", "delta": {"stop_reason": null}, '
        '"usage": {"input_tokens": null, "output_tokens": 3}}',
    )
    assert (answer.input_tokens, answer.output_tokens, answer.stop_reason) == (7, 3, "end_turn")


def test_a_call_that_is_cut_off_in_the_middle_has_no_arguments() -> None:
    answer = streamed(
        '{"type": "content_block_start", "index": 0, '
        '"content_block": {"type": "tool_use", "id": "1", "name": "t", "input": {}}}',
        '{"type": "content_block_delta", "index": 0, '
        '"delta": {"type": "input_json_delta", "partial_json": "{\\"task\\": \\"do"}}',
        '{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}}',
    )
    assert answer.tool_calls == (ToolCall("1", "t", {}, is_broken=True),)
    assert answer.stop_reason == "max_tokens"


def streamed(*events: str) -> Response:
    stream = anthropic.stream_decoder()
    for event in (*events, '{"type": "message_stop"}'):
        stream.feed(f"data: {event}".encode())
        stream.feed(b"")
    return stream.finish()


@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_gets_its_thoughts_back_with_the_results(
    provider: ScriptedProvider, tmp_path: Path, stream: bool
) -> None:
    """As it wants to since models think without having been asked to."""
    look = Call("list_directory", {"path": "."}, "a")
    provider.script("m-solo", Says("", [look], thinking="Let me look."), Says("done"))
    agents = agent("solo", "anthropic", tools=["list_directory"])
    async with bench(provider, tmp_path, agents, streams=lambda _: stream) as runtime:
        assert (await runtime.run("solo")).content == "done"
        assert "Let me look." not in repr(runtime.events)
    _, assistant, _ = provider.requests[1].body["messages"]
    assert assistant == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Let me look.", "signature": "of Let me look."},
            {"type": "tool_use", "id": "a", "name": "list_directory", "input": {"path": "."}},
        ],
    }


def test_thoughts_that_are_hidden_are_kept_in_order_and_empty_text_is_not() -> None:
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    text = {"type": "text", "text": "hm"}
    call = {"type": "tool_use", "id": "1", "name": "t", "input": {"n": 1}}
    blocks = [text, hidden, {"type": "text", "text": ""}, call]
    response = anthropic.decode({"content": blocks})
    assert response.original == [text, hidden, call]
    assert (response.content, response.tool_calls) == ("hm", (ToolCall("1", "t", {"n": 1}),))


def test_an_answer_without_thoughts_is_put_into_our_own_words() -> None:
    blocks = [{"type": "text", "text": "hm", "citations": None}]
    assert anthropic.decode({"content": blocks}).original is None


def test_a_stand_in_may_write_arguments_as_text_and_numbers_with_a_point() -> None:
    block = {"type": "tool_use", "id": "a", "name": "t", "input": '{"n": 1}'}
    usage = {"input_tokens": 12.0, "output_tokens": 3}
    answer = anthropic.decode({"content": [block], "stop_reason": "tool_use", "usage": usage})
    assert answer.tool_calls == (ToolCall("a", "t", {"n": 1}),)
    assert answer.input_tokens == 12


def test_arguments_that_came_as_text_go_back_as_an_object() -> None:
    """The blocks of a model that has thought go back as they came, and Anthropic takes no text there."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    block = {"type": "tool_use", "id": "a", "name": "t", "input": '{"n": 1}'}
    answer = anthropic.decode({"content": [thought, block], "stop_reason": "tool_use"})
    assert answer.original == [thought, {**block, "input": {"n": 1}}]
    broken = anthropic.decode({"content": [thought, {**block, "input": "{"}]})
    assert broken.original == [thought, {**block, "input": {}}]
