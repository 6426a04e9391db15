"""What is told about a run while it goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    Event,
    RunIds,
    TextDelta,
    ThoughtDelta,
    ToolBegin,
    ToolEnd,
    TurnBegin,
    TurnEnd,
)
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.services import always
from support.answers import DIALECTS
from support.engines import agent, bench, running
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Raw,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)


def story(events: list[Event]) -> list[str]:
    """Return the events in a word each."""
    return [f"{type(event).__name__} {event.run.agent}" for event in events]


@pytest.mark.req(
    "001-9.4", "001-10.1", "002-16", "003-4", "003-5", "000-30", "002-1", "002-5", "002-24", "003-6"
)
async def test_the_story_of_a_delegation(provider: ScriptedProvider, tmp_path: Path) -> None:
    call = calls_agent("helper", "do it", "ctx", call_id="c1")
    provider.script("m-p", Says("On it.", [call], usage=(1, 2)), Says("Final"))
    provider.script("m-helper", Says("helped", usage=(3, 4)))
    agents = agent("p", sub_agents=["helper"]) | agent("helper")
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("p", "the task")
    assert story(work.events) == [
        "AgentBegin p",
        "TurnBegin p",
        "TurnEnd p",
        "ToolBegin p",
        "AgentBegin helper",
        "TurnBegin helper",
        "TurnEnd helper",
        "AgentEnd helper",
        "ToolEnd p",
        "TurnBegin p",
        "TurnEnd p",
        "AgentEnd p",
    ]
    begin, child = work.of(AgentBegin)
    assert (begin.task, begin.model, begin.parent_agent) == ("the task", "openai/m-p", None)
    assert begin.run == RunIds(result.run_id, result.run_id, "p", 0, None)
    assert (child.task, child.model, child.parent_agent) == ("do it", "openai/m-helper", "p")
    assert child.run.parent_run_id == child.run.root_run_id == result.run_id
    assert child.run.depth == 1

    first, _, last = work.of(TurnBegin)
    assert (first.turn, first.messages, first.pending_tool_calls) == (1, 1, 0)
    assert (last.turn, last.messages, last.pending_tool_calls) == (2, 3, 1)
    answered = work.of(TurnEnd)[0]
    assert (answered.text, answered.stop_reason) == ("On it.", "tool_calls")
    assert (answered.input_tokens, answered.output_tokens) == (1, 2)
    assert answered.tool_calls == ({"id": "c1", "name": "call_agent", "arguments": call.arguments},)
    (tool,) = work.of(ToolBegin)
    assert (tool.turn, tool.call_id, tool.name) == (1, "c1", "call_agent")
    assert tool.arguments == call.arguments
    (done,) = work.of(ToolEnd)
    assert (done.is_error, done.content, done.child_run_id) == (False, "helped", child.run.run_id)

    child_end, end = work.of(AgentEnd)
    assert (child_end.status, child_end.content_length, child_end.error) == ("completed", 6, None)
    assert (child_end.input_tokens, child_end.output_tokens) == (3, 4)
    assert (end.turns, end.tool_calls, end.status) == (2, 1, "completed")


async def test_events_are_numbered_without_gaps_over_the_whole_tree(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    calls = [calls_agent("c", str(number)) for number in range(5)]
    provider.script("m-p", Answer(Says(calls=calls), match="the-only"), Says("F"), Says("again"))
    provider.script("m-c", Answer(Says("r"), repeat=True))
    agents = agent("p", sub_agents=["c"], system_prompt="the-only") | agent("c")
    async with bench(provider, tmp_path, agents) as work:
        one = await work.run("p")
        two = await work.run("p")
    for run in (one, two):
        numbers = [event.seq for event in work.events if event.run.root_run_id == run.run_id]
        assert numbers == list(range(1, len(numbers) + 1))


def test_times_are_iso_8601_in_utc_with_milliseconds_and_never_run_back() -> None:
    events: list[Event] = []
    journal = Journal(events.append)
    for _ in range(3):
        journal.emit(TextDelta(run=RunIds("a", "a", "x"), turn=1, delta="."))
    times = [event.time for event in events]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time) for time in times)
    assert times == sorted(times)


async def test_a_turn_is_heard_while_a_child_is_still_at_work(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-p", Says(calls=[calls_agent("slow", "1"), calls_agent("ok", "2")]), Says())
    provider.script("m-slow", Answer(Says("late"), hold=hold))
    provider.script("m-ok", Says("done"))
    agents = agent("p", sub_agents=["slow", "ok"]) | agent("slow") | agent("ok")
    async with bench(provider, tmp_path, agents) as work, running(work.run("p")) as run:
        turn = await work.heard(TurnEnd, lambda end: end.run.agent == "ok")
        assert turn.text == "done"
        await hold.arrived()
        answered = [each.run.agent for each in work.events if isinstance(each, TurnEnd)]
        assert answered == ["p", "ok"]
        hold.release()
        await run


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_text_is_heard_as_it_is_written(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    chunk = {"anthropic": 4, "responses": 5}.get(dialect, 2)
    hold = Hold(chunk)
    provider.script("m-solo", Answer(Says("Once upon a time", usage=(7, 8)), hold=hold))
    agents = agent("solo", dialect)
    async with (
        bench(provider, tmp_path, agents, streams=always) as work,
        running(work.run("solo")) as run,
    ):
        delta = await work.heard(TextDelta)
        assert (delta.turn, delta.delta) == (1, "Once ")
        assert not run.done()
        hold.release()
        result = await run
    assert [event.delta for event in work.of(TextDelta)] == ["Once ", "upon ", "a ", "time"]
    assert (result.content, result.input_tokens, result.output_tokens) == ("Once upon a time", 7, 8)
    assert provider.requests[0].streams


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_tree_can_be_streamed_as_well(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-p", Says("I ask.", [calls_agent("c", "t")]), Says("The end"))
    provider.script("m-c", Says("From below"))
    agents = agent("p", dialect, sub_agents=["c"]) | agent("c", dialect)
    async with bench(provider, tmp_path, agents, streams=always) as work:
        result = await work.run("p")
    heard = [(event.run.agent, event.turn, event.delta) for event in work.of(TextDelta)]
    assert heard == [
        ("p", 1, "I "),
        ("p", 1, "ask."),
        ("c", 1, "From "),
        ("c", 1, "below"),
        ("p", 2, "The "),
        ("p", 2, "end"),
    ]
    assert (result.content, result.tool_calls) == ("The end", 1)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_who_asks_for_a_stream_and_gets_none_hears_the_text_once(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-solo", Answer(Says("All at once"), whole=True))
    async with bench(provider, tmp_path, agent("solo", dialect), streams=always) as work:
        result = await work.run("solo")
    assert [event.delta for event in work.of(TextDelta)] == ["All at once"] == [result.content]


async def test_a_child_that_could_not_be_loaded_began_and_ended(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Says(calls=[calls_agent("ghost", "x")]), Says("F"))
    async with bench(provider, tmp_path, agent("p", sub_agents=["ghost"])) as work:
        await work.run("p")
    begin = work.of(AgentBegin)[1]
    end = work.of(AgentEnd)[0]
    assert (begin.run.agent, begin.model) == ("ghost", "")
    assert (end.status, end.error) == (
        "failed",
        'failed to load agent "ghost": agent config not found: ghost',
    )


async def test_a_refused_call_starts_no_run(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-p", Says(calls=[calls_agent("other", "x"), Call("zz", {}, "2")]), Says("F"))
    async with bench(provider, tmp_path, agent("p", sub_agents=["c"])) as work:
        await work.run("p")
    assert len(work.of(AgentBegin)) == 1
    assert [(end.is_error, end.child_run_id) for end in work.of(ToolEnd)] == [(True, None)] * 2


async def test_what_is_told_of_a_long_result_is_bounded(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Says(calls=[calls_agent("c", "x")]), Says("F"))
    provider.script("m-c", Says("x" * 30_000))
    async with bench(provider, tmp_path, agent("p", sub_agents=["c"]) | agent("c")) as work:
        await work.run("p")
    assert len(work.of(ToolEnd)[0].content) == ToolEnd.MAX_CONTENT
    assert len(provider.requests[-1].body["messages"][-1]["content"]) == 30_000


async def test_a_failure_is_told(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-o", Refuses(500, "boom"))
    async with bench(provider, tmp_path, agent("o")) as work:
        with pytest.raises(Exception, match="boom"):
            await work.run("o")
    (end,) = work.of(AgentEnd)
    assert (end.status, end.error) == ("failed", "server: boom")


async def test_the_caller_may_choose_the_runs_id(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-o", Says("r"))
    async with bench(provider, tmp_path, agent("o")) as work:
        result = await work.engine.run(RunRequest("o"), run_id="mine")
    assert result.run_id == "mine"
    assert {event.run.run_id for event in work.events} == {"mine"}


async def test_a_run_says_where_it_works_if_that_is_not_the_workspace(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    provider.script("m-p", Says(calls=[calls_agent("helper", "do it")]), Says("Final"))
    provider.script("m-helper", Says("helped"))
    agents = agent("p", sub_agents=["helper"]) | agent("helper", workdir="docs")
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p", "the task")
    begins = [event for event in work.events if isinstance(event, AgentBegin)]
    assert [begin.workdir for begin in begins] == [None, str(tmp_path / "docs")]


@pytest.mark.parametrize("size", [1, 3, 10, 100])
@pytest.mark.parametrize(
    ("field", "kind"), [("content", TextDelta), ("reasoning_content", ThoughtDelta)]
)
async def test_streamed_text_that_looks_like_a_key_is_redacted_in_pieces_of_any_size(
    provider: ScriptedProvider,
    tmp_path: Path,
    field: str,
    kind: type[TextDelta] | type[ThoughtDelta],
    size: int,
) -> None:
    text = "It is sk-proj-0123456789abcdefghij, at postgres://me:word-of-mine@db/x. Done."
    pieces = [{field: text[start : start + size]} for start in range(0, len(text), size)]
    events = [{"choices": [{"delta": each}]} for each in (*pieces, {"content": "!"})]
    events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    headers = {"content-type": "text/event-stream"}
    provider.script("m-solo", Raw(body.encode(), headers=headers))
    async with bench(provider, tmp_path, agent("solo"), streams=always) as work:
        await work.run("solo")
    told = "".join(event.delta for event in work.of(kind))
    assert told.rstrip("!") == "It is [redacted], at postgres://[redacted]@db/x. Done."
