"""OpenAI's wire format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import (
    Delta,
    Image,
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolParameter,
    ToolResult,
)
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wire import WireError
from axe_lsp.runtime.providers.wires import openai_chat as openai
from support.bodies import encode
from support.engines import agent, bench
from support.scripted_provider import Raw, Says, ScriptedProvider

ASK = Message("user", "ask")
TOOL = Tool("call_agent", "Delegate.", {"agent": ToolParameter("string", "Who", required=True)})


def answer(**message: object) -> dict[str, object]:
    return {"choices": [{"message": message, "finish_reason": "tool_calls"}]}


@pytest.mark.req("001-3.2", "001-1.8", "001-T2", "001-5.1b")
def test_a_request_holds_what_is_set_and_nothing_else() -> None:
    assert encode(openai, Request("m", (ASK,)), stream=False) == {
        "model": "m",
        "messages": [{"role": "user", "content": "ask"}],
    }
    full = Request("m", (ASK,), system="s", temperature=0.5, max_tokens=7)
    assert encode(openai, full, stream=True) == {
        "model": "m",
        "temperature": 0.5,
        "max_tokens": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "ask"}],
    }


@pytest.mark.req("001-3.1", "001-T2")
def test_tools_are_offered_as_functions() -> None:
    body = encode(openai, Request("m", (ASK,), tools=(TOOL,)), stream=False)
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "call_agent",
                "description": "Delegate.",
                "parameters": {
                    "type": "object",
                    "properties": {"agent": {"type": "string", "description": "Who"}},
                    "required": ["agent"],
                },
            },
        }
    ]


@pytest.mark.req("001-3.6", "001-T2")
def test_each_result_is_a_message_of_its_own_in_order() -> None:
    results = (ToolResult("2", "b"), ToolResult("1", ""))
    body = encode(openai, Request("m", (Message("tool", tool_results=results),)), stream=False)
    assert body["messages"] == [
        {"role": "tool", "tool_call_id": "2", "content": "b"},
        {"role": "tool", "tool_call_id": "1", "content": ""},
    ]


@pytest.mark.req("001-3.7", "001-T2")
@pytest.mark.parametrize(("text", "sent"), [("", None), ("thinking", "thinking")])
def test_calls_are_echoed_with_arguments_as_json_text(text: str, sent: str | None) -> None:
    message = Message("assistant", text, tool_calls=(ToolCall("1", "t", {"a": "é"}),))
    (echoed,) = encode(openai, Request("m", (message,)), stream=False)["messages"]
    assert echoed["role"] == "assistant"
    assert echoed["content"] == sent
    (call,) = echoed["tool_calls"]
    assert (call["id"], call["type"], call["function"]["name"]) == ("1", "function", "t")
    assert json.loads(call["function"]["arguments"]) == {"a": "é"}


@pytest.mark.req("001-3.3", "001-3.5", "001-1.9", "001-T2", "001-5.1e")
def test_an_answer_with_calls_and_no_text() -> None:
    function = {"name": "t", "arguments": '{"n": 5, "flag": true}'}
    response = openai.decode(answer(content=None, tool_calls=[{"id": "1", "function": function}]))
    assert response.content == ""
    assert response.tool_calls == (ToolCall("1", "t", {"n": 5, "flag": True}),)
    assert response.tool_calls[0].argument("flag") == "true"
    assert response.stop_reason == "tool_calls"


@pytest.mark.req("001-3.4", "001-T2")
@pytest.mark.parametrize("arguments", ["{bad", "", '"text"', "[1]", "{} {}", '{"a": NaN}', None])
def test_arguments_that_are_no_json_object_are_none(arguments: str | None) -> None:
    function = {"name": "call_agent", "arguments": arguments}
    response = openai.decode(answer(tool_calls=[{"id": "1", "function": function}]))
    broken = bool(arguments)
    assert response.tool_calls == (ToolCall("1", "call_agent", {}, is_broken=broken),)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"choices": []}, "response contains no choices"),
        ({}, "response contains no choices"),
        ({"error": {"message": "model overloaded"}}, "model overloaded"),
    ],
)
def test_an_answer_without_choices_is_an_error(body: object, message: str) -> None:
    with pytest.raises(ProviderError) as caught:
        openai.decode(body)
    assert (caught.value.category, caught.value.message) == ("server", message)


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    stream = openai.stream_decoder()
    for name in ("one", "two"):
        call = {"id": name, "function": {"name": name, "arguments": '{"a"'}}
        rest = {"function": {"arguments": ": 1}"}}
        for part in (call, rest):
            chunk = {"choices": [{"delta": {"tool_calls": [part]}}]}
            stream.feed(f"data: {json.dumps(chunk)}".encode())
            stream.feed(b"")
    stream.feed(b"data: [DONE]")
    stream.feed(b"")
    assert stream.finish().tool_calls == (
        ToolCall("one", "one", {"a": 1}),
        ToolCall("two", "two", {"a": 1}),
    )


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    """As those of Google's service for OpenAI's clients."""
    stream = openai.stream_decoder()
    for name in ("one", "two"):
        function = {"name": name, "arguments": '{"a": 1}'}
        call = {"index": 0, "id": name, "function": function}
        stream.feed(
            f"data: {json.dumps({'choices': [{'delta': {'tool_calls': [call]}}]})}".encode()
        )
        stream.feed(b"")
    stream.feed(b"data: [DONE]")
    stream.feed(b"")
    assert [call.id for call in stream.finish().tool_calls] == ["one", "two"]
    assert [call.arguments for call in stream.finish().tool_calls] == [{"a": 1}] * 2


def test_a_refusal_is_the_answer() -> None:
    refusal = {"content": None, "refusal": "I can't help with that."}
    assert openai.decode(answer(**refusal)).content == "I can't help with that."
    stream = openai.stream_decoder()
    heard = ""
    for delta in ({"refusal": "I can't "}, {"content": None, "refusal": "help."}):
        stream.feed(f"data: {json.dumps({'choices': [{'delta': delta}]})}".encode())
        heard += stream.feed(b"").text
    stream.feed(b"data: [DONE]")
    stream.feed(b"")
    assert heard == stream.finish().content == "I can't help."


def test_a_stream_without_its_end_mark_is_whole_once_it_gave_a_reason() -> None:
    stream = openai.stream_decoder()
    stream.feed(b'data: {"choices":[{"delta":{"content":"hi"}}]}')
    stream.feed(b"")
    with pytest.raises(WireError, match="ended before the answer was complete"):
        stream.finish()
    stream.feed(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}')
    stream.feed(b"")
    assert stream.finish().content == "hi"


def test_an_error_in_the_stream_is_an_error() -> None:
    stream = openai.stream_decoder()
    stream.feed(b'data: {"error":{"message":"out of capacity"}}')
    with pytest.raises(ProviderError, match="server: out of capacity"):
        stream.feed(b"")


THOUGHT = {"reasoning_content": "Let me look."}


@pytest.mark.parametrize("stream", [False, True])
async def test_a_stand_in_gets_its_thoughts_back_with_the_results(
    provider: ScriptedProvider, tmp_path: Path, stream: bool
) -> None:
    """As DeepSeek demands. OpenAI itself tells none."""
    call = {
        "index": 0,
        "id": "a",
        "type": "function",
        "function": {"name": "list_directory", "arguments": '{"path": "."}'},
    }
    said = {"role": "assistant", "content": None, **THOUGHT, "tool_calls": [call]}
    if stream:
        deltas = [{"reasoning_content": "Let me "}, {"reasoning_content": "look."}, said | NONE]
        events = [{"choices": [{"delta": delta}]} for delta in deltas]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        first = Raw(body.encode(), headers={"Content-Type": "text/event-stream"})
    else:
        first = Raw(json.dumps(answer(**said)).encode())
    provider.script("m-solo", first, Says("done"))
    agents = agent("solo", tools=["list_directory"])
    async with bench(provider, tmp_path, agents, streams=lambda _: stream) as runtime:
        assert (await runtime.run("solo")).content == "done"
        assert "Let me look." not in repr(runtime.events)
    _, assistant, _ = provider.requests[1].body["messages"]
    assert assistant["reasoning_content"] == "Let me look."


NONE = {"reasoning_content": None}


def test_who_tells_no_thoughts_gets_none_back() -> None:
    assert openai.decode(answer(content="hi")).original is None
    message = Message("assistant", "hm", (ToolCall("1", "t"),))
    (echoed,) = encode(openai, Request("m", (message,)))["messages"]
    assert set(echoed) == {"role", "content", "tool_calls"}


SIGNED = {"google": {"thought_signature": "secret"}}
DETAILS = [
    {"type": "reasoning.text", "text": "Let me look.", "signature": "s", "index": 0},
    {"type": "reasoning.encrypted", "data": "xyz", "id": None, "index": 1},
]


def called(id_: str = "a", arguments: object = "{}", **more: object) -> dict[str, object]:
    function = {"name": "find", "arguments": arguments}
    return {"id": id_, "type": "function", "function": function, **more}


def sent_back(response: Response) -> dict[str, object]:
    """Return what an answer with calls becomes in the next request."""
    said = Message("assistant", response.content, response.tool_calls, original=response.original)
    (message,) = encode(openai, Request("m", (said,)))["messages"]
    assert isinstance(message, dict)
    return message


def streamed(*deltas: object, finish: str = "tool_calls") -> tuple[Response, list[Delta]]:
    stream = openai.stream_decoder()
    choices = [{"delta": delta} for delta in deltas] + [{"delta": {}, "finish_reason": finish}]
    shown = []
    for choice in choices:
        stream.feed(f"data: {json.dumps({'choices': [choice]})}".encode())
        shown.append(stream.feed(b""))
    return stream.finish(), shown


@pytest.mark.parametrize(
    "said",
    [
        {"tool_calls": [called(extra_content=SIGNED), called("b")]},
        {"reasoning": "Let me look.", "reasoning_details": DETAILS, "tool_calls": [called()]},
        {"reasoning_content": "Let me look.", "tool_calls": [called()]},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Let me look."}]},
                {"type": "text", "text": "hm"},
            ],
            "tool_calls": [called()],
        },
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_a_provider_signs_goes_back_as_it_came(said: dict[str, Any], stream: bool) -> None:
    response = streamed({"role": "assistant", "content": ""}, said)[0]
    if not stream:
        response = openai.decode(answer(**{"content": None, "refusal": None, **said}))
    expected = {"role": "assistant", "content": None, **said}
    assert sent_back(response) == expected
    thoughts = "Let me look." if "Let me look." in str(said) else ""
    assert response.thoughts == thoughts


def test_pieces_of_reasoning_details_are_put_together_by_their_index() -> None:
    pieces = [
        [{"type": "reasoning.text", "text": "Let me ", "signature": None, "index": 0}],
        [{"type": "reasoning.text", "text": "look.", "signature": "s", "index": 0}],
        [{"type": "reasoning.encrypted", "data": "xyz", "id": None, "index": 1}],
    ]
    deltas = [{"reasoning_details": piece} for piece in pieces]
    found, _ = streamed(*deltas, {"tool_calls": [called()]})
    assert sent_back(found)["reasoning_details"] == DETAILS


def test_reasoning_details_of_two_calls_stay_apart_although_they_have_one_index() -> None:
    """The id is that of the call that a piece belongs to, as OpenRouter writes Gemini's signatures."""
    encrypted = {"type": "reasoning.encrypted", "index": 0}
    pieces = [{**encrypted, "data": data, "id": id_} for id_, data in (("a", "x"), ("b", "y"))]
    deltas = [{"reasoning_details": [piece]} for piece in pieces]
    found, _ = streamed(*deltas, {"tool_calls": [called("a"), called("b")]})
    assert sent_back(found)["reasoning_details"] == pieces


