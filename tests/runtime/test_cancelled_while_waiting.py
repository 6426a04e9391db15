"""A run is stopped at each place where it waits for somebody: it ends at once, and lets go of all.

What is stopped between two events is the matter of test_cancelled_at_any_moment.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from axe_lsp.runtime.children.isolation import CallerLink
from axe_lsp.runtime.errors import RunCancelledError
from axe_lsp.runtime.events import AgentEnd, TurnRetry
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.safety.approval import ApprovalRequest, allowed
from axe_lsp.runtime.services import always
from support.engines import Bench, agent, bench, running
from support.mcp_server import McpTestServer
from support.processes import wait_for_none
from support.scripted_provider import (
    PATIENCE,
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.waiting import wait_until


@dataclass
class Place:
    """Somewhere to wait: the agent that gets there, when it is there, and when it has let go."""

    keys: dict[str, Any] = field(default_factory=dict)
    answers: tuple[Says | Answer, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    there: Callable[[Bench], Awaitable[object]] = lambda _: asyncio.sleep(0)
    left: Callable[[], Awaitable[object]] = lambda: asyncio.sleep(0)
    of_child: tuple[Answer, ...] = ()


Scene = Callable[[Path, ExitStack], Place]


def before_the_headers(_: Path, __: ExitStack) -> Place:
    hold = Hold()
    answers = (Answer(Says("late"), hold=hold),)
    return Place(answers=answers, there=lambda _: hold.arrived(), left=hold.hung_up)


def in_the_middle_of_a_stream(_: Path, __: ExitStack) -> Place:
    hold = Hold(chunk=3)
    answers = (Answer(Says("one two three four"), hold=hold),)
    streams = {"streams": always}
    return Place({}, answers, streams, lambda _: hold.arrived(), hold.hung_up)


def in_the_second_request(_: Path, __: ExitStack) -> Place:
    hold = Hold()
    look = Says(calls=[Call("list_directory", {"path": "."})])
    answers = (look, Answer(Says("late"), hold=hold))
    keys = {"tools": ["list_directory"]}
    return Place(keys, answers, {}, lambda _: hold.arrived(), hold.hung_up)


def while_an_answer_is_mended(_: Path, __: ExitStack) -> Place:
    hold = Hold()
    answers = (Says("no JSON"), Answer(Says("{}"), hold=hold))
    keys = {"output": {"type": "object"}}
    return Place(keys, answers, {}, lambda _: hold.arrived(), hold.hung_up)


def while_it_waits_before_it_asks_again(_: Path, __: ExitStack) -> Place:
    keys = {"retry": {"max_retries": 1, "initial_delay_ms": 60_000, "max_delay_ms": 60_000}}
    answers = (Answer(Refuses(529, "busy")),)
    return Place(keys, answers, {}, lambda work: work.heard(TurnRetry))


def while_the_provider_wants_to_be_left_alone(_: Path, __: ExitStack) -> Place:
    keys = {"retry": {"max_retries": 1, "initial_delay_ms": 1}}
    answers = (Answer(Refuses(429, "slowly", headers={"Retry-After": "60"})),)
    return Place(keys, answers, {}, lambda work: work.heard(TurnRetry))


def during_a_command(folder: Path, _: ExitStack) -> Place:
    mark = f"{os.getpid()}{abs(hash(folder)) % 10_000}"
    command = f"touch started; sleep 1000{mark}"
    keys = {"tools": ["run_command"]}
    answers = (Says(calls=[Call("run_command", {"command": command})]),)

    def wait_until_started() -> None:
        wait_until((folder / "started").exists)

    def ended() -> Awaitable[None]:
        return asyncio.to_thread(wait_for_none, f"1000{mark}")

    return Place(
        keys, answers, {"approve": allowed}, lambda _: asyncio.to_thread(wait_until_started), ended
    )


def while_a_person_thinks(_: Path, __: ExitStack) -> Place:
    asked, taken_back = asyncio.Event(), asyncio.Event()

    async def think(_: ApprovalRequest) -> str:
        asked.set()
        try:
            await asyncio.sleep(1000)
        finally:
            taken_back.set()
        return ""

    keys = {"tools": ["write_file"]}
    answers = (Says(calls=[Call("write_file", {"path": "a", "content": "b"})]),)
    return Place(keys, answers, {"approve": think}, lambda _: asked.wait(), taken_back.wait)


def while_a_server_answers(_: Path, stack: ExitStack) -> Place:
    server = stack.enter_context(McpTestServer("streamable-http", "slow"))
    keys = {"mcp_servers": [server.table("s")]}
    answers = (Says(calls=[Call("slow", {})]),)
    return Place(
        keys,
        answers,
        {"approve": allowed},
        lambda _: asyncio.to_thread(server.wait_for_calls, 1),
        lambda: asyncio.to_thread(server.wait_until_left),
    )


def while_a_child_waits(_: Path, __: ExitStack) -> Place:
    hold = Hold()
    keys = {"sub_agents": ["child"]}
    answers = (Says(calls=[calls_agent("child", "t")]),)
    child = (Answer(Says("late"), hold=hold),)
    return Place(keys, answers, {}, lambda _: hold.arrived(), hold.hung_up, child)


def while_a_child_gets_its_process(_: Path, __: ExitStack) -> Place:
    starts, gave_up = asyncio.Event(), asyncio.Event()

    async def elsewhere(_: Order, __: CallerLink) -> RunResult:
        starts.set()
        try:
            await asyncio.sleep(1000)
        finally:
            gave_up.set()
        raise AssertionError

    keys = {"sub_agents": ["apart"]}
    answers = (Says(calls=[calls_agent("apart", "t")]),)
    return Place(keys, answers, {"elsewhere": elsewhere}, lambda _: starts.wait(), gave_up.wait)


SCENES: list[Scene] = [
    before_the_headers,
    in_the_middle_of_a_stream,
    in_the_second_request,
    while_an_answer_is_mended,
    while_it_waits_before_it_asks_again,
    while_the_provider_wants_to_be_left_alone,
    during_a_command,
    while_a_person_thinks,
    while_a_server_answers,
    while_a_child_waits,
    while_a_child_gets_its_process,
]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.req("001-11.2")
@pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped", "its caller gives up"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_a_run_that_waits_ends_at_once_and_lets_go(
    provider: ScriptedProvider, tmp_path: Path, stack: ExitStack, scene: Scene, is_stopped: bool
) -> None:
    place = scene(tmp_path, stack)
    provider.script("m-solo", *place.answers)
    provider.script("m-child", *place.of_child)
    agents = agent("solo", timeout=900, **place.keys)
    agents |= agent("child") | agent("apart", isolation={"mode": "process"})
    async with (
        bench(provider, tmp_path, agents, **place.options) as work,
        running(work.run("solo")) as run,
    ):
        await place.there(work)
        began = anyio.current_time()
        if is_stopped:
            work.engine.cancel(work.events[0].run.run_id)
        else:
            run.cancel()
        (ended,) = await asyncio.gather(run, return_exceptions=True)
        took = anyio.current_time() - began
    await place.left()
    assert isinstance(ended, RunCancelledError if is_stopped else asyncio.CancelledError)
    assert [end.status for end in work.of(AgentEnd)] == ["cancelled"] * len(work.of(AgentEnd))
    assert work.events[-1].run.depth == 0
    assert isinstance(work.events[-1], AgentEnd)
    assert took < PATIENCE
