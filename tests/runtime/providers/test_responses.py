"""OpenAI's Responses API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import (
    Delta,
    Image,
    Message,
    Request,
    ResponseFormat,
    Tool,
    ToolCall,
    ToolParameter,
    ToolResult,
)
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wires import openai_responses as responses
from support.answers import Call, Says
from support.bodies import encode, messages_of
from support.engines import agent, bench
from support.scripted_provider import Raw, Refuses, ScriptedProvider

ASK = Message("user", "ask")
TOOL = Tool("find", "Find.", {"n": ToolParameter("integer", "How many")})
REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [
        {"type": "summary_text", "text": "Let me"},
        {"type": "summary_text", "text": "see"},
    ],
    "encrypted_content": "secret",
    "what_nobody_knows": {"a": 1},
}
TEXT = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "hm", "annotations": []}],
}


def call(id_: str, arguments: Any = '{"n": 1}', status: str = "completed") -> dict[str, Any]:
    return {
        "id": f"fc_{id_}",
        "type": "function_call",
        "status": status,
        "call_id": id_,
        "name": "find",
        "arguments": arguments,
    }


def answer(*items: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "resp_1", "status": "completed", "output": list(items), **fields}


def cut(reason: str, *items: Any) -> dict[str, Any]:
    return answer(*items, status="incomplete", incomplete_details={"reason": reason})


def events(*each: dict[str, Any]) -> list[Delta]:
    """Return what a decoder shows of these events, and then the answer."""
    decoder = responses.stream_decoder()
    shown = []
    for event in each:
        decoder.feed(f"data: {json.dumps(event)}".encode())
        shown.append(decoder.feed(b""))
    return [*(delta for delta in shown if delta != Delta()), decoder.finish()]  # type: ignore[list-item]


def test_a_request_holds_what_is_set_and_nothing_else() -> None:
    assert encode(responses, Request("m", (ASK,))) == {
        "model": "m",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"role": "user", "content": "ask"}],
    }
    full = Request(
        "m",
        (ASK,),
        system="s",
        temperature=0.5,
        max_tokens=99,
        tools=(TOOL,),
        params=Params(effort="high", top_p=0.5),
        session="run-1",
    )
    assert encode(responses, full, stream=True) == {
        "model": "m",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "s",
        "prompt_cache_key": "run-1",
        "temperature": 0.5,
        "top_p": 0.5,
        "max_output_tokens": 99,
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [
            {
                "type": "function",
                "name": "find",
                "description": "Find.",
                "parameters": {
                    "type": "object",
                    "properties": {"n": {"type": "integer", "description": "How many"}},
                    "required": [],
                },
                "strict": False,
            }
        ],
        "stream": True,
        "input": [{"role": "user", "content": "ask"}],
    }


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_schema_is_strict_only_if_the_service_takes_it_as_that(is_closed: bool) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    if is_closed:
        schema["additionalProperties"] = False
    request = Request("m", (ASK,), response_format=ResponseFormat("json_schema", schema, "r"))
    assert encode(responses, request)["text"] == {
        "format": {"type": "json_schema", "name": "r", "strict": is_closed, "schema": schema}
    }


def test_an_answer_goes_back_as_it_came_before_the_outputs_of_its_calls() -> None:
    items = [REASONING, TEXT, call("a"), call("b")]
    decoded = responses.decode(answer(*items))
    assert decoded.content == "hm"
    assert decoded.thoughts == "Let me\n\nsee"
    assert decoded.tool_calls == (ToolCall("a", "find", {"n": 1}), ToolCall("b", "find", {"n": 1}))
    said = Message("assistant", "hm", decoded.tool_calls, original=decoded.original)
    results = (ToolResult("a", "1"), ToolResult("b", "boom", is_error=True))
    request = Request("m", (ASK, said, Message("tool", tool_results=results)))
    assert encode(responses, request)["input"][1:] == [
        *items,
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "boom"},
    ]


def test_what_the_service_would_refuse_to_read_again_is_left_out() -> None:
    """A call without output, arguments that are no JSON, and reasoning that leads to nothing."""
    decoded = responses.decode(answer(REASONING, call("a", '{"n": 1'), REASONING, call("b")))
    first, _ = decoded.tool_calls
    assert first == ToolCall("a", "find", {}, is_broken=True)
    only = Message("assistant", tool_calls=(first,), original=decoded.original)
    assert encode(responses, Request("m", (ASK, only)))["input"][1:] == [
        REASONING,
        {**call("a"), "arguments": "{}"},
    ]
    lone = Message("assistant", "so", original=[REASONING])
    (sent,) = encode(responses, Request("m", (lone,)))["input"]
    assert sent == {"role": "assistant", "content": "so"}


def test_calls_of_another_wire_are_written_anew() -> None:
    said = Message("assistant", "hm", (ToolCall("a", "find", {"n": 1}),))
    text, made = encode(responses, Request("m", (ASK, said)))["input"][1:]
    assert text == {"role": "assistant", "content": "hm"}
    assert json.loads(made.pop("arguments")) == {"n": 1}
    assert made == {"type": "function_call", "call_id": "a", "name": "find"}


def test_calls_of_servers_that_are_not_exact_are_read() -> None:
    """An object for arguments, no id, and no status."""
    body = answer(call("", {"n": 1}), call("", ""))
    del body["status"]
    decoded = responses.decode(body)
    first, second = decoded.tool_calls
    assert (first.arguments, second.arguments) == ({"n": 1}, {})
    assert first.id
    assert first.id != second.id
    said = Message("assistant", tool_calls=decoded.tool_calls, original=decoded.original)
    sent = encode(responses, Request("m", (said,)))["input"]
    assert [each["call_id"] for each in sent] == [first.id, second.id]
    assert [json.loads(each["arguments"]) for each in sent] == [{"n": 1}, {}]


@pytest.mark.parametrize(
    ("body", "incomplete", "detail", "stop_reason"),
    [
        (answer(TEXT), None, "", "completed"),
        (cut("max_output_tokens", TEXT), "length", "", "max_output_tokens"),
        (cut("steered", TEXT), "length", "steered", "steered"),
        (cut("content_filter", TEXT), "content_filter", "", "content_filter"),
        (
            answer({**TEXT, "content": [{"type": "refusal", "refusal": "hm"}]}),
            "refusal",
            "",
            "completed",
        ),
    ],
)
def test_an_answer_that_is_not_whole_says_why(
    body: Any, incomplete: str | None, detail: str, stop_reason: str
) -> None:
    found = responses.decode(body)
    assert found.content == "hm"
    assert (found.incomplete, found.incomplete_detail) == (incomplete, detail)
    assert found.stop_reason == stop_reason


def test_a_call_that_was_cut_off_is_marked() -> None:
    body = cut("max_output_tokens", call("a"), call("b", "{}", "incomplete"))
    assert [each.is_broken for each in responses.decode(body).tool_calls] == [False, True]


@pytest.mark.parametrize(
    ("fields", "category", "may_pass"),
    [
        ({"error": {"code": "rate_limit_exceeded", "message": "boom"}}, "rate_limit", True),
        ({"error": {"code": "server_error", "message": "boom"}}, "server", True),
        ({"error": {"code": "vector_store_timeout", "message": "boom"}}, "server", True),
        ({"error": {"code": "invalid_prompt", "message": "boom"}}, "bad_request", False),
        ({"error": {"code": "bio_policy", "message": "boom"}}, "bad_request", False),
        ({"error": {"code": "image_parse_error", "message": "boom"}}, "bad_request", False),
        ({"error": None, "status": "cancelled"}, "server", True),
        ({"error": None, "output": None}, "server", True),
    ],
)
def test_a_failed_answer_is_an_error(fields: Any, category: str, may_pass: bool) -> None:
    with pytest.raises(ProviderError) as caught:
        responses.decode(answer(**{"status": "failed", **fields}))
    assert (caught.value.category, caught.value.may_pass) == (category, may_pass)


def test_usage_counts_the_cache_and_the_reasoning() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 20},
    }
    found = responses.decode(answer(TEXT, usage=usage))
    assert (found.input_tokens, found.output_tokens) == (100, 50)
    assert (found.cache_read_tokens, found.cache_write_tokens) == (60, 30)


def test_encrypted_reasoning_is_taken_from_the_end_of_its_item() -> None:
    unfinished = {**REASONING, "encrypted_content": "unfinished"}
    added = {"type": "response.output_item.added", "output_index": 0, "item": unfinished}
    done = {"type": "response.output_item.done", "output_index": 0, "item": REASONING}
    last = {"type": "response.completed", "response": answer(unfinished, TEXT)}
    *_, found = events(added, done, last)
    assert found == responses.decode(answer(REASONING, TEXT))


def test_items_that_the_last_event_leaves_out_are_those_that_came() -> None:
    done = [
        {"type": "response.output_item.done", "output_index": index, "item": item}
        for index, item in ((1, TEXT), (0, REASONING))
    ]
    *_, found = events(*done, {"type": "response.completed", "response": answer()})
    assert found == responses.decode(answer(REASONING, TEXT))


def test_text_that_comes_at_the_end_only_is_shown_then() -> None:
    last = {"type": "response.completed", "response": answer(TEXT)}
    shown, found = events(last)
    assert shown == Delta("hm")
    shown, rest, found = events({"type": "response.output_text.delta", "delta": "h"}, last)
    assert (shown, rest) == (Delta("h"), Delta("m"))
    assert found == responses.decode(answer(TEXT))


def test_thoughts_are_shown_in_paragraphs_and_are_no_answer() -> None:
    kind = "response.reasoning_summary_text.delta"
    pieces = [("Let ", 0), ("me", 0), ("see", 1)]
    deltas = [
        {"type": kind, "item_id": "rs_1", "summary_index": index, "delta": piece}
        for piece, index in pieces
    ]
    last = {"type": "response.completed", "response": answer(REASONING, TEXT)}
    *shown, found = events(*deltas, last)
    assert "".join(delta.thought for delta in shown) == found.thoughts == "Let me\n\nsee"  # type: ignore[attr-defined]
    assert "".join(delta.text for delta in shown) == "hm"


def test_a_refusal_is_shown_and_is_the_answer() -> None:
    refused = {**TEXT, "content": [{"type": "refusal", "refusal": "No."}]}
    *shown, found = events(
        {"type": "response.refusal.delta", "delta": "N"},
        {"type": "response.refusal.delta", "delta": "o."},
        {"type": "response.completed", "response": answer(refused)},
    )
    assert shown == [Delta("N"), Delta("o.")]
    assert found == responses.decode(answer(refused))


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            {"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None},
            "rate_limit: slow",
        ),
        ({"type": "error", "error": {"message": "boom"}}, "server: boom"),
        (
            {
                "type": "response.failed",
                "response": answer(status="failed", error={"code": "x", "message": "boom"}),
            },
            "server: boom",
        ),
    ],
)
def test_an_error_in_the_stream_is_an_error(event: Any, text: str) -> None:
    with pytest.raises(ProviderError) as caught:
        events(event)
    assert str(caught.value) == text


def test_pictures_are_parts_of_messages_and_of_outputs() -> None:
    picture = Image("image/png", "aGk=")
    part = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}
    result = ToolResult("a", "seen", images=(picture,))
    said = Message("assistant", tool_calls=(ToolCall("a", "look"),))
    user = Message("user", "what?", images=(picture,))
    sent = encode(responses, Request("m", (user, said, Message("tool", tool_results=(result,)))))
    first, _, last = sent["input"]
    assert first["content"] == [{"type": "input_text", "text": "what?"}, part]
    assert last["output"] == [{"type": "input_text", "text": "seen"}, part]


@pytest.mark.parametrize(
    ("model", "wire"),
    [
        ("gpt-6-sol", "openai-responses"),
        ("gpt-5.6-terra", "openai-responses"),
        ("o3-pro", "openai-responses"),
        ("gpt-5-chat-latest", "openai-chat"),
        ("gpt-7-sol", "openai-responses"),
        ("gpt-10", "openai-responses"),
        ("o5-mini", "openai-responses"),
        ("gpt-oss-120b", "openai-chat"),
        ("gpt-4o", "openai-chat"),
        ("gpt-35-turbo-16k", "openai-chat"),
        ("llama-4", "openai-chat"),
    ],
)
def test_models_that_reason_are_asked_on_this_wire(model: str, wire: str) -> None:
    assert PROVIDERS["openai"].wire_of(model) == wire


SOLO = {"solo": 'name = "solo"\nmodel = "openai/gpt-6-sol"\ntools = ["list_directory"]\n'}
LOOK = Says(calls=[Call("list_directory", {"path": "."}, "a")], thinking="Let me look.")
CHAT_HAS_NO_EFFORT = (
    "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. "
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_stand_in_without_this_api_is_asked_on_chat_from_then_on(
    provider: ScriptedProvider, tmp_path: Path, status: int, stream: bool
) -> None:
    provider.script("gpt-6-sol", Refuses(status, "no such path"), LOOK, Says("one"), Says("two"))
    async with bench(provider, tmp_path, SOLO, streams=lambda _: stream) as work:
        assert (await work.run("solo")).content == "one"
        assert (await work.run("solo")).content == "two"
        (warning,) = work.warnings
    assert "has no /v1/responses" in warning
    assert [each.path for each in provider.requests] == [
        "/v1/responses",
        *["/v1/chat/completions"] * 3,
    ]


SAMPLED = {"solo": SOLO["solo"] + "[params]\nseed = 7\nnum_ctx = 5\n"}
NO_SEED = "params.seed is not sent: openai has no such parameter"
NO_WINDOW = "params.num_ctx is not sent: openai has no such parameter"


async def test_what_only_chat_has_is_sent_to_a_stand_in_without_this_api_and_not_called_unsent(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("gpt-6-sol", Refuses(404, "no such path"), Says("one"))
    async with bench(provider, tmp_path, SAMPLED) as work:
        await work.run("solo")
        lacks, *others = work.warnings
    assert "has no /v1/responses" in lacks
    assert others == [NO_WINDOW]
    assert provider.requests[-1].body["seed"] == 7


async def test_what_this_api_lacks_is_named_once_it_has_answered(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("gpt-6-sol", LOOK, Says("two"))
    async with bench(provider, tmp_path, SAMPLED) as work:
        await work.run("solo")
    assert work.warnings == [NO_SEED, NO_WINDOW]


async def test_a_model_that_a_server_does_not_know_is_no_missing_api(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("gpt-6-sol", Refuses(404, "The model gpt-6-sol does not exist"))
    async with bench(provider, tmp_path, SOLO) as work:
        with pytest.raises(ProviderError, match="does not exist"):
            await work.run("solo")
    assert len(provider.requests) == 1


async def test_a_wire_that_is_stated_is_not_changed(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(404, "no such path"))
    async with bench(provider, tmp_path, agent("solo", "responses")) as work:
        with pytest.raises(ProviderError, match="no such path"):
            await work.run("solo")
    assert len(provider.requests) == 1


async def test_reasoning_that_can_t_be_decrypted_is_forgotten_once(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refused = {"error": {"message": "could not be verified", "code": "invalid_encrypted_content"}}
    provider.script("gpt-6-sol", LOOK, Raw(json.dumps(refused).encode(), 400), LOOK, Says("done"))
    async with bench(provider, tmp_path, SOLO) as work:
        assert (await work.run("solo")).content == "done"
        (warning,) = work.warnings
    assert "can't read its earlier reasoning" in warning
    kinds = [
        [each.get("type") for each in messages_of(request.body)] for request in provider.requests
    ]
    calls = ["function_call", "function_call_output"]
    assert kinds == [
        [None],
        [None, "reasoning", *calls],
        [None, *calls],
        [None, *calls, "reasoning", *calls],
    ]


async def test_reasoning_that_is_refused_again_is_an_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refused = {"error": {"message": "no", "code": "invalid_encrypted_content"}}
    again = Raw(json.dumps(refused).encode(), 400)
    provider.script("gpt-6-sol", LOOK, again, again)
    async with bench(provider, tmp_path, SOLO) as work:
        with pytest.raises(ProviderError, match="bad_request: no"):
            await work.run("solo")
    assert len(provider.requests) == 3


async def test_chat_that_takes_tools_only_without_effort_gets_none_from_then_on(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(400, CHAT_HAS_NO_EFFORT), LOOK, Says("done"))
    agents = agent("solo", tools=["list_directory"])
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "done"
        (warning,) = work.warnings
    assert "only with the effort none" in warning
    assert [each.body.get("reasoning_effort") for each in provider.requests] == [
        None,
        "none",
        "none",
    ]


@pytest.mark.parametrize(
    "refusal",
    [
        Refuses(400, CHAT_HAS_NO_EFFORT),
        Refuses(404, "This model is only supported in v1/responses."),
    ],
)
async def test_chat_that_refuses_the_effort_or_the_model_names_the_wire(
    provider: ScriptedProvider, tmp_path: Path, refusal: Refuses
) -> None:
    provider.script("m-solo", refusal)
    agents = agent("solo", tools=["list_directory"], params={"effort": "high"})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ProviderError, match='wire = "openai-responses"'):
            await work.run("solo")
    assert len(provider.requests) == 1


async def test_chat_with_a_model_that_always_reasons_names_the_wire(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """GPT-6 Astra and GPT-6.2 take neither tools with an effort there nor the effort none."""
    no_none = (
        "Unsupported value: 'reasoning_effort' does not support 'none' with this model. "
        "Supported values are: 'low', 'medium', 'high', 'xhigh', and 'max'."
    )
    provider.script("m-solo", Refuses(400, CHAT_HAS_NO_EFFORT), Refuses(400, no_none))
    agents = agent("solo", tools=["list_directory"])
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ProviderError, match='wire = "openai-responses"'):
            await work.run("solo")
    assert len(provider.requests) == 2


NO_MINIMAL = (
    "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model. "
    "Supported values are: 'low', 'medium', 'high', 'xhigh', and 'max'."
)


@pytest.mark.parametrize(
    ("asked", "listed", "sent"),
    [
        ("minimal", "'none', 'low', and 'high'", "none"),
        ("minimal", "'low', and 'high'", "low"),
        ("max", "low, medium, high", "high"),
    ],
)
@pytest.mark.parametrize("dialect", ["openai", "responses"])
async def test_the_next_lower_effort_is_asked_for_if_one_is_refused(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, asked: str, listed: str, sent: str
) -> None:
    refusal = (
        f"Unsupported value: 'reasoning_effort' does not support '{asked}' with this model. "
        f"Supported values are: {listed}."
    )
    provider.script("m-solo", Refuses(400, refusal), Says("one"), Says("two"))
    agents = agent("solo", dialect, params={"effort": asked})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "one"
        assert work.warnings == [
            f"the model m-solo refuses the effort {asked}, so it is asked for {sent}"
        ]
        assert (await work.run("solo")).content == "two"
    bodies = [each.body for each in provider.requests]
    efforts = [
        body.get("reasoning_effort") or body.get("reasoning", {}).get("effort") for body in bodies
    ]
    assert efforts == [asked, sent, sent]


async def test_a_model_that_knows_no_effort_gets_none_and_the_user_is_told(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(400, "Unsupported parameter: reasoning.effort"), Says("ok"))
    async with bench(
        provider, tmp_path, agent("solo", "responses", params={"effort": "low"})
    ) as work:
        assert (await work.run("solo")).content == "ok"
        assert work.warnings == ["the model m-solo refuses params.effort, so it is left out"]
    assert ["reasoning" in each.body for each in provider.requests] == [True, False]


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("Encrypted content is not supported with this model.", "include"),
        ("Unknown parameter: 'prompt_cache_key'.", "prompt_cache_key"),
        ("Unsupported value: 'top_p' does not support 0.5 with this model.", "top_p"),
    ],
)
async def test_what_a_model_refuses_is_left_out(
    provider: ScriptedProvider, tmp_path: Path, message: str, lacks: str
) -> None:
    provider.script("m-solo", Refuses(400, message), Says("ok"))
    async with bench(provider, tmp_path, agent("solo", "responses", params={"top_p": 0.5})) as work:
        assert (await work.run("solo")).content == "ok"
    first, last = (each.body for each in provider.requests)
    assert set(first) - set(last) == {lacks}


async def test_a_limit_below_the_lowest_is_raised_and_the_user_is_told(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("ok"))
    agents = agent("solo", "responses", params={"max_tokens": 7})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "ok"
        (warning,) = work.warnings
    assert "16 is asked for" in warning
    assert provider.requests[0].body["max_output_tokens"] == 16


async def test_a_model_that_shows_no_thoughts_is_asked_without_a_summary_from_then_on(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refusal = Refuses(400, "Your organization must be verified to generate reasoning summaries.")
    provider.script("m-solo", refusal, Says("one"), Says("two"))
    agents = agent("solo", "responses", params={"effort": "low"})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "one"
        assert (await work.run("solo")).content == "two"
        assert work.warnings == []
    asked = [each.body["reasoning"] for each in provider.requests]
    assert asked == [{"effort": "low", "summary": "auto"}, {"effort": "low"}, {"effort": "low"}]


def test_a_summary_that_is_refused_is_not_asked_for() -> None:
    request = Request("m", (ASK,), params=Params(effort="low"))
    body = encode(responses, request, restrictions=Restrictions(refused=frozenset({"summary"})))
    assert body["reasoning"] == {"effort": "low"}
