"""`[params]` on the wires of Anthropic and Ollama, and what a wire has no field for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.agentfile.schema.providers import Wire
from axe_lsp.runtime.messages import Image, Message, Request, ToolResult
from axe_lsp.runtime.providers.http_provider import format_of
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wires import anthropic, ollama
from support.bodies import encode
from support.engines import agent, bench
from support.scripted_provider import Says, ScriptedProvider

ASK = Message("user", "ask")
OLD, NEW = "claude-haiku-4-5", "claude-opus-5"
PICTURE = Image("image/png", "cGl4ZWxz")


def to_anthropic(model: str, **params: Any) -> dict[str, Any]:
    return encode(anthropic, Request(model, (ASK,), max_tokens=2000, params=Params(**params)))


@pytest.mark.parametrize("model", [NEW, "claude-opus-4-7", "claude-sonnet-4-6", "claude-fable-5-2"])
def test_newer_models_of_anthropic_think_as_long_as_they_want(model: str) -> None:
    body = to_anthropic(model, effort="xhigh")
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "xhigh"}
    assert to_anthropic(model, effort="minimal")["output_config"] == {"effort": "low"}


@pytest.mark.parametrize("model", [OLD, "claude-opus-4-1-20250805", "MiniMax-M3"])
def test_other_models_get_a_budget_for_thinking_besides_the_answer(model: str) -> None:
    body = to_anthropic(model, effort="low", top_p=0.5)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 5000}
    assert body["max_tokens"] == 7000
    assert "output_config" not in body
    assert "top_p" not in body
    asked = to_anthropic(model, thinking_budget=100)
    assert asked["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert asked["max_tokens"] == 2000


@pytest.mark.parametrize("params", [{"effort": "none"}, {"thinking_budget": 0}])
def test_thinking_can_be_turned_off(params: dict[str, Any]) -> None:
    assert to_anthropic(NEW, **params)["thinking"] == {"type": "disabled"}


@pytest.mark.parametrize("params", [{"effort": "none"}, {"thinking_budget": 0}])
def test_a_model_that_always_thinks_is_asked_for_the_least_effort(params: dict[str, Any]) -> None:
    for model in ("claude-opus-5-5", "claude-fable-5", "claude-mythos-5-2", "claude-opus-6"):
        body = to_anthropic(model, **params)
        assert "thinking" not in body
        assert body["output_config"] == {"effort": "low"}
        request = Request(model, (ASK,), params=Params(**params))
        assert anthropic.dropped(request, Restrictions()) == [
            f"the model {model} always thinks, so it is asked for the effort low"
        ]


@pytest.mark.parametrize("params", [{"effort": "none"}, {"thinking_budget": 0}])
def test_the_least_thinking_of_newer_sonnets_is_between_tools(params: dict[str, Any]) -> None:
    body = to_anthropic("claude-sonnet-5-5", **params)
    assert body["thinking"] == {"type": "between_tools"}
    assert "output_config" not in body
    assert to_anthropic("claude-sonnet-5", **params)["thinking"] == {"type": "disabled"}
    assert to_anthropic("claude-haiku-5-5", **params)["thinking"] == {"type": "disabled"}


def test_what_anthropic_has_besides() -> None:
    body = to_anthropic(NEW, top_p=0.5, top_k=3, stop=("END",), extra={"service_tier": "auto"})
    assert (body["top_p"], body["top_k"], body["stop_sequences"]) == (0.5, 3, ["END"])
    assert body["service_tier"] == "auto"
    assert "thinking" not in body


def test_what_ollama_has() -> None:
    params = Params(
        effort="max", top_p=0.5, top_k=3, seed=7, stop=("END",), num_ctx=32_768, extra={"raw": True}
    )
    body = encode(ollama, Request("m", (ASK,), params=params))
    options = {"num_ctx": 32_768, "top_p": 0.5, "top_k": 3, "seed": 7, "stop": ["END"]}
    assert body["options"] == options
    assert (body["think"], body["raw"]) == ("high", True)
    assert encode(ollama, Request("m", (ASK,), params=Params(effort="none")))["think"] is False


def test_messages_are_not_replaced_by_extra_fields() -> None:
    body = encode(ollama, Request("m", (ASK,), params=Params(extra={"messages": []})))
    assert body["messages"] == [{"role": "user", "content": "ask"}]


def test_images_go_to_anthropic_as_blocks() -> None:
    block = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "cGl4ZWxz"},
    }
    result = Message("tool", tool_results=(ToolResult("1", "seen", images=(PICTURE,)),))
    request = Request(NEW, (Message("user", "look", images=(PICTURE,)), result))
    asked, answered = encode(anthropic, request)["messages"]
    assert asked["content"] == [block, {"type": "text", "text": "look"}]
    assert answered["content"][0]["content"] == [{"type": "text", "text": "seen"}, block]


def test_images_go_to_ollama_beside_the_text() -> None:
    (asked,) = encode(ollama, Request("m", (Message("user", "look", images=(PICTURE,)),)))[
        "messages"
    ]
    assert asked == {"role": "user", "content": "look", "images": ["cGl4ZWxz"]}


def test_the_thoughts_of_a_model_go_back_to_ollama() -> None:
    answer = {"message": {"content": "", "thinking": "hm"}, "done": True}
    response = ollama.decode(answer)
    assert response.thoughts == "hm"
    again = Message("assistant", response.content, original=response.original)
    (sent,) = encode(ollama, Request("m", (again,)))["messages"]
    assert sent["thinking"] == "hm"


async def test_a_parameter_that_the_provider_does_not_have_is_named(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("done"))
    agents = agent("solo", "anthropic", params={"seed": 1, "num_ctx": 5, "top_p": 0.5})
    async with bench(provider, tmp_path, agents) as work:
        await work.run("solo")
    assert work.warnings == [
        "params.seed is not sent: anthropic has no such parameter",
        "params.num_ctx is not sent: anthropic has no such parameter",
    ]


async def test_a_prompt_that_fills_the_window_was_probably_cut(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("done", usage=(2047, 1)))
    agents = agent("solo", "ollama", params={"num_ctx": 2048})
    async with bench(provider, tmp_path, agents) as work:
        await work.run("solo")
    (warning,) = work.warnings
    assert "fills the context window of 2048 tokens" in warning


BUDGET_WINS = "params.effort is not sent: of the two, the model gets params.thinking_budget"


@pytest.mark.parametrize(
    ("wire", "provider", "model", "params", "temperature", "told"),
    [
        (
            "gemini",
            "google",
            "gemini-3-pro",
            Params(effort="low", thinking_budget=0),
            None,
            BUDGET_WINS,
        ),
        (
            "openai-chat",
            "openrouter",
            "m",
            Params(effort="low", thinking_budget=2000),
            None,
            BUDGET_WINS,
        ),
        ("openai-chat", "openai", "m", Params(effort="low", thinking_budget=2000), None, ""),
        (
            "anthropic",
            "anthropic",
            OLD,
            Params(effort="low", thinking_budget=2000),
            None,
            BUDGET_WINS,
        ),
        ("bedrock", "bedrock", OLD, Params(effort="low", thinking_budget=2000), None, BUDGET_WINS),
        ("bedrock", "bedrock", "nova", Params(effort="low", thinking_budget=2000), None, ""),
        (
            "anthropic",
            "anthropic",
            NEW,
            Params(effort="low", thinking_budget=2000),
            None,
            "decides itself",
        ),
        ("anthropic", "anthropic", NEW, Params(thinking_budget=2000), None, "decides itself"),
        (
            "anthropic",
            "anthropic",
            NEW,
            Params(effort="none", thinking_budget=2000),
            None,
            "turns thinking off",
        ),
        ("anthropic", "anthropic", NEW, Params(effort="low", thinking_budget=0), None, ""),
        (
            "anthropic",
            "anthropic",
            OLD,
            Params(thinking_budget=2000),
            0.5,
            "params.temperature is not sent",
        ),
        (
            "anthropic",
            "anthropic",
            OLD,
            Params(effort="low", top_k=3),
            None,
            "params.top_k is not sent",
        ),
        ("bedrock", "bedrock", OLD, Params(effort="low", top_k=3), None, ""),
        (
            "bedrock",
            "bedrock",
            "nova",
            Params(thinking_budget=2000),
            0.5,
            "params.temperature is not sent",
        ),
        ("anthropic", "anthropic", OLD, Params(top_p=0.5), 0.5, ""),
        ("ollama", "ollama", "m", Params(effort="low", thinking_budget=2000), None, ""),
        ("openai-responses", "openai", "m", Params(effort="low", thinking_budget=2000), None, ""),
    ],
)
def test_what_is_not_sent_beside_another_parameter_is_named(
    wire: Wire, provider: str, model: str, params: Params, temperature: float | None, told: str
) -> None:
    request = Request(model, (ASK,), params=params, temperature=temperature)
    found = format_of(wire).dropped(request, Restrictions(provider=provider))
    assert len(found) == bool(told)
    assert told in "".join(found)


@pytest.mark.parametrize(
    ("wire", "provider", "model"),
    [
        ("anthropic", "anthropic", "our-claude"),
        ("bedrock", "bedrock", "our-claude"),
        ("bedrock", "bedrock", "nova"),
        ("gemini", "google", "gemini-2.5-flash"),
        ("openai-chat", "openrouter", "m"),
    ],
)
@pytest.mark.parametrize("effort", ["", "low"])
def test_a_budget_that_was_refused_is_sent_no_more_and_nothing_else_is_left_out_for_it(
    wire: Wire, provider: str, model: str, effort: Any
) -> None:
    known = Restrictions(provider=provider, wire=wire, refused=frozenset({"budget"}))
    params = Params(effort=effort, thinking_budget=2000, top_k=3)
    request = Request(model, (ASK,), params=params, temperature=0.5)
    (told,) = format_of(wire).dropped(request, known)
    assert "decides itself how long it thinks" in told
    body = format_of(wire).head(request, False, known)
    assert "2000" not in str(body)
    assert "0.5" in str(body)
    assert ("low" in str(body).lower()) == bool(effort)


def test_the_level_of_an_older_gemini_is_no_budget_once_that_was_refused() -> None:
    known = Restrictions(wire="gemini", refused=frozenset({"budget"}))
    request = Request("gemini-2.5-flash", (ASK,), params=Params(effort="low"))
    config = encode(format_of("gemini"), request, restrictions=known)["generationConfig"]
    assert config["thinkingConfig"] == {"thinkingLevel": "LOW", "includeThoughts": True}


@pytest.mark.parametrize("wire", ["anthropic", "bedrock"])
def test_a_budget_below_the_least_is_raised_with_a_warning(wire: Wire) -> None:
    request = Request(OLD, (ASK,), params=Params(thinking_budget=1023))
    (told,) = format_of(wire).dropped(request, Restrictions())
    assert told.startswith("params.thinking_budget is 1023, and 1024 is asked for")
    enough = replace(request, params=Params(thinking_budget=1024))
    assert format_of(wire).dropped(enough, Restrictions()) == []


def test_a_budget_of_0_turns_thinking_off_beside_an_effort() -> None:
    assert to_anthropic(OLD, effort="low", thinking_budget=0)["thinking"] == {"type": "disabled"}


async def test_a_run_warns_of_what_is_not_sent_beside_another_parameter(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("done"))
    agents = agent("solo", "google", params={"effort": "low", "thinking_budget": 100})
    async with bench(provider, tmp_path, agents) as work:
        await work.run("solo")
    assert work.warnings == [BUDGET_WINS]
    config = provider.requests[0].body["generationConfig"]["thinkingConfig"]
    assert config["thinkingBudget"] == 100
