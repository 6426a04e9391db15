"""Google's wire format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wire import WireError, address
from axe_lsp.runtime.providers.wires import gemini
from support.bodies import encode
from support.engines import agent, bench
from support.scripted_provider import Raw, ScriptedProvider

ASK = Message("user", "ask")
TOOL = Tool("call_agent", "Delegate.", {"agent": ToolParameter("string", "Who", required=True)})
SIGNED = [
    {"text": "Let me think.", "thought": True},
    {"text": "I ask."},
    {"functionCall": {"id": "1", "name": "t", "args": {"a": 1}}, "thoughtSignature": "YWJj"},
    {"functionCall": {"name": "u"}},
]


def answer(*parts: dict[str, Any], reason: str = "STOP", **more: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": reason, **more}
    return {"candidates": [{key: value for key, value in candidate.items() if value is not None}]}


def streamed(*chunks: object) -> Response:
    decoder = gemini.stream_decoder()
    for chunk in chunks:
        decoder.feed(b"data: " + json.dumps(chunk).encode())
        decoder.feed(b"")
    return decoder.finish()


def config(request: Request) -> dict[str, Any]:
    found: dict[str, Any] = encode(gemini, request).get("generationConfig", {})
    return found


def thinking(model: str, **params: Any) -> dict[str, Any]:
    found: dict[str, Any] = config(Request(model, (ASK,), params=Params(**params)))
    return found.get("thinkingConfig", {})


@pytest.mark.parametrize(
    ("base", "model", "stream", "url"),
    [
        (
            "https://g",
            "gemini-3-pro",
            False,
            "https://g/v1beta/models/gemini-3-pro:generateContent",
        ),
        ("https://g/v1beta/", "m", True, "https://g/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("https://g/v1", "m", True, "https://g/v1/models/m:streamGenerateContent?alt=sse&x=y"),
        ("https://g", "tunedModels/m", False, "https://g/v1beta/tunedModels/m:generateContent"),
        ("https://g", "a b?c", False, "https://g/v1beta/models/a%20b%3Fc:generateContent"),
    ],
)
def test_the_path_holds_the_model_and_asks_for_a_stream(
    base: str, model: str, stream: bool, url: str
) -> None:
    query = {"x": "y"} if "x=y" in url else {}
    assert address(base, gemini.path(model, stream), gemini.SHAPE.any_version, query) == url


def test_a_request_holds_what_is_set_and_nothing_else() -> None:
    contents = [{"role": "user", "parts": [{"text": "ask"}]}]
    assert encode(gemini, Request("m", (ASK,))) == {"contents": contents}
    params = Params(top_p=0.5, top_k=0, seed=0, stop=("a",))
    full = Request("m", (ASK,), "s", 0.0, 7, (TOOL,), ResponseFormat("json_object"), params)
    assert encode(gemini, full) == {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "call_agent",
                        "description": "Delegate.",
                        "parametersJsonSchema": {
                            "type": "object",
                            "properties": {"agent": {"type": "string", "description": "Who"}},
                            "required": ["agent"],
                        },
                    }
                ]
            }
        ],
        "generationConfig": {
            "temperature": 0.0,
            "maxOutputTokens": 7,
            "topP": 0.5,
            "topK": 0,
            "seed": 0,
            "stopSequences": ["a"],
            "responseMimeType": "application/json",
        },
        "contents": contents,
    }


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gemini-3-pro", "low", {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("gemini-3.5-flash", "max", {"thinkingLevel": "XHIGH", "includeThoughts": True}),
        ("gemini-flash-latest", "none", {"thinkingLevel": "MINIMAL", "includeThoughts": False}),
        ("gemini-2.5-flash", "medium", {"thinkingBudget": 8192, "includeThoughts": True}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0, "includeThoughts": False}),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128, "includeThoughts": True}),
    ],
)
def test_an_effort_is_a_level_or_for_older_models_a_budget(
    model: str, effort: str, sent: dict[str, Any]
) -> None:
    assert thinking(model, effort=effort) == sent


def test_a_budget_is_sent_as_it_is_and_thinking_is_not_mentioned_without_need() -> None:
    both = thinking("gemini-3-pro", thinking_budget=512, effort="low")
    assert both == {"thinkingBudget": 512, "includeThoughts": True}
    none = {"thinkingBudget": 0, "includeThoughts": False}
    assert thinking("gemini-2.5-flash", thinking_budget=0) == none
    assert thinking("gemini-3-pro") == {}


@pytest.mark.parametrize("model", ["gemini-4-neon", "gemini-4.1-carbon", "gemini-10-x"])
def test_a_model_that_takes_no_budget_gets_none_and_the_user_is_told(model: str) -> None:
    assert thinking(model, thinking_budget=512) == {}
    level = {"thinkingLevel": "LOW", "includeThoughts": True}
    assert thinking(model, thinking_budget=512, effort="low") == level
    request = Request(model, (ASK,), params=Params(thinking_budget=512))
    (told,) = gemini.dropped(request, Restrictions())
    assert told.startswith(f"params.thinking_budget is not sent: the model {model} takes a level")


def test_parts_go_back_as_they_came_and_each_call_has_its_result() -> None:
    response = gemini.decode(answer(*SIGNED))
    assert response.tool_calls == (ToolCall("1", "t", {"a": 1}), ToolCall("gemini_1", "u"))
    assert (response.content, response.thoughts) == ("I ask.", "Let me think.")
    results = (ToolResult("1", "r", name="t"), ToolResult("gemini_1", "e", True, name="u"))
    messages = (
        ASK,
        Message("assistant", "I ask.", response.tool_calls, original=response.original),
        Message("tool", tool_results=results),
    )
    _, echoed, answered = encode(gemini, Request("m", messages))["contents"]
    assert echoed == {"role": "model", "parts": SIGNED}
    first = {"id": "1", "name": "t", "response": {"result": "r"}}
    second = {"name": "u", "response": {"error": "e"}}  # As there was no id, none is sent.
    assert answered == {
        "role": "user",
        "parts": [{"functionResponse": first}, {"functionResponse": second}],
    }


def test_only_calls_of_another_model_get_the_dummy_signature_and_of_them_the_first() -> None:
    calls = (ToolCall("1", "t", {"a": 1}), ToolCall("2", "u"))
    (echoed,) = encode(gemini, Request("m", (Message("assistant", "hm", calls),)))["contents"]
    assert echoed["parts"] == [
        {"text": "hm"},
        {
            "functionCall": {"id": "1", "name": "t", "args": {"a": 1}},
            "thoughtSignature": "skip_thought_signature_validator",
        },
        {"functionCall": {"id": "2", "name": "u", "args": {}}},
    ]
    unsigned = gemini.decode(answer({"functionCall": {"name": "t", "args": {}}}))
    message = Message("assistant", "", unsigned.tool_calls, original=unsigned.original)
    (own,) = encode(gemini, Request("m", (message,)))["contents"]
    assert "thoughtSignature" not in str(own)


def test_pictures_are_sent_inline() -> None:
    picture = Image("image/png", "QUJD")
    inline = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    result = ToolResult("1", "seen", name="t", images=(picture,))
    messages = (Message("user", "look", images=(picture,)), Message("tool", tool_results=(result,)))
    asked, answered = encode(gemini, Request("m", messages))["contents"]
    assert asked["parts"] == [inline, {"text": "look"}]
    assert answered["parts"][1:] == [inline]


@pytest.mark.parametrize(
    ("reason", "why", "detail"),
    [
        ("STOP", None, ""),
        ("MAX_TOKENS", "length", ""),
        ("SAFETY", "content_filter", "SAFETY: told"),
        ("IMAGE_RECITATION", "content_filter", "IMAGE_RECITATION: told"),
        ("MODEL_ARMOR", "content_filter", "MODEL_ARMOR: told"),
        ("UNEXPECTED_TOOL_CALL", "malformed_call", "UNEXPECTED_TOOL_CALL: told"),
        ("CONTINUATION", "paused", "CONTINUATION: told"),
        ("TOO_MANY_TOOL_CALLS", "length", "TOO_MANY_TOOL_CALLS: told"),
        ("BRAND_NEW", "length", "BRAND_NEW: told"),
        (None, "length", "no finish reason: told"),
    ],
)
def test_a_finish_reason_says_why_an_answer_is_not_whole(
    reason: str, why: str | None, detail: str
) -> None:
    body = answer({"text": "x"}, reason=reason, finishMessage="told")
    response = gemini.decode(body)
    assert (response.incomplete, response.incomplete_detail) == (why, detail)
    assert response.stop_reason == (reason or "")
    if reason:
        assert streamed(body) == response


def test_the_parts_decide_whether_there_are_calls() -> None:
    body = answer({"functionCall": {"name": "t"}}, reason="FINISH_REASON_UNSPECIFIED")
    assert gemini.decode(body).incomplete is None


def test_a_prompt_that_is_blocked_has_no_answer() -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}
    for response in (gemini.decode(body), streamed(body)):
        assert (response.incomplete, response.stop_reason) == ("content_filter", "SAFETY")
        assert (response.content, response.input_tokens) == ("", 3)


def test_a_signature_that_was_not_sent_is_an_error() -> None:
    with pytest.raises(ProviderError, match="bad_request: the request lacks a thought signature"):
        gemini.decode(answer(reason="MISSING_THOUGHT_SIGNATURE"))


def test_thoughts_are_output_and_cached_tokens_are_input() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 20,
    }
    response = gemini.decode({**answer({"text": "x"}), "usageMetadata": usage})
    assert (response.input_tokens, response.output_tokens) == (100, 50)
    assert response.cache_read_tokens == 40


def test_a_streamed_signature_stays_on_its_part() -> None:
    response = streamed(
        answer({"text": "Let me ", "thought": True}, reason=None),
        answer({"text": "think.", "thought": True}, {"text": "Yes"}, reason=None),
        answer({"text": " it is."}, reason=None),
        {"usageMetadata": {"promptTokenCount": 2, "candidatesTokenCount": 3}},
        answer({"text": "", "thoughtSignature": "YWJj"}),
    )
    assert (response.content, response.thoughts) == ("Yes it is.", "Let me think.")
    assert response.original == [
        {"text": "Let me think.", "thought": True},
        {"text": "Yes it is."},
        {"text": "", "thoughtSignature": "YWJj"},
    ]
    assert (response.input_tokens, response.output_tokens) == (2, 3)


def test_errors_in_a_stream_are_told_in_an_event_and_outside_of_one() -> None:
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    with pytest.raises(ProviderError, match=r"overloaded: The model is overloaded\."):
        streamed(answer({"text": "x"}, reason=None), error)
    decoder = gemini.stream_decoder()
    for line in json.dumps([error], indent=2).encode().split(b"\n"):
        decoder.feed(line)
    with pytest.raises(ProviderError, match=r"overloaded: The model is overloaded\."):
        decoder.feed(b"")


def test_a_stream_without_a_finish_reason_is_cut_off() -> None:
    with pytest.raises(WireError, match="ended before"):
        streamed(answer({"text": "x"}, reason=None))


@pytest.mark.parametrize("body", [None, {}, {"candidates": []}])
def test_no_candidate_is_an_error(body: object) -> None:
    with pytest.raises(ProviderError, match="server: response contains no candidates"):
        gemini.decode(body)


@pytest.mark.parametrize("streams", [False, True])
async def test_an_answer_that_the_limit_of_one_request_cuts_goes_on_with_its_token(
    provider: ScriptedProvider, tmp_path: Path, streams: bool
) -> None:
    cut = answer({"text": "half "}, reason="CONTINUATION", continuationToken="dG9rZW4=")
    whole = answer({"text": "whole"})
    for body in (cut, whole):
        raw = json.dumps(body)
        sent = f"data: {raw}\n\n" if streams else raw
        media = "text/event-stream" if streams else "application/json"
        provider.script("m-solo", Raw(sent.encode(), headers={"content-type": media}))
    async with bench(
        provider, tmp_path, agent("solo", "google"), streams=lambda _: streams
    ) as work:
        result = await work.run("solo", "go")
    assert (result.content, result.incomplete, work.warnings) == ("half whole", None, [])
    first, again = (each.body for each in provider.requests)
    assert again == {**first, "continuationToken": "dG9rZW4="}
