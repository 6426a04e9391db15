"""A run is stopped at any moment: whatever has begun ends, in order, and nothing goes on working."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import RunCancelledError
from axe_lsp.runtime.events import AgentBegin, AgentEnd, Event, ToolBegin, ToolEnd
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import RunRequest
from support.engines import Bench, agent, bench
from support.scripted_provider import Answer, Call, Says, ScriptedProvider, calls_agent

TEAM = {
    **agent("lead", sub_agents=["left", "right"], tools=["list_directory"]),
    **agent("left", sub_agents=["below"]),
    **agent("right", tools=["list_directory"]),
    **agent("below"),
}


def script(provider: ScriptedProvider) -> None:
    look = Call("list_directory", {"path": "."})
    both = [calls_agent("left", "l"), look, calls_agent("right", "r")]
    conversations = {
        "lead": (Says("I ask.", calls=both), Says("Done.")),
        "left": (Says(calls=[calls_agent("below", "b")]), Says("left is done")),
        "right": (Says(calls=[look]), Says("right is done")),
        "below": (Says("below is done"), Says("")),
    }
    for name, (first, second) in conversations.items():
        with_results = Answer(second, match="tool_call_id", repeat=True)
        provider.script(f"m-{name}", with_results, Answer(first, repeat=True))


Stop = Callable[[Bench, "asyncio.Task[object]", Event], object]


def stop_the_root(work: Bench, _: asyncio.Task[object], event: Event) -> None:
    work.engine.cancel(event.run.root_run_id)


def stop_whom_it_happens_to(work: Bench, _: asyncio.Task[object], event: Event) -> None:
    work.engine.cancel(event.run.run_id)


def stop_the_root_a_little_later(work: Bench, _: asyncio.Task[object], event: Event) -> None:
    asyncio.get_running_loop().call_soon(work.engine.cancel, event.run.root_run_id)


def cancel_the_task(_: Bench, task: asyncio.Task[object], event: Event) -> None:
    task.cancel()


def assert_all_that_began_has_ended(events: list[Event]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    open_runs: list[str] = []
    parents = {}
    open_calls: list[tuple[str, str]] = []
    for event in events:
        run_id = event.run.run_id
        match event:
            case AgentBegin():
                open_runs.append(run_id)
                parents[run_id] = event.run.parent_run_id
            case AgentEnd():
                open_runs.remove(run_id)
                assert run_id not in [parents[each] for each in open_runs], "a child outlives it"
            case ToolBegin():
                open_calls.append((run_id, event.call_id))
            case ToolEnd():
                open_calls.remove((run_id, event.call_id))
    assert (open_runs, open_calls) == ([], [])


def status_of(ended: object) -> str:
    """Return how the root of a run has ended, by what its caller got."""
    if isinstance(ended, RunResult):
        return ended.status
    assert isinstance(ended, (RunCancelledError, asyncio.CancelledError))
    return "cancelled"


@pytest.mark.req("001-11.2")
@pytest.mark.parametrize(
    "stop",
    [stop_the_root, stop_whom_it_happens_to, stop_the_root_a_little_later, cancel_the_task],
)
async def test_whatever_has_begun_ends_whenever_a_run_is_stopped(
    provider: ScriptedProvider, tmp_path: Path, stop: Stop
) -> None:
    script(provider)
    statuses = []
    async with bench(provider, tmp_path, TEAM) as work:
        for moment in count(1):
            work.events.clear()
            run = asyncio.create_task(work.engine.run(RunRequest("lead")))
            work.on_event = stop_at(moment, stop, work, run)
            (ended,) = await asyncio.gather(run, return_exceptions=True)

            assert_all_that_began_has_ended(work.events)
            *_, last = work.of(AgentEnd)
            # asyncio forgets what a task has returned that is cancelled in its very last step.
            forgotten = stop is cancel_the_task and last.status == "completed"
            assert forgotten or last.status == status_of(ended)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert not work.engine.cancel(last.run.run_id)
            statuses.append(last.status)
            if len(work.events) < moment:
                break  # It was over before that moment came.
    assert statuses[0] == "cancelled"
    assert statuses[-1] == "completed"
    assert len(statuses) > 30


def stop_at(
    moment: int, stop: Stop, work: Bench, run: asyncio.Task[object]
) -> Callable[[Event], None]:
    def on_event(event: Event) -> None:
        if event.seq == moment:
            stop(work, run, event)

    return on_event
