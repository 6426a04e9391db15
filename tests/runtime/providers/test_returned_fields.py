"""Fields of an answer that go back with the next request: where they are required, and where they are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.schema.services import service_traits
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Message, Request
from axe_lsp.runtime.providers.restrictions import (
    Restrictions,
    fields_of,
    learnt,
    with_taken_fields,
)
from axe_lsp.runtime.providers.wires import openai_chat as openai
from support.answers import Dialect
from support.bodies import encode
from support.engines import agent, bench
from support.scripted_provider import Call, Raw, Refuses, Says, ScriptedProvider

DETAILS = [{"type": "reasoning.text", "text": "Hm.", "signature": "s", "index": 0}]
LOOKS = Says(thinking="secret thoughts", calls=[Call("list_directory", {"path": "."}, "c1")])


def answered(calls: bool = False, **fields: Any) -> Message:
    """Return an answer of the chat wire, as an entry of the conversation. Its calls have the field `extra`, too."""
    extra = fields.pop("extra", {})
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, **extra}
    message = {"content": "It is x.", **fields, **extra, "tool_calls": [call] if calls else None}
    response = openai.decode({"choices": [{"message": message, "finish_reason": "stop"}]})
    return response.message(response.tool_calls)


def sent(message: Message, restrictions: Restrictions | None = None) -> dict[str, Any]:
    request = Request("m", (Message("user", "go"), message))
    body = encode(openai, request, restrictions=restrictions or Restrictions())
    return dict(body["messages"][-1])


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "Hm."},
        {
            "reasoning_content": ""
        },  # A turn without thoughts, which DeepSeek and Kimi want back, too.
        {"reasoning": "Hm.", "reasoning_details": DETAILS},
        {"reasoning_text": "Hm.", "reasoning_opaque": "c2VjcmV0"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
    ],
)
def test_thoughts_of_an_answer_without_calls_go_back(fields: dict[str, Any]) -> None:
    expected = {"role": "assistant", "content": "It is x.", **fields}
    assert sent(answered(**fields)) == expected


@pytest.mark.parametrize(
    "name", ["channel", "index", "provider_metadata", "custom", "item_id", "annotations", "audio"]
)
def test_field_that_only_answers_have_does_not_go_back(name: str) -> None:
    """Groq, Mistral, Vercel and Snowflake write them, and refuse or ignore them."""
    message = sent(answered(calls=True, reasoning="Hm.", extra={name: {"a": 1}}))
    assert name not in fields_of(message)
    assert (message["reasoning"], message["tool_calls"][0]["id"]) == ("Hm.", "c1")


@pytest.mark.parametrize(
    ("provider", "base_url", "returned", "required"),
    [
        ("deepseek", "http://localhost:8000", True, True),
        ("my-own", "https://api.deepseek.com/v1", True, True),
        ("kimi", "https://api.kimi.com/coding/v1", True, True),
        ("x", "https://api.moonshot.ai/v1", True, True),
        ("mistral", "https://api.mistral.ai/v1", False, False),
        ("groq", "https://api.groq.com/openai/v1", False, False),
        ("local", "http://localhost:8000/v1", True, False),
    ],
)
def test_service_is_known_by_its_name_or_its_address(
    provider: str, base_url: str, returned: bool, required: bool
) -> None:
    traits = service_traits("openai-chat", provider, base_url)
    assert ("reasoning_content" in traits.returned_fields) is returned
    assert ("reasoning_content" in traits.required_fields) is required
    assert service_traits("anthropic", provider, base_url).required_fields == frozenset()


async def test_deepseek_gets_thoughts_with_each_answer(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """Also with one that another model has given, or that was interrupted."""
    provider.script("m-solo", Says("no JSON", thinking="Hm."), Says("nor this"), Says("{}"))
    agents = agent("solo", "deepseek", output={"type": "object"})
    environment = {"DEEPSEEK_API_KEY": "key", "AXE_DEEPSEEK_BASE_URL": provider.url}
    async with bench(provider, tmp_path, agents, environment) as work:
        await work.run("solo")
    messages = provider.requests[-1].body["messages"]
    thoughts = [each["reasoning_content"] for each in messages if each["role"] == "assistant"]
    assert thoughts == ["Hm.", ""]


MESSAGES = "'messages.2' : for 'role:assistant' the following must be satisfied"
EXTRA = "Extra inputs are not permitted"
PLACE = ["body", "messages", 2, "assistant", "reasoning_content"]
PYDANTIC = {"type": "extra_forbidden", "loc": PLACE, "msg": EXTRA}

REFUSALS: list[tuple[Dialect, Refuses | Raw, str, str]] = [
    (
        "openai",  # Groq
        Refuses(400, f"{MESSAGES}[('messages.2' : property 'reasoning_content' is unsupported)]"),
        "reasoning_content",
        "tool_calls",
    ),
    (
        "openai",  # Mistral
        Raw(json.dumps({"object": "error", "message": {"detail": [PYDANTIC]}}).encode(), 422),
        "reasoning_content",
        "tool_calls",
    ),
    (
        "openai",  # Fireworks
        Refuses(400, f"{EXTRA}, field: 'messages[2].reasoning_content', value: 'hm'"),
        "reasoning_content",
        "tool_calls",
    ),
    ("openai", Refuses(400, "unknown field reasoning_content"), "reasoning_content", "tool_calls"),
    ("responses", Refuses(400, "Unknown parameter: 'input[1].status'."), "status", "summary"),
    (
        "google",  # Vertex
        Refuses(
            400,
            'Invalid JSON payload received. Unknown name "id" at '
            "'contents[1].parts[1].function_call': Cannot find field.",
        ),
        "id",
        "thoughtSignature",
    ),
    (
        "bedrock",
        Refuses(400, "This model doesn't support the status field. Remove status and try again."),
        "status",
        "signature",
    ),
    (
        "anthropic",
        Refuses(400, f"messages.2.content.0.tool_result.is_error: {EXTRA}"),
        "is_error",
        "signature",
    ),
]


@pytest.mark.parametrize(("dialect", "refusal", "refused", "other"), REFUSALS)
async def test_refused_field_of_a_message_is_left_out_from_then_on(
    provider: ScriptedProvider,
    tmp_path: Path,
    dialect: Dialect,
    refusal: Refuses | Raw,
    refused: str,
    other: str,
) -> None:
    provider.script("m-solo", LOOKS, refusal, LOOKS, Says("done"), LOOKS, Says("done"))
    agents = agent("solo", dialect, tools=["list_directory"])
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "done"
        assert (await work.run("solo")).content == "done"
        assert work.warnings == []
    names = [fields_of(_messages(each.body)) for each in provider.requests]
    assert [refused in each for each in names] == [False, True, False, False, False, False]
    assert [other in each for each in names] == [False, True, True, True, False, True]


def _messages(body: dict[str, Any]) -> list[Any]:
    return next(body[key] for key in ("messages", "contents", "input") if key in body)


@pytest.mark.parametrize(
    "message",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        "Missing reasoning_content field in the assistant message at message index 2.",
        "preserved thinking (thinking.keep=all) requires reasoning_content on every assistant message",
        "messages.2.assistant.reasoning_content: Field required",
    ],
)
async def test_field_that_a_service_requires_is_sent_from_then_on(
    provider: ScriptedProvider, tmp_path: Path, message: str
) -> None:
    looks = Says(calls=LOOKS.calls)
    provider.script("m-solo", looks, Refuses(400, message), Says("done"))
    async with bench(provider, tmp_path, agent("solo", tools=["list_directory"])) as work:
        assert (await work.run("solo")).content == "done"
    _, before, after = (each.body["messages"] for each in provider.requests)
    assert "reasoning_content" not in fields_of(before)
    given = [each.get("reasoning_content") for each in after]
    assert given == [("" if each["role"] == "assistant" else None) for each in after]


async def test_service_that_requires_and_refuses_the_same_field_is_not_asked_for_ever(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    missing, refused = "reasoning_content is missing", "unknown field reasoning_content"
    answers = [Refuses(400, missing), Refuses(400, refused)] * 3
    provider.script("m-solo", Says(calls=LOOKS.calls), *answers)
    async with bench(provider, tmp_path, agent("solo", tools=["list_directory"])) as work:
        with pytest.raises(ProviderError, match=missing):
            await work.run("solo")
    assert len(provider.requests) == 4


@pytest.mark.parametrize(
    "message",
    [
        "messages.2.tool_calls: Extra inputs are not permitted",  # Without it the message means something else.
        "Unknown parameter: 'messages[2].name'.",
        "invalid reasoning in the messages",
        "model not supported for channel messages",
    ],
)
def test_other_refusals_say_nothing_about_fields_of_messages(message: str) -> None:
    error = ProviderError("bad_request", message, 400)
    request = Request("m", (Message("user", "go"),))
    names = {"role", "content", "tool_calls", "name", "reasoning", "channel"}
    assert learnt(error, request, Restrictions(), lambda: names) is None


@pytest.mark.parametrize("arguments", ["args", "input", "arguments", "response"])
def test_arguments_and_results_of_tools_lose_no_field(arguments: str) -> None:
    restrictions = Restrictions(omitted_fields=frozenset({"id", "status"}))
    item = {"status": 1, arguments: {"status": "s"}, "parts": [{"id": 1, "text": "x"}]}
    (left,) = with_taken_fields([item], restrictions)
    assert left == {arguments: {"status": "s"}, "parts": [{"text": "x"}]}
