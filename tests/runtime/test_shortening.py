"""A conversation that becomes too long for its model goes on, with less of what it has read."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.agentfile.schema.providers import parse_model_name
from axe_lsp.runtime import shortening
from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.events import ContextShortened
from axe_lsp.runtime.messages import Message, Request, Response, Tool, ToolCall, ToolResult
from axe_lsp.runtime.shortening import context_limit, shortened, tokens_of
from support.answers import DIALECTS, Dialect
from support.engines import agent, bench
from support.scripted_provider import Answer, Call, Refuses, Says, ScriptedProvider

NOTE = "more characters of this result were left out, since the conversation has become too long."
TOO_LONG = Refuses(400, "This model's maximum context length is 8192 tokens.")


def results(*sizes: int) -> Message:
    """Return what tools have returned, so many characters each."""
    return Message("tool", tool_results=tuple(ToolResult("c", "x" * size) for size in sizes))


def talk(*sizes: int) -> list[Message]:
    """Return a conversation whose tools have returned so many characters, one after the other."""
    return [Message("user", "go"), *(results(size) for size in sizes)]


def lengths(messages: tuple[Message, ...]) -> list[int]:
    """Return the lengths of results; a shortened one counts as what was kept of it."""
    return [
        len(result.content.partition("\n[")[0]) for each in messages for result in each.tool_results
    ]


def test_the_oldest_results_are_shortened_until_enough_is_saved() -> None:
    made = shortened(talk(30_000, 30_000, 30_000, 30_000), 1, 15_000)
    assert made is not None
    assert lengths(made.messages) == [400, 400, 30_000, 30_000]
    assert made.results == 2
    assert 15_000 <= made.saved < 20_000
    assert (
        made.messages[1]
        .tool_results[0]
        .content.endswith(f"[29,600 {NOTE} Call the tool again if you need them.]")
    )


def test_what_the_model_has_not_seen_yet_is_shortened_last_and_less() -> None:
    made = shortened(talk(30_000, 30_000), 1, 1_000_000)
    assert made is not None
    assert lengths(made.messages) == [400, 30_000]
    made = shortened(talk(30_000, 30_000), 15_000, 1_000_000)
    assert made is not None
    assert lengths(made.messages) == [400, 4_000]


def test_short_results_stay_and_without_long_ones_there_is_nothing_to_do() -> None:
    assert shortened(talk(700, 700), 1_000, 1_000) is None
    assert shortened([Message("user", "x" * 90_000)], 1_000, 1_000) is None
    made = shortened(talk(700, 30_000, 30), 1, 1)
    assert made is not None
    assert lengths(made.messages) == [700, 400, 30]


def test_what_was_shortened_is_not_shortened_again() -> None:
    made = shortened(talk(30_000, 30_000), 1, 1)
    assert made is not None
    again = shortened(made.messages, 0, 1_000_000)
    assert again is None


@pytest.mark.parametrize(
    ("model", "params", "max_tokens", "limit"),
    [
        ("anthropic/claude-haiku-4-5", Params(), 0, 200_000 - 16_384),
        ("anthropic/claude-haiku-4-5", Params(), 50_000, 150_000),
        ("ollama/llama", Params(num_ctx=8_000), 1_000, 7_000),
        ("ollama/llama", Params(num_ctx=8_000), 0, 4_000),
        ("ollama/llama", Params(), 0, None),
    ],
)
def test_room_is_left_for_the_answer(
    model: str, params: Params, max_tokens: int, limit: int | None
) -> None:
    name = parse_model_name(model)
    request = Request(name.name, (), params=params, max_tokens=max_tokens)
    assert context_limit(name, request) == limit


def test_what_a_refusal_has_told_counts_more_than_what_the_table_says() -> None:
    name = parse_model_name("anthropic/claude-haiku-4-5")
    assert context_limit(name, Request(name.name, ()), 20_000) == 10_000


def test_the_size_is_what_the_provider_has_counted_and_what_is_new() -> None:
    conversation = Conversation(
        Request("m", (Message("user", "go"),), system="s" * 300, tools=(Tool("read", "", {}),))
    )
    assert conversation.size == 100 + tokens_of(conversation.request.messages)
    call = ToolCall("1", "read")
    conversation.receive(Response(tool_calls=(call,), input_tokens=5_000))
    conversation.deliver([ToolResult("1", "x" * 30_000)])
    assert 15_000 <= conversation.size < 15_010
    assert conversation.make_room(20_000) is None
    made = conversation.make_room(10_000)
    assert made is not None
    assert conversation.size < 10_000


def reads(name: str) -> Call:
    return Call("read_file", {"path": name})


def files(folder: Path) -> None:
    for name in "abc":
        (folder / name).write_text(f"{name * 70}\n" * 100)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_request_that_was_refused_as_too_long_is_made_shorter_and_sent_again(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect
) -> None:
    files(tmp_path)
    provider.script(
        "m-solo", Says(calls=[reads("a")]), Says(calls=[reads("b")]), TOO_LONG, Says("done")
    )
    async with bench(provider, tmp_path, agent("solo", dialect, tools=["read_file"])) as work:
        assert (await work.run("solo")).content == "done"
    refused, again = (str(each.body) for each in provider.requests[-2:])
    assert NOTE not in refused
    assert again.count(NOTE) == 1
    assert again.count("aaaa") < refused.count("aaaa")
    assert again.count("bbbb") == refused.count("bbbb")
    (event,) = work.of(ContextShortened)
    assert (event.turn, event.results) == (3, 1)
    assert event.tokens_after < event.tokens_before


async def test_without_anything_to_shorten_a_prompt_that_is_too_long_is_an_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", TOO_LONG, Says("never"))
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(ProviderError, match="context_overflow: This model's") as caught:
            await work.run("solo")
    assert caught.value.exit_code == 1
    assert len(provider.requests) == 1


async def test_it_is_made_shorter_once_and_not_again_and_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    provider.script("m-solo", Says(calls=[reads("a")]), Says(calls=[reads("b")]))
    provider.script("m-solo", Answer(TOO_LONG, repeat=True))
    async with bench(provider, tmp_path, agent("solo", tools=["read_file"])) as work:
        with pytest.raises(ProviderError, match="context_overflow"):
            await work.run("solo")
    assert len(provider.requests) == 4


async def test_a_request_that_would_not_fit_is_made_shorter_before_it_is_sent(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    provider.script("m-solo", Says(calls=[reads("a")], usage=(500, 5)))
    provider.script("m-solo", Says(calls=[reads("b")], usage=(3_500, 5)), Says("done"))
    agents = agent("solo", "ollama", tools=["read_file"], params={"num_ctx": 8_000})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "done"
    first, second, third = (str(each.body) for each in provider.requests)
    assert NOTE not in first + second
    assert third.count(NOTE) == 1
    assert "bbbb" * 100 not in second
    (event,) = work.of(ContextShortened)
    assert event.tokens_before > 4_000 >= event.tokens_after


async def test_what_a_refusal_has_told_is_known_to_later_runs(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    first, second = Says(calls=[reads("a")]), Says(calls=[reads("b")], usage=(3_500, 5))
    provider.script("m-solo", first, second, TOO_LONG, Says("one"))
    provider.script("m-solo", first, second, Says("two"))
    async with bench(provider, tmp_path, agent("solo", tools=["read_file"])) as work:
        assert (await work.run("solo")).content == "one"
        assert (await work.run("solo")).content == "two"
    assert len(provider.requests) == 4 + 3
    assert NOTE in str(provider.requests[-1].body)


def test_each_message_is_measured_once_however_long_the_talk_becomes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[Message] = []
    characters = shortening._characters
    monkeypatch.setattr(
        shortening, "_characters", lambda each: measured.append(each) or characters(each)
    )
    conversation = Conversation(Request("m", (Message("user", "go"),), tools=(Tool("t", "d"),)))
    for turn in range(20):
        call = ToolCall(f"c{turn}", "t", {"path": "a" * turn})
        conversation.receive(Response(tool_calls=(call,), input_tokens=100 * turn))
        assert conversation.size > 0
        conversation.deliver([ToolResult(call.id, "x" * turn)])
    assert measured == list(conversation.request.messages)