def test_reasoning_details_may_have_any_ids() -> None:
    piece = {"type": "reasoning.text", "index": 0, "text": "a", "id": ["x"]}
    pieces = [piece, piece, {**piece, "id": {"y": 1}}]
    deltas = [{"reasoning_details": [each]} for each in pieces]
    found, _ = streamed(*deltas, {"tool_calls": [called()]})
    assert sent_back(found)["reasoning_details"] == [{**piece, "text": "aa"}, pieces[2]]


def test_thoughts_are_shown_as_they_come_and_text_in_parts_is_read() -> None:
    parts = [
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Well."}]}],
        [{"type": "text", "text": "So"}],
        [{"type": "text", "text": " on"}],
    ]
    found, shown = streamed(*[{"content": part} for part in parts], finish="stop")
    assert shown[:3] == [Delta("", "Well."), Delta("So"), Delta(" on")]
    assert (found.content, found.thoughts) == ("So on", "Well.")


@pytest.mark.parametrize(
    ("reason", "incomplete"),
    [
        ("stop", None),
        ("tool_calls", None),
        ("eos", None),
        ("max_tokens", None),
        ("length", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
    ],
)
def test_the_wire_s_own_word_says_whether_an_answer_is_whole(
    reason: str, incomplete: str | None
) -> None:
    body = {"choices": [{"message": {"content": "hm"}, "finish_reason": reason}]}
    assert openai.decode(body).incomplete == incomplete
    assert streamed({"content": "hm"}, finish=reason)[0].incomplete == incomplete


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_is_no_whole_answer(stream: bool) -> None:
    refusal = {"content": None, "refusal": "No."}
    found = streamed(refusal, finish="stop")[0] if stream else openai.decode(answer(**refusal))
    assert (found.content, found.incomplete) == ("No.", "refusal")


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        (
            {"finish_reason": "error", "error": {"code": 502, "message": "gone"}},
            "server: gone",
        ),
        (
            {"finish_reason": "error", "error": {"code": 429, "message": "slow"}},
            "rate_limit: slow",
        ),
        ({"finish_reason": "error"}, "server: the provider ended the answer with an error"),
        (
            {"finish_reason": "insufficient_system_resource"},
            "overloaded: insufficient_system_resource",
        ),
    ],
)
def test_an_error_within_a_choice_is_an_error(choice: dict[str, object], text: str) -> None:
    with pytest.raises(ProviderError) as caught:
        openai.decode({"choices": [{"message": {"content": "so far"}, **choice}]})
    assert str(caught.value) == text
    stream = openai.stream_decoder()
    stream.feed(f"data: {json.dumps({'choices': [{'delta': {}, **choice}]})}".encode())
    with pytest.raises(ProviderError) as caught:
        stream.feed(b"")
    assert str(caught.value) == text


