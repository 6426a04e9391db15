"""How the calls of one answer are executed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from axe_lsp.runtime.events import ToolEnd
from axe_lsp.runtime.loop import CallOrder, execute_calls
from axe_lsp.runtime.messages import ToolCall, ToolResult
from support.engines import agent, bench
from support.scripted_provider import Call, Says, ScriptedProvider

CALLS = [ToolCall(str(number), "t") for number in range(3)]


@pytest.mark.req("001-5.5a")
async def test_a_single_call_runs_in_place() -> None:
    tasks = []

    async def execute(call: ToolCall) -> ToolResult:
        tasks.append(asyncio.current_task())
        return ToolResult(call.id, "r")

    assert await execute_calls(CALLS[:1], execute, ["apart"]) == (ToolResult("0", "r"),)
    assert tasks == [asyncio.current_task()]


@pytest.mark.req("001-11.3", "001-5.5b")
async def test_results_keep_the_order_of_the_calls() -> None:
    others = [asyncio.Event() for _ in CALLS]

    async def execute(call: ToolCall) -> ToolResult:
        number = int(call.id)
        if number + 1 < len(CALLS):  # Each waits for the one behind it.
            await others[number + 1].wait()
        others[number].set()
        return ToolResult(call.id, f"r{number}")

    results = await execute_calls(CALLS, execute, ["apart"] * 3)
    assert [result.content for result in results] == ["r0", "r1", "r2"]


@pytest.mark.req("001-11.5", "001-5.5c")
async def test_one_after_the_other_when_not_parallel() -> None:
    story = []

    async def execute(call: ToolCall) -> ToolResult:
        story.append(f"begin {call.id}")
        await asyncio.sleep(0)
        story.append(f"end {call.id}")
        return ToolResult(call.id, "r")

    await execute_calls(CALLS[:2], execute, ["changes"] * 2)
    assert story == ["begin 0", "end 0", "begin 1", "end 1"]


@pytest.mark.parametrize(
    ("order", "at_once"),
    [
        (["reads", "reads", "reads"], ["012"]),
        (["reads", "reads", "changes"], ["01", "2"]),
        (["changes", "reads", "reads"], ["0", "12"]),
        (["changes", "apart", "changes"], ["01", "2"]),
        (["reads", "changes", "reads"], ["0", "1", "2"]),
        (["apart", "changes", "apart"], ["012"]),
    ],
)
async def test_calls_see_what_those_before_them_have_changed(
    order: list[CallOrder], at_once: list[str]
) -> None:
    working: set[str] = set()
    seen: list[str] = []

    async def execute(call: ToolCall) -> ToolResult:
        working.add(call.id)
        for _ in range(5):
            await asyncio.sleep(0)
        seen.append("".join(sorted(working)))
        await asyncio.sleep(0)
        working.discard(call.id)
        return ToolResult(call.id, "r")

    await execute_calls(CALLS, execute, order)
    assert list(dict.fromkeys(seen)) == at_once


async def test_a_limit_on_how_many_work_at_the_same_time() -> None:
    working, most = 0, 0

    async def execute(call: ToolCall) -> ToolResult:
        nonlocal working, most
        working += 1
        most = max(most, working)
        for _ in range(5):
            await asyncio.sleep(0)
        working -= 1
        return ToolResult(call.id, "r")

    await execute_calls(CALLS, execute, ["apart"] * 3, max_concurrent=2)
    assert most == 2


async def test_an_answer_has_no_more_calls_than_are_stated(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axe_lsp.runtime.loop.MAX_CALLS", 2)
    calls = [Call("list_directory", {"path": "."}, str(number)) for number in range(4)]
    provider.script("m-a", Says(calls=calls), Says("done"))
    async with bench(provider, tmp_path, agent("a", tools=["list_directory"])) as work:
        assert (await work.run("a")).content == "done"
    assert len(work.of(ToolEnd)) == 2
    told = [each["content"] for each in provider.asked("m-a")[-1].body["messages"][-4:]]
    assert [text.startswith("Error: an answer may have at most") for text in told] == [
        False,
        False,
        True,
        True,
    ]
    assert any("2 tool calls of one answer were not executed" in each for each in work.warnings)
