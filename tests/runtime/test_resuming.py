"""Runs that go on from their steps, from each of them: what is sent is what would have been sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import (
    AgentEnd,
    AgentResume,
    Event,
    RunIds,
    ToolBegin,
    ToolEnd,
    TurnBegin,
)
from axe_lsp.runtime.resuming.previous_run import before
from axe_lsp.runtime.run_log import Asked, Begun, Known, Log, decoded
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.approval import ApprovalRequest, allowed
from support.engines import agent, bench
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

ROOT = "0123456789abcdef" * 2
TOO_LONG = Refuses(400, "This model's maximum context length is 8192 tokens.")

Answers = Sequence[Says | Refuses]


class Kept:
    """The steps of a run, each with the number of requests and of events before it. It is a `StepSink`."""

    def __init__(self, provider: ScriptedProvider) -> None:
        self.steps: list[tuple[Step, int, int]] = []
        self.events: list[Event] = []
        self.commits = 0
        self._provider = provider

    def keep(self, step: Step) -> None:
        self.steps.append((step, len(self._provider.requests), len(self.events)))

    async def committed(self, root: str) -> None:
        assert root == ROOT
        self.commits += 1

    def known(self, count: int) -> Known:
        """Return what is known of the run by its first steps."""
        steps = [step for step, *_ in self.steps[:count]]
        after = self.steps[count - 1][2]
        began = {event.run.run_id: Begun(event.time, 100) for event in self.events[:after]}
        return Known(
            {(each.run_id, each.turn, each.call, each.kind): each.data for each in steps},
            began,
            after,
        )


READS = Says("I look.", [Call("read_file", {"path": "a"})], usage=(500, 5))
AGAIN = Says(calls=[Call("read_file", {"path": "b"})], usage=(3_500, 5))

CASES: Mapping[str, tuple[dict[str, Any], Answers]] = {
    "plain": ({}, [READS, AGAIN, Says("done")]),
    "shortened": ({}, [READS, AGAIN, TOO_LONG, Says("done")]),
    "summed up": (
        {"context": {"compaction": True}},
        [READS, AGAIN, TOO_LONG, Says("It is a."), READS, Says("done")],
    ),
    "repaired": (
        {"output": {"type": "object"}},
        [READS, Says("no"), Says("still no"), Says('{"a": 1}')],
    ),
    "of an unknown tool": ({}, [Says(calls=[Call("fly", {})]), Says("done")]),
}


async def work(
    provider: ScriptedProvider,
    folder: Path,
    keys: Mapping[str, Any],
    answers: Answers,
    known: Known | None = None,
) -> tuple[RunResult, Kept]:
    """Run the agent `solo`, or go on with what is known of it."""
    kept = Kept(provider)
    provider.script("m-solo", *answers)
    agents = agent("solo", tools=["read_file", "write_file"], **keys)
    async with bench(provider, folder, agents, steps=kept, approve=allowed) as made:
        made.on_event = kept.events.append
        request = RunRequest("solo", "read all")
        return await made.engine.run(request, ROOT, known=known), kept


@pytest.mark.parametrize("case", CASES)
async def test_from_each_step_a_run_sends_what_it_would_have_sent(
    provider: ScriptedProvider, tmp_path: Path, case: str
) -> None:
    keys, answers = CASES[case]
    for name in "ab":
        (tmp_path / name).write_text(f"{name * 70}\n" * 100)
    whole, kept = await work(provider, tmp_path, keys, answers)
    bodies = [request.raw for request in provider.requests]
    assert len(bodies) == len(answers)

    for count in range(1, len(kept.steps) + 1):
        _, sent, told = kept.steps[count - 1]
        provider.requests.clear()
        again, more = await work(provider, tmp_path, keys, answers[sent:], known=kept.known(count))

        assert [request.raw for request in provider.requests] == bodies[sent:]
        assert (again.content, again.output) == (whole.content, whole.output)
        assert (again.turns, again.tool_calls) == (whole.turns, whole.tool_calls)
        assert (again.input_tokens, again.output_tokens) == (
            whole.input_tokens,
            whole.output_tokens,
        )
        assert isinstance(more.events[0], AgentResume)
        assert [event.seq for event in more.events] == list(
            range(told + 1, told + 1 + len(more.events))
        )


@pytest.mark.parametrize("case", CASES)
async def test_from_each_step_a_session_has_a_conversation_whose_roles_alternate(
    provider: ScriptedProvider, tmp_path: Path, case: str
) -> None:
    keys, answers = CASES[case]
    for name in "ab":
        (tmp_path / name).write_text(f"{name * 70}\n" * 100)
    _, kept = await work(provider, tmp_path, keys, answers)

    for count in range(2, len(kept.steps) + 1):  # From the first request on.
        former = Log(known=kept.known(count)).of(RunIds(ROOT, ROOT, "solo"))
        told = await before(former)
        is_answer = [message.role == "assistant" for message in told.messages]
        assert is_answer == [number % 2 == 1 for number in range(len(told.messages))]
        assert is_answer[-1]
    assert told.messages[-1].content == answers[-1].text


async def test_a_run_of_which_all_is_known_sends_nothing_and_remembers_once(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    memory = tmp_path / "memory.md"
    keys = {"memory": {"enabled": True, "path": str(memory)}}
    (tmp_path / "a").write_text("a")
    _, kept = await work(provider, tmp_path, keys, [READS, Says("done")])
    remembered = memory.read_text()
    provider.requests.clear()

    result, again = await work(provider, tmp_path, keys, [], kept.known(len(kept.steps)))

    assert result.content == "done"
    assert provider.requests == []
    assert [type(event) for event in again.events] == [AgentResume, AgentEnd]
    assert memory.read_text() == remembered
    assert remembered.count("**Result:** done") == 1


async def test_only_a_call_that_may_change_something_waits_for_the_disk_and_is_not_repeated(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("a")
    writes = Call("write_file", {"path": "new", "content": "x"})
    answers = [READS, Says(calls=[writes]), Says("done")]
    _, kept = await work(provider, tmp_path, {}, answers)
    kinds = [step.kind for step, *_ in kept.steps]
    assert kinds == [
        "agent",
        "first",
        "answer",
        "result",
        "answer",
        "saved",
        "begun",
        "left",
        "result",
        "answer",
    ]
    assert kept.commits == 1
    (tmp_path / "new").unlink()

    _, again = await work(provider, tmp_path, {}, [Says("done")], kept.known(7))

    assert not (tmp_path / "new").exists()
    [end] = [event for event in again.events if isinstance(event, ToolEnd)]
    assert end.is_error
    assert "Whether it took effect is not known" in end.content
    assert "Whether it took effect is not known" in str(provider.requests[-1].body)


async def test_a_sub_agent_goes_on_in_its_own_turn(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    agents = agent("solo", sub_agents=["helper"]) | agent("helper", tools=["read_file"])
    kept = Kept(provider)
    provider.script("m-solo", Says(calls=[calls_agent("helper", "look")]), Says("done"))
    provider.script("m-helper", READS, AGAIN, Says("seen"))
    async with bench(provider, tmp_path, agents, steps=kept) as made:
        made.on_event = kept.events.append
        await made.engine.run(RunRequest("solo", "go"), ROOT)
    child = next(event.run.run_id for event in kept.events if event.run.depth)
    at = [(step.run_id, step.kind, step.turn) for step, *_ in kept.steps].index(
        (child, "result", 1)
    )
    provider.requests.clear()
    provider.script("m-helper", AGAIN, Says("seen"))
    provider.script("m-solo", Says("done"))
    again = Kept(provider)

    async with bench(provider, tmp_path, agents, steps=again) as made:
        made.on_event = again.events.append
        result = await made.engine.run(RunRequest("solo", "go"), ROOT, known=kept.known(at + 1))

    resumed = {event.run.run_id: event for event in again.events if isinstance(event, AgentResume)}
    assert resumed[child].turn == 2
    assert (resumed[child].saved.turns, resumed[child].saved.tool_calls) == (1, 1)
    turns = [
        (event.run.run_id, event.turn) for event in again.events if isinstance(event, TurnBegin)
    ]
    assert turns == [(child, 2), (child, 3), (ROOT, 2)]
    assert [event.name for event in again.events if isinstance(event, ToolBegin)] == [
        "call_agent",
        "read_file",
    ]
    assert result.tree is not None
    assert result.tree.input_tokens == 10 + 500 + 3_500 + 10 + 10


@pytest.mark.parametrize(("asked_ms", "status"), [(0, "timeout"), (99_000, "completed")])
async def test_the_time_of_questions_is_not_the_time_of_a_resumed_run(
    provider: ScriptedProvider, tmp_path: Path, asked_ms: int, status: str
) -> None:
    """It has worked for 99.99 of 100 seconds, or has been asking for most of them."""
    keys = {"timeout": 100}
    _, kept = await work(provider, tmp_path, keys, [Says("done")])
    known = kept.known(2)
    begun = {ROOT: Begun(known.runs[ROOT].time, 99_990, asked_ms)}

    ends: list[Event] = []
    hold = Hold()
    if status == "completed":
        hold.release()
    provider.script("m-solo", Answer(Says("done"), hold=hold))
    async with bench(provider, tmp_path, agent("solo", **keys), steps=kept) as made:
        made.on_event = ends.append
        with suppress(RunError):
            await made.engine.run(
                RunRequest("solo", "read all"), ROOT, known=replace(known, runs=begun)
            )

    assert isinstance(ends[-1], AgentEnd)
    assert ends[-1].status == status


async def test_a_question_that_a_person_thinks_about_is_kept_and_one_that_a_rule_answers_is_not(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    thinks = iter([0.0, 0.2])

    async def decide(_: ApprovalRequest) -> str:
        await asyncio.sleep(next(thinks))
        return ""

    writes = [Says(calls=[Call("write_file", {"path": path, "content": path})]) for path in "ab"]
    provider.script("m-solo", *writes, Says("done"))
    kept = Kept(provider)
    agents = agent("solo", tools=["write_file"])
    async with bench(provider, tmp_path, agents, steps=kept, approve=decide) as made:
        await made.engine.run(RunRequest("solo", "write"), ROOT)

    asked = [step for step, *_ in kept.steps if step.kind == "asked"]
    assert [step.call for step in asked] == [asked[0].call] * 2
    opened, answered = (decoded(step.data, Asked) for step in asked)
    assert opened.until == ""
    assert answered.until > asked[0].call