def test_arguments_as_an_object_are_read_and_empty_ids_replaced() -> None:
    said = {"tool_calls": [called("", {"n": 1}), called("", {"n": 2})]}
    whole = openai.decode({"id": "r1", **answer(**said)})
    found, _ = streamed(
        {"tool_calls": [called("", {"n": 1})]}, {"tool_calls": [called("", {"n": 2})]}
    )
    for response in (whole, found):
        first, second = response.tool_calls
        assert (first.arguments, second.arguments) == ({"n": 1}, {"n": 2})
        assert first.id
        assert first.id != second.id
        echoed = sent_back(response)["tool_calls"]
        assert isinstance(echoed, list)
        assert [call["id"] for call in echoed] == [first.id, second.id]


def test_what_openrouter_says_of_the_cost_is_believed() -> None:
    body = {**answer(content="hm"), "usage": {"prompt_tokens": 1, "cost": 0.0025}}
    assert openai.decode(body).cost == 0.0025
    assert openai.decode(answer(content="hm")).cost is None


def test_effort_and_sampling_are_sent_as_each_service_wants_them() -> None:
    params = Params(effort="low", thinking_budget=2048, top_p=0.5, seed=7, stop=("END",))
    request = Request("m", (ASK,), params=params)
    sampling = {"top_p": 0.5, "seed": 7, "stop": ["END"]}
    here = encode(openai, request)
    assert here.items() >= {"reasoning_effort": "low", **sampling}.items()
    assert "reasoning" not in here
    there = encode(openai, request, restrictions=Restrictions(provider="openrouter"))
    assert there["reasoning"] == {"max_tokens": 2048}
    assert "reasoning_effort" not in there


def test_pictures_are_parts_of_messages_of_the_user() -> None:
    picture = Image("image/png", "aGk=")
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    user = Message("user", "what?", images=(picture,))
    results = Message("tool", tool_results=(ToolResult("a", "seen", images=(picture,)),))
    first, tool, after = encode(openai, Request("m", (user, results)))["messages"]
    assert first["content"] == [{"type": "text", "text": "what?"}, part]
    assert tool == {"role": "tool", "tool_call_id": "a", "content": "seen"}
    assert after["role"] == "user"
    assert after["content"][1:] == [part]
