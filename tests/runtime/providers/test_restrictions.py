"""Servers that refuse a part of a request are asked again in the way that they want."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Image, Message, Request, ResponseFormat
from axe_lsp.runtime.providers.restrictions import Restrictions, learnt, window_told
from axe_lsp.runtime.providers.wires import openai_chat as openai
from support.bodies import encode
from support.engines import agent, bench
from support.scripted_provider import Raw, Refuses, Says, ScriptedProvider

NEW_NAME = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
DEFAULT_ONLY = (
    "Unsupported value: 'temperature' does not support 0.5 with this model. "
    "Only the default (1) value is supported."
)
SCHEMA = {"type": "json_schema", "schema": {"type": "object"}}


def test_openai_itself_is_asked_by_the_new_name_and_its_stand_ins_by_the_old_one() -> None:
    request = Request("m", (Message("user", "ask"),), max_tokens=7)
    assert encode(openai, request)["max_tokens"] == 7
    own = encode(openai, request, restrictions=Restrictions(current=True))
    assert own["max_completion_tokens"] == 7
    assert "max_tokens" not in own


@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_that_wants_the_new_name_gets_it_from_then_on(
    provider: ScriptedProvider, tmp_path: Path, stream: bool
) -> None:
    provider.script("m-solo", Refuses(400, NEW_NAME), Says("one"), Says("two"))
    agents = agent("solo", params={"max_tokens": 7})
    async with bench(provider, tmp_path, agents, streams=lambda _: stream) as runtime:
        assert (await runtime.run("solo")).content == "one"
        assert (await runtime.run("solo")).content == "two"
        assert runtime.warnings == []
    old, new, later = (each.body for each in provider.requests)
    assert old["max_tokens"] == 7
    for body in (new, later):
        assert body["max_completion_tokens"] == 7
        assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("dialect", "message"),
    [("openai", DEFAULT_ONLY), ("anthropic", "`temperature` is deprecated for this model.")],
)
async def test_a_model_that_takes_no_temperature_gets_none_and_the_user_is_told(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, message: str
) -> None:
    provider.script("m-solo", Refuses(400, message), Says("one"), Says("two"))
    agents = agent("solo", dialect, params={"temperature": 0.5})
    async with bench(provider, tmp_path, agents) as runtime:
        for said in ("one", "two"):
            assert (await runtime.run("solo")).content == said
            warning = runtime.warnings.pop()
            assert warning == "the model m-solo refuses params.temperature, so it is left out"
            assert runtime.warnings == []
    first, *rest = (each.body for each in provider.requests)
    assert first["temperature"] == 0.5
    assert [each for each in rest if "temperature" in each] == []


async def test_what_is_refused_by_two_errors_is_changed_twice(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(400, NEW_NAME), Refuses(400, DEFAULT_ONLY), Says("ok"))
    agents = agent("solo", params={"temperature": 0.5, "max_tokens": 7})
    async with bench(provider, tmp_path, agents) as runtime:
        assert (await runtime.run("solo")).content == "ok"
    last = provider.requests[-1].body
    assert last["max_completion_tokens"] == 7
    assert "temperature" not in last


NO_LEVEL = "Thinking level {} is not supported for this model."  # gemini-3.1-pro-preview, 2026-05
NO_LEVEL_BY_NAME = "Thinking level is unsupported: THINKING_LEVEL_{}"  # gemini-3.7-flash, 2026-09


@pytest.mark.parametrize("refusal", [NO_LEVEL, NO_LEVEL_BY_NAME])
@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("none", ["MINIMAL", "LOW"]),
        ("minimal", ["MINIMAL", "LOW"]),
        ("medium", ["MEDIUM", "LOW"]),
        ("xhigh", ["XHIGH", "HIGH"]),
        ("max", ["XHIGH", "HIGH", "MEDIUM"]),
    ],
)
async def test_a_level_of_thinking_that_gemini_refuses_becomes_the_nearest_one(
    provider: ScriptedProvider, tmp_path: Path, refusal: str, asked: str, sent: list[str]
) -> None:
    refused = [Refuses(400, refusal.format(level)) for level in sent[:-1]]
    provider.script("gemini-4-x", *refused, Says("one"), Says("two"))
    text = f'name = "solo"\nmodel = "google/gemini-4-x"\n[params]\neffort = "{asked}"\n'
    async with bench(provider, tmp_path, {"solo": text}) as runtime:
        for answer in ("one", "two"):
            assert (await runtime.run("solo")).content == answer
    told = f"refuses the effort {asked}, so it is asked for {sent[-1].lower()}"
    assert told in runtime.warnings[-1]
    configs = [each.body["generationConfig"]["thinkingConfig"] for each in provider.requests]
    assert [each["thinkingLevel"] for each in configs] == [*sent, sent[-1]]


async def test_a_gemini_model_without_levels_is_sent_none(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refusal = Refuses(400, "Thinking level is not supported for this model.")
    provider.script("gemini-x", refusal, Says("one"))
    text = 'name = "solo"\nmodel = "google/gemini-x"\n[params]\neffort = "low"\n'
    async with bench(provider, tmp_path, {"solo": text}) as runtime:
        assert (await runtime.run("solo")).content == "one"
        assert "refuses params.effort, so it is left out" in runtime.warnings[0]
    assert "generationConfig" not in provider.requests[-1].body


@pytest.mark.parametrize(
    ("params", "status", "message"),
    [
        ({"temperature": 3.0}, 400, "temperature: Input should be less than or equal to 1"),
        ({"max_tokens": 7}, 400, "max_tokens is too large"),
        ({"temperature": 0.5}, 500, DEFAULT_ONLY),
        ({}, 400, DEFAULT_ONLY),
        ({}, 400, NEW_NAME),
        ({"response_format": SCHEMA}, 400, "Invalid schema for response_format"),
        ({"seed": 7}, 400, "bytedance-seed/seed-1.6 is not supported in your region"),
    ],
)
async def test_other_refusals_reach_the_user_at_once(
    provider: ScriptedProvider, tmp_path: Path, params: dict[str, Any], status: int, message: str
) -> None:
    provider.script("m-solo", Refuses(status, message))
    async with bench(provider, tmp_path, agent("solo", params=params)) as runtime:
        with pytest.raises(ProviderError) as caught:
            await runtime.run("solo")
    assert caught.value.message == message
    assert len(provider.requests) == 1


async def test_a_server_that_knows_no_stream_options_gets_none(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(400, "Unrecognized request argument: stream_options"))
    provider.script("m-solo", Says("ok"))
    async with bench(provider, tmp_path, agent("solo"), streams=lambda _: True) as runtime:
        assert (await runtime.run("solo")).content == "ok"
        assert runtime.warnings == []
    assert ["stream_options" in each.body for each in provider.requests] == [True, False]
    assert all(each.body["stream"] for each in provider.requests)


async def test_nothing_is_asked_for_ever(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-solo", *[Refuses(400, NEW_NAME)] * 9)
    async with bench(provider, tmp_path, agent("solo", params={"max_tokens": 7})) as runtime:
        with pytest.raises(ProviderError, match="max_completion_tokens"):
            await runtime.run("solo")
    assert len(provider.requests) == 2


async def test_a_schema_that_anthropic_refuses_keeps_no_file_from_running(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refusal = "output_config.format.schema: 'additionalProperties' must be explicitly set to false"
    provider.script("m-solo", Refuses(400, refusal), Says("ok"))
    agents = agent("solo", "anthropic", params={"response_format": SCHEMA})
    async with bench(provider, tmp_path, agents) as runtime:
        assert (await runtime.run("solo")).content == "ok"
        assert runtime.warnings == [
            "the model m-solo refuses params.response_format, so it is left out"
        ]
    assert ["output_config" in each.body for each in provider.requests] == [True, False]


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9000.", 8_192),
        ("This endpoint's maximum context length is 200,000 tokens.", 200_000),
        ("This model's maximum prompt length is 131072 but the request contains 148451.", 131_072),
        (
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            32_768,
        ),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200_000),
        ("input length and `max_tokens` exceed context limit: 199211 + 20000 > 200000", 200_000),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
        ),
        ("request (12345 tokens) exceeds the available context size (4096 tokens)", 4_096),
        ("The decoder prompt (length 9) is longer than the maximum model length of 8000.", 8_000),
        ("The input (300 tokens) is longer than the model's context length (200 tokens).", 200),
        ("the model is loaded with context length of only 4096 tokens", 4_096),
        ("Your request exceeded model token limit: 262144 (requested: 300000)", 262_144),
        ("Input is too long for requested model.", 700),
    ],
)
def test_a_refusal_tells_how_large_the_context_window_is(message: str, window: int) -> None:
    error = ProviderError("context_overflow", message, 400)
    assert window_told(error, Request("m", (Message("user"),)), 700) == window


def test_an_error_in_a_stream_tells_the_context_window_as_well() -> None:
    error = ProviderError("context_overflow", "exceeds the available context size (4096 tokens)")
    assert window_told(error, Request("m", (Message("user"),)), 700) == 4096


def test_a_refusal_for_another_reason_tells_nothing_of_the_context_window() -> None:
    request = Request("m", (Message("user"),))
    told = "The maximum context length is 8192 tokens."
    assert window_told(ProviderError("bad_request", told, 400), request, 700) is None
    # A body that is too large has too many bytes, and a picture has a size that nobody knows.
    assert window_told(ProviderError("context_overflow", "too large", 413), request, 700) is None
    picture = Request("m", (Message("user", images=(Image("image/png", "AA"),)),))
    for code in ("413", "request_too_large"):  # In a stream the status is a code.
        too_large = ProviderError("context_overflow", "too large", codes=(code,))
        assert window_told(too_large, request, 700) is None
    too_long = ProviderError("context_overflow", "Input is too long", 400)
    assert window_told(too_long, picture, 700) is None
    assert window_told(too_long, request, 0) is None


async def test_of_two_parameters_that_exclude_each_other_one_is_left_out(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refusal = (
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    )
    provider.script("m-solo", Refuses(400, refusal), Says("ok"))
    agents = agent("solo", "anthropic", params={"temperature": 0.5, "top_p": 0.5})
    async with bench(provider, tmp_path, agents) as runtime:
        assert (await runtime.run("solo")).content == "ok"
        assert runtime.warnings == ["the model m-solo refuses params.top_p, so it is left out"]
    assert "top_p" not in provider.requests[1].body
    assert provider.requests[1].body["temperature"] == 0.5


ONLY_ADAPTIVE = (
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
    '"output_config.effort" to control thinking behavior.'
)


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock"])
async def test_a_claude_of_an_unknown_name_that_takes_no_budget_gets_the_effort(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    """The name of a deployment or a gateway does not tell which model it is."""
    provider.script("our-claude", Refuses(400, ONLY_ADAPTIVE), Says("one"), Says("two"))
    text = f'name = "solo"\nmodel = "{dialect}/our-claude"\n[params]\neffort = "high"\n'
    async with bench(provider, tmp_path, {"solo": text}) as runtime:
        assert (await runtime.run("solo")).content == "one"
        assert (await runtime.run("solo")).content == "two"
        assert runtime.warnings == []
    first, *rest = (each.body for each in provider.requests)
    place = {"anthropic": "output_config", "bedrock": "outputConfig"}[dialect]
    assert place not in first
    for body in rest:
        assert body[place] == {"effort": "high"}
        thinking = body.get("thinking") or body["additionalModelRequestFields"]["thinking"]
        assert thinking["type"] == "adaptive"


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        ("anthropic", ONLY_ADAPTIVE),
        ("google", "Thinking budget is not supported for this model."),  # gemma-4, 2026-04
    ],
)
async def test_a_budget_that_a_model_does_not_take_is_left_out_and_the_user_is_told(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, message: str
) -> None:
    provider.script("m-solo", Refuses(400, message), Says("one"))
    agents = agent("solo", dialect, params={"thinking_budget": 2000})
    async with bench(provider, tmp_path, agents) as runtime:
        assert (await runtime.run("solo")).content == "one"
        (warning,) = runtime.warnings
    assert warning.startswith("params.thinking_budget is not sent: the model m-solo decides itself")
    first, last = (each.raw for each in provider.requests)
    assert b"2000" in first
    assert b"2000" not in last


async def test_a_gemini_that_refuses_not_to_think_is_asked_without_a_budget(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refusal = Refuses(400, "Thinking budget is not supported for this model.")
    provider.script("m-solo", refusal, Says("one"))
    agents = agent("solo", "google", params={"thinking_budget": 0})
    async with bench(provider, tmp_path, agents) as runtime:
        assert (await runtime.run("solo")).content == "one"
        (warning,) = runtime.warnings
    assert warning.startswith("params.thinking_budget is not sent: the model m-solo decides itself")
    assert ["generationConfig" in each.body for each in provider.requests] == [True, False]


PICTURE = Message("user", images=(Image("image/png", "AA"),))


@pytest.mark.parametrize(
    "message",
    [
        "Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`",
        "Invalid content type. image_url is only supported by certain models.",
        "this model does not support image input",
    ],
)
def test_a_model_that_takes_no_pictures_is_known_by_its_refusal(message: str) -> None:
    known = learnt(
        ProviderError("bad_request", message, 400), Request("m", (PICTURE,)), Restrictions()
    )
    assert known is not None
    assert known.refused == {"images"}


@pytest.mark.parametrize(
    ("message", "codes"),
    [
        (
            "You uploaded an unsupported image. Please make sure your image has of one the following "
            "formats: ['png', 'jpeg', 'gif', 'webp'].",
            (),
        ),
        ("The image type is not supported.", ("invalid_image_format",)),
        ("Error while downloading the picture.", ("invalid_image_url",)),
        ("messages.0.content.1.image_url: Input should be a valid URL", ()),
    ],
)
def test_a_fault_of_one_picture_says_nothing_about_the_model(
    message: str, codes: tuple[str, ...]
) -> None:
    error = ProviderError("bad_request", message, 400, codes=codes)
    wanted = ResponseFormat("json_object", optional=True)
    for request in (Request("m", (PICTURE,)), Request("m", (PICTURE,), response_format=wanted)):
        assert learnt(error, request, Restrictions()) is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("stop", ["END"], "Unsupported parameter: 'stop' is not supported with this model."),
        ("seed", 7, "Unsupported parameter: 'seed' is not supported with this model."),
        ("seed", 7, "seed: Extra inputs are not permitted"),  # Mistral
    ],
)
async def test_a_model_that_refuses_a_parameter_gets_it_no_more_and_the_user_is_told(
    provider: ScriptedProvider, tmp_path: Path, name: str, value: object, message: str
) -> None:
    provider.script("m-solo", Refuses(400, message), Says("one"), Says("two"))
    async with bench(provider, tmp_path, agent("solo", params={name: value})) as runtime:
        for said in ("one", "two"):
            assert (await runtime.run("solo")).content == said
            assert runtime.warnings.pop() == (
                f"the model m-solo refuses params.{name}, so it is left out"
            )
    assert [name in each.body for each in provider.requests] == [True, False, False]


def not_permitted(name: str) -> Raw:
    """Return how Mistral refuses a parameter that it does not have."""
    fault = {
        "type": "extra_forbidden",
        "loc": ["body", name],
        "msg": "Extra inputs are not permitted",
    }
    return Raw(json.dumps({"object": "error", "message": {"detail": [fault]}}).encode(), 422)


async def test_mistral_gets_no_parameter_that_it_does_not_have(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    refusals = [not_permitted("stream_options"), not_permitted("seed")]
    provider.script("m-solo", *refusals, Says("one"), Says("two"))
    agents = agent("solo", params={"seed": 7})
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as runtime:
        assert (await runtime.run("solo")).content == "one"
        assert (await runtime.run("solo")).content == "two"
        assert runtime.warnings == ["the model m-solo refuses params.seed, so it is left out"] * 2
    asked = [{"stream_options", "seed"} & {*each.body} for each in provider.requests]
    assert asked == [{"stream_options", "seed"}, {"seed"}, set(), set()]
