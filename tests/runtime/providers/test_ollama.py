"""Ollama's wire format."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import (
    Message,
    Request,
    Tool,
    ToolCall,
    ToolParameter,
    ToolResult,
)
from axe_lsp.runtime.providers.wires import ollama
from axe_lsp.runtime.providers.wires import openai_chat as openai
from support.bodies import encode

ASK = Message("user", "ask")
TOOL = Tool("call_agent", "Delegate.", {"agent": ToolParameter("string", "Who", required=True)})


@pytest.mark.req("001-4.2", "001-1.8", "001-T2")
def test_a_request_holds_what_is_set_and_nothing_else() -> None:
    assert encode(ollama, Request("m", (ASK,)), stream=False) == {
        "model": "m",
        "stream": False,
        "messages": [{"role": "user", "content": "ask"}],
    }
    full = Request("m", (ASK,), system="s", temperature=0.0, max_tokens=7)
    assert encode(ollama, full, stream=True) == {
        "model": "m",
        "stream": True,
        "options": {"temperature": 0.0, "num_predict": 7},
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "ask"}],
    }


@pytest.mark.req("001-4.1", "001-T2")
def test_tools_are_offered_as_openai_has_them() -> None:
    request = Request("m", (ASK,), tools=(TOOL,))
    tools = encode(ollama, request, stream=False)["tools"]
    assert tools == encode(openai, request, stream=False)["tools"]


@pytest.mark.req("001-4.4", "001-T2")
def test_each_result_is_a_message_without_an_id() -> None:
    results = (ToolResult("ollama_0", "a"), ToolResult("ollama_1", "b"))
    body = encode(ollama, Request("m", (Message("tool", tool_results=results),)), stream=False)
    assert body["messages"] == [
        {"role": "tool", "content": "a"},
        {"role": "tool", "content": "b"},
    ]


@pytest.mark.req("001-4.5")
def test_calls_are_echoed_with_arguments_as_an_object() -> None:
    message = Message("assistant", tool_calls=(ToolCall("ollama_0", "t", {"a": 1}),))
    (echoed,) = encode(ollama, Request("m", (message,)), stream=False)["messages"]
    assert echoed == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "t", "arguments": {"a": 1}}}],
    }


@pytest.mark.req("001-4.3", "001-T2")
def test_calls_get_ids_by_their_place_in_the_answer() -> None:
    calls = [{"function": {"name": name, "arguments": {"n": 1}}} for name in ("a", "b")]
    response = ollama.decode({"message": {"content": "", "tool_calls": calls}})
    assert response.tool_calls == (
        ToolCall("ollama_0", "a", {"n": 1}),
        ToolCall("ollama_1", "b", {"n": 1}),
    )


@pytest.mark.req("001-4.6", "001-T2", "001-N5")
def test_a_model_that_ignores_tools_answers_with_text() -> None:
    response = ollama.decode({"model": "m", "message": {"content": "just text"}})
    assert response.content == "just text"
    assert response.tool_calls == ()


@pytest.mark.req("001-5.6g")
def test_an_answer_may_be_empty() -> None:
    assert ollama.decode({"message": {"content": ""}, "done_reason": "stop"}).content == ""


def test_an_error_in_place_of_an_answer_is_an_error() -> None:
    with pytest.raises(ProviderError, match="server: model crashed"):
        ollama.decode({"error": "model crashed"})


def test_an_error_in_the_stream_is_an_error() -> None:
    with pytest.raises(ProviderError, match="server: model crashed"):
        ollama.stream_decoder().feed(b'{"error":"model crashed"}')
