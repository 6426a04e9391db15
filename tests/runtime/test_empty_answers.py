"""Answers of nothing, and answers whose content is no text: what people and calling agents hear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import NoTextError, ProviderError
from axe_lsp.runtime.messages import Message, Request, ToolCall
from support.answers import Dialect, calls_agent
from support.bodies import FORMATS, encode, messages_of
from support.engines import agent, bench
from support.scripted_provider import Raw, Says, ScriptedProvider

LATER = {"tools": ["list_directory"]}
"""A key that axe's first version did not know."""

CONTRADICTIONS: list[tuple[Dialect, str]] = [
    ("openai", "tool_calls"),
    ("openai", "function_call"),
    ("anthropic", "tool_use"),
    ("bedrock", "tool_use"),
    ("ollama", "load"),
]


def chat(message: dict[str, Any], **choice: Any) -> Raw:
    """Return an answer of the chat wire."""
    body = {"choices": [{"message": message, "finish_reason": "stop", **choice}]}
    return Raw(json.dumps(body).encode(), headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("dialect", "reason"), CONTRADICTIONS)
async def test_empty_answer_that_its_stop_reason_contradicts_is_asked_again(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, reason: str, streams: bool
) -> None:
    empty = Says("", stop_reason=reason, usage=(10, 5))
    provider.script("m-solo", empty, Says("second", usage=(20, 7)))
    solo = agent("solo", dialect)
    async with bench(provider, tmp_path, solo, streams=lambda _: streams) as work:
        result = await work.run("solo")
    assert (result.content, work.warnings) == ("second", [])
    assert (result.input_tokens, result.output_tokens) == (30, 12)
    assert provider.requests[0].body == provider.requests[1].body


@pytest.mark.parametrize(("dialect", "reason"), CONTRADICTIONS)
async def test_second_empty_answer_is_a_warning_with_its_stop_reason(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, reason: str
) -> None:
    provider.script("m-solo", *[Says("", stop_reason=reason)] * 3)
    async with bench(provider, tmp_path, agent("solo", dialect)) as work:
        assert (await work.run("solo")).content == ""
    assert len(provider.requests) == 2
    (warning,) = work.warnings
    assert (
        f'agent "solo": the model answered nothing, twice, although its stop reason is "{reason}"'
        == warning
    )


async def test_empty_answer_after_a_network_error_behind_the_service_is_asked_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    empty = chat({"content": ""}, native_finish_reason="network_error")
    provider.script("m-solo", empty, Says("second"))
    async with bench(provider, tmp_path, agent("solo")) as work:
        assert (await work.run("solo")).content == "second"


@pytest.mark.parametrize(
    ("message", "warning"),
    [
        ({"content": ""}, "the model answered nothing"),
        ({"content": " \n"}, "the model answered nothing"),
        ({"content": None, "reasoning": "Hm."}, "the model answered nothing but thoughts"),
    ],
)
async def test_empty_answer_is_a_warning_for_agents_with_later_keys(
    provider: ScriptedProvider, tmp_path: Path, message: dict[str, Any], warning: str
) -> None:
    provider.script("m-solo", chat(message), chat(message))
    agents = {**agent("solo", **LATER)}
    async with bench(provider, tmp_path, agents) as work:
        await work.run("solo")
    assert work.warnings == [f'agent "solo": {warning}']
    async with bench(provider, tmp_path, agent("solo")) as work:
        await work.run("solo")
    assert work.warnings == [], "recorded of axe"
    assert len(provider.requests) == 2, "neither is asked again"


@pytest.mark.parametrize(
    ("keys", "result"), [(LATER, "(subagent returned no text)"), ({}, "")], ids=["later", "first"]
)
async def test_caller_reads_that_its_child_answered_nothing(
    provider: ScriptedProvider, tmp_path: Path, keys: dict[str, Any], result: str
) -> None:
    provider.script("m-boss", Says(calls=[calls_agent("solo", "do it")]), Says("done"))
    provider.script("m-solo", Says(""))
    agents = {**agent("boss", sub_agents=["solo"], **keys), **agent("solo")}
    async with bench(provider, tmp_path, agents) as work:
        await work.run("boss")
    assert messages_of(provider.asked("m-boss")[1].body)[-1]["content"] == result


PICTURES: list[tuple[Dialect, dict[str, Any]]] = [
    ("openai", {"choices": [{"message": {"content": "", "images": [{"type": "image_url"}]}}]}),
    ("openai", {"choices": [{"message": {"content": [{"type": "image_url", "image_url": {}}]}}]}),
    ("responses", {"status": "completed", "output": [{"type": "image_generation_call"}]}),
    (
        "google",
        {
            "candidates": [
                {
                    "content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": ""}}]},
                    "finishReason": "STOP",
                }
            ]
        },
    ),
    ("bedrock", {"output": {"message": {"content": [{"image": {"format": "png"}}]}}}),
    ("ollama", {"message": {"images": ["aGk="]}, "done": True}),
]


