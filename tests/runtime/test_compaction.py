"""A conversation that becomes too long is summed up by its own model, for agents that say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.compaction import compaction_of, fault_of
from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.errors import BudgetError
from axe_lsp.runtime.events import CompactionBegin, CompactionEnd, ContextShortened, TextDelta
from axe_lsp.runtime.messages import Message, Request, Response, ToolCall, ToolResult
from axe_lsp.runtime.shortening import tokens_of
from support.answers import DIALECTS, Dialect
from support.bodies import messages_of, text_of
from support.engines import agent, bench
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider, calls_agent

SUMMARY = "File a is full of a. Still to do: file c."
ASKED = "This conversation is about to exceed your context window."
TOO_LONG = Refuses(400, "This model's maximum context length is 8192 tokens.")


def compacting(name: str = "solo", dialect: str = "openai", **keys: Any) -> dict[str, str]:
    """Return an agent whose context is summed up."""
    return agent(name, dialect, tools=["read_file"], context={"compaction": True}, **keys)


def unmarked(messages: list[Any]) -> str:
    """Return what is said in messages, without the marks up to which they shall be cached."""
    return json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', "")


def reads(name: str) -> Call:
    return Call("read_file", {"path": name})


def files(folder: Path, lines: int = 100) -> None:
    for name in "abc":
        (folder / name).write_text(f"{name * 70}\n" * lines)


def talk(*sizes: int) -> Request:
    """Return a conversation whose tools have returned so many characters, one after the other."""
    steps: list[Message] = []
    for number, size in enumerate(sizes):
        call = ToolCall(f"c{number}", "read")
        result = ToolResult(call.id, "x" * size)
        steps += [Message("assistant", tool_calls=(call,)), Message("tool", tool_results=(result,))]
    return Request("m", (Message("user", "the task"), *steps), max_tokens=50)


def test_the_last_step_stays_whole_and_all_before_it_becomes_a_summary() -> None:
    request = talk(300, 300, 300)
    found = compaction_of(request, request.messages[0], 1_000, None)
    assert found is not None
    assert found.asked.messages[:5] == request.messages[:5]
    assert [each.role for each in found.asked.messages[5:]] == ["assistant", "user"]
    made = found.with_summary(request, " what happened\n")
    assert made.messages[1:] == request.messages[5:]
    text = made.messages[0].content
    assert text.startswith("the task\n\n---\n\n[")
    assert "\n\nwhat happened\n\n" in text
    assert found.asked.max_tokens == 4_096  # The agent's own answers may be shorter.


def test_a_second_summary_takes_the_place_of_the_first_one() -> None:
    conversation = Conversation(talk(300, 300))
    for summary in ("the first", "the second"):
        call = ToolCall("n", "read")
        conversation.request = Request(
            "m", (*conversation.request.messages, Message("assistant", tool_calls=(call,)))
        )
        found = conversation.compaction(None)
        assert found is not None
        conversation.sum_up(found, summary)
        results = Message("tool", tool_results=(ToolResult("n", "there"),))
        conversation.request = Request("m", (*conversation.request.messages, results))
    text = conversation.request.messages[0].content
    assert text.startswith("the task\n\n---")
    assert text.count("the second") == text.count("[This conversation") == 1
    assert "the first" not in text


def test_the_parts_of_a_paused_answer_stay_together() -> None:
    request = talk(300)
    messages = (*request.messages, Message("assistant", "one"), Message("assistant", "two"))
    found = compaction_of(Request("m", messages), messages[0], 100, None)
    assert found is not None
    assert [each.content for each in found.stay] == ["one", "two"]


@pytest.mark.parametrize("sizes", [(), (300,)])
def test_there_is_nothing_to_sum_up_before_the_second_step(sizes: tuple[int, ...]) -> None:
    request = talk(*sizes)
    assert compaction_of(request, request.messages[0], 1_000, 10) is None


def test_the_request_for_a_summary_fits_even_if_what_it_sums_up_does_not() -> None:
    request = talk(30_000, 30_000, 300)
    found = compaction_of(request, request.messages[0], tokens_of(request.messages), 15_000)
    assert found is not None
    assert tokens_of(found.asked.messages) <= 15_000
    assert [len(each.tool_results) for each in found.asked.messages] == [0, 0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Response("fine"), ""),
        (Response(" "), "the model has written no summary"),
        (Response(tool_calls=(ToolCall("1", "read"),)), "the model has written no summary"),
        (Response("fi", incomplete="length"), "the answer was cut off at the output limit"),
    ],
)
def test_only_a_whole_text_is_a_summary(answer: Response, fault: str) -> None:
    assert fault_of(answer) == fault


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_run_goes_on_from_a_summary_on_every_wire(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, streams: bool
) -> None:
    files(tmp_path)
    provider.script("m-solo", Says("I look.", [reads("a")]))
    provider.script("m-solo", Says(calls=[reads("b")], usage=(3_000, 5)))
    provider.script("m-solo", TOO_LONG, Says(SUMMARY, usage=(4_000, 70)), Says("done"))
    agents = compacting(dialect=dialect)
    async with bench(provider, tmp_path, agents, streams=lambda _: streams) as work:
        result = await work.run("solo", "read all")
    assert (result.content, result.turns) == ("done", 3)
    assert (result.input_tokens, result.output_tokens) == (7_020, 85)
    refused, asked, last = provider.requests[-3:]
    ours, theirs = messages_of(asked.body), messages_of(provider.requests[1].body)
    assert unmarked(ours[: len(theirs)]) == unmarked(theirs)  # Which the provider's cache has.
    assert ASKED in text_of(ours[-1])
    assert len({unmarked(each.body.get("tools", [])) for each in (refused, asked, last)}) == 1
    sent = str(last.body)
    assert all(text in sent for text in (SUMMARY, "read all", "bbbb"))
    assert not any(text in sent for text in ("aaaa", ASKED))
    (begin,), (end,) = work.of(CompactionBegin), work.of(CompactionEnd)
    assert (begin.turn, end.turn, end.error, end.summary) == (3, 3, None, SUMMARY)
    assert end.tokens_before > end.tokens_after
    assert (end.input_tokens, end.output_tokens) == (4_000, 70)
    assert SUMMARY.split(maxsplit=1)[0] not in "".join(each.delta for each in work.of(TextDelta))


async def test_a_summary_is_asked_for_before_a_request_that_would_not_fit(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    provider.script("m-solo", Says(calls=[reads("a")], usage=(500, 5)))
    provider.script("m-solo", Says(calls=[reads("b")], usage=(3_500, 5)))
    provider.script("m-solo", Says(SUMMARY), Says("done"))
    agents = compacting(dialect="ollama", params={"num_ctx": 10_000, "max_tokens": 4_000})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "done"
    assert ASKED in str(provider.requests[2].body)
    assert provider.requests[2].body["options"]["num_predict"] == 4_096
    assert not work.of(ContextShortened)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Refuses(500), "server: boom"),
        (TOO_LONG, f"context_overflow: {TOO_LONG.message}"),
        (Says("", [reads("c")]), "the model has written no summary"),
    ],
)
async def test_without_a_summary_old_results_are_shortened(
    provider: ScriptedProvider, tmp_path: Path, answer: Says | Refuses, error: str
) -> None:
    files(tmp_path)
    provider.script("m-solo", Says(calls=[reads("a")]), Says(calls=[reads("b")]))
    provider.script("m-solo", TOO_LONG, answer, Says("done"))
    async with bench(provider, tmp_path, compacting()) as work:
        assert (await work.run("solo")).content == "done"
    (end,) = work.of(CompactionEnd)
    assert (end.error, end.messages, end.summary) == (error, 0, "")
    assert end.tokens_before == end.tokens_after
    assert len(work.of(ContextShortened)) == 1


async def test_what_is_still_too_long_behind_a_summary_is_shortened_as_well(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path, lines=400)
    provider.script("m-solo", Says(calls=[reads("a")]), Says(calls=[reads("b")]))
    provider.script("m-solo", TOO_LONG, Says(SUMMARY), Says("done"))
    async with bench(provider, tmp_path, compacting()) as work:
        assert (await work.run("solo")).content == "done"
    assert SUMMARY in str(provider.requests[-1].body)
    assert len(work.of(ContextShortened)) == 1
    assert len(provider.requests) == 5


async def test_a_summary_counts_for_the_budget_which_may_end_with_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    provider.script("m-solo", Says("So far.", [reads("a")]), Says("More.", [reads("b")]))
    provider.script("m-solo", TOO_LONG, Says(SUMMARY, usage=(4_000, 70)), Says("never"))
    agents = compacting(budget={"max_tokens": 4_000})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError, match="used 4100 of 4000 tokens") as caught:
            await work.run("solo")
    assert caught.value.partial is not None
    assert caught.value.partial.content == "More."


async def test_nobody_is_asked_for_a_summary_who_does_not_want_one(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    provider.script("m-solo", Says(calls=[reads("a")]), Says(calls=[reads("b")]))
    provider.script("m-solo", TOO_LONG, Says("done"))
    async with bench(provider, tmp_path, agent("solo", tools=["read_file"])) as work:
        await work.run("solo")
    assert not work.of(CompactionBegin)
    assert ASKED not in str([each.body for each in provider.requests])


async def test_a_type_that_task_starts_sums_up_as_its_caller_does(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    task = {"description": "d", "prompt": "read", "subagent_type": "explore"}
    provider.script("m-solo", Says(calls=[Call("Task", task)]))
    provider.script("m-solo", Says(calls=[reads("a")]), Says(calls=[reads("b")]))
    provider.script("m-solo", TOO_LONG, Says(SUMMARY), Says("found"), Says("done"))
    async with bench(provider, tmp_path, compacting(task={})) as work:
        assert (await work.run("solo")).content == "done"
    assert len(work.of(CompactionEnd)) == 1


async def test_a_child_in_a_tree_pays_for_its_summary(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    files(tmp_path)
    provider.script("m-boss", Says(calls=[calls_agent("solo", "read")]), Says("done"))
    provider.script("m-solo", Says(calls=[reads("a")]), Says(calls=[reads("b")]))
    provider.script("m-solo", TOO_LONG, Says(SUMMARY, usage=(4_000, 70)), Says("found"))
    agents = {**agent("boss", sub_agents=["solo"]), **compacting()}
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("boss")
    assert result.tree is not None
    assert result.tree.tokens == 4_000 + 70 + 5 * 15