@pytest.mark.parametrize(("dialect", "body"), PICTURES)
async def test_answer_that_is_only_a_picture_is_no_success(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, body: dict[str, Any]
) -> None:
    provider.script("m-solo", Raw(json.dumps(body).encode()))
    async with bench(provider, tmp_path, agent("solo", dialect)) as work:
        with pytest.raises(NoTextError, match="has no text, only a picture"):
            await work.run("solo")
    assert len(provider.requests) == 1


async def test_picture_beside_a_text_is_a_warning(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", chat({"content": "Look.", "images": [{"type": "image_url"}]}))
    async with bench(provider, tmp_path, agent("solo")) as work:
        assert (await work.run("solo")).content == "Look."
    assert work.warnings == ['agent "solo": the answer also has a picture, which is not read']


async def test_call_of_a_tool_that_was_not_offered_is_no_success(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    body = {"status": "completed", "output": [{"type": "computer_call", "call_id": "c"}]}
    provider.script("m-solo", Raw(json.dumps(body).encode()))
    async with bench(provider, tmp_path, agent("solo", "responses")) as work:
        with pytest.raises(NoTextError, match=r"tool that is not offered \(computer_call\)"):
            await work.run("solo")


async def test_custom_call_of_the_chat_wire_is_not_executed(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    provider.script("m-solo", chat({"content": None, "tool_calls": [call]}))
    async with bench(provider, tmp_path, agent("solo", **LATER)) as work:
        with pytest.raises(NoTextError, match=r"tool that is not offered \(custom\)"):
            await work.run("solo")


async def test_answer_of_ollama_that_is_not_done_is_an_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    body = {"message": {"content": "So"}, "done": False}
    provider.script("m-solo", Raw(json.dumps(body).encode()))
    async with bench(provider, tmp_path, agent("solo", "ollama")) as work:
        with pytest.raises(ProviderError, match="the answer is not done"):
            await work.run("solo")


@pytest.mark.parametrize(
    "choice",
    [
        {"finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL"},
        {"finish_reason": "stop", "native_finish_reason": "malformed_tool_use"},
        {"finish_reason": "function_call_filter: MALFORMED_FUNCTION_CALL"},
        {
            "finish_reason": "error",
            "native_finish_reason": "MALFORMED_FUNCTION_CALL",
            "error": {"code": 502, "message": "Provider returned error"},
        },
    ],
)
async def test_garbled_call_behind_a_gateway_is_asked_again_and_then_told(
    provider: ScriptedProvider, tmp_path: Path, choice: dict[str, Any]
) -> None:
    garbled = chat({"content": ""}, **choice)
    provider.script("m-solo", garbled, Says("second"), garbled, garbled)
    async with bench(provider, tmp_path, agent("solo")) as work:
        assert (await work.run("solo")).content == "second"
        with pytest.raises(NoTextError, match="a tool call that can't be read") as caught:
            await work.run("solo")
    assert "Try another model" in caught.value.hint


async def test_filter_of_googles_openai_endpoint_is_a_content_filter(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", chat({"content": "So"}, finish_reason="content_filter: SAFETY"))
    async with bench(provider, tmp_path, agent("solo")) as work:
        assert (await work.run("solo")).incomplete == "content_filter"


def test_gemini_stream_is_read_without_further_candidates() -> None:
    stream = FORMATS["google"].stream_decoder()
    for text in ("one", "two"):
        candidates = [
            {"index": index, "content": {"parts": [{"text": f"{text}{index} "}]}}
            for index in (0, 1)
        ]
        for candidate in candidates:
            stream.feed(f"data: {json.dumps({'candidates': [candidate]})}".encode())
            stream.feed(b"")
    stream.feed(b'data: {"candidates": [{"index": 0, "finishReason": "STOP"}]}')
    stream.feed(b"")
    assert stream.finish().content == "one0 two0 "


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
BLANK = {"type": "text", "text": "\n\n"}
USE = {"type": "tool_use", "id": "1", "name": "t", "input": {}}
EMPTY = {"type": "text", "text": "(empty)"}


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (Message("assistant", "\n\n"), [EMPTY]),
        (Message("assistant", ""), [EMPTY]),
        (Message("assistant", original=[THOUGHT, BLANK]), [THOUGHT, EMPTY]),
        (Message("assistant", original=[THOUGHT]), [THOUGHT, EMPTY]),
        (
            Message("assistant", tool_calls=(ToolCall("1", "t"),), original=[THOUGHT, BLANK, USE]),
            [THOUGHT, BLANK, USE],
        ),
        (Message("assistant", "Hm."), "Hm."),
    ],
)
def test_blank_text_alone_does_not_go_back_to_anthropic(message: Message, content: Any) -> None:
    request = Request("m", (Message("user", "a"), message, Message("user", "b")))
    assert messages_of(encode(FORMATS["anthropic"], request))[1]["content"] == content
