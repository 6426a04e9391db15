"""The clock of a run, which stands still while a person thinks."""

from __future__ import annotations

import math

import anyio
import pytest

from axe_lsp.runtime.limits.clock import Clock


def clock(above: Clock | None = None, limit: float = math.inf, seconds: float = math.inf) -> Clock:
    made = Clock(anyio.CancelScope(), above, limit)
    made.start(seconds)
    return made


async def stand_still(asking: Clock) -> float:
    """How much later a clock's time is over after a question, at least."""
    before = asking.deadline
    with asking.stopped():
        await anyio.sleep(0.02)
        during = asking.deadline
    assert before < during <= asking.deadline
    return asking.deadline - before


async def test_the_time_is_the_own_one_or_that_of_a_run_above() -> None:
    now = anyio.current_time()
    above = clock(seconds=10)
    assert clock(above).deadline == above.deadline
    assert clock(above, seconds=5).deadline == pytest.approx(now + 5, abs=1)
    assert clock(limit=now + 2, seconds=5).deadline == now + 2
    assert clock().deadline == math.inf
    assert clock(limit=now).is_over
    assert not clock(seconds=60).is_over


async def test_a_question_stops_the_clocks_of_all_runs_above_and_of_no_other() -> None:
    root = clock(seconds=60)
    child = clock(root, seconds=50)
    other = clock(root, seconds=40)
    root_before, other_before = root.deadline, other.deadline
    assert await stand_still(child) >= 0.02
    assert root.deadline >= root_before + 0.02
    assert other.deadline == other_before


async def test_the_limit_of_a_caller_elsewhere_moves_as_it_does_there() -> None:
    assert await stand_still(clock(limit=anyio.current_time() + 60)) >= 0.02


async def test_questions_at_the_same_time_stop_it_once() -> None:
    root = clock(seconds=60)
    left, right = clock(root), clock(root)
    before, began = root.deadline, anyio.current_time()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stand_still, left)
        tasks.start_soon(stand_still, right)
    stood = root.deadline - before
    assert 0.02 <= stood <= anyio.current_time() - began


async def test_work_is_cancelled_when_the_rest_of_the_time_is_over() -> None:
    with anyio.CancelScope() as scope:
        own = Clock(scope)
        own.start(0.05)
        with own.stopped():
            await anyio.sleep(0.1)
        await anyio.sleep(60)
    assert scope.cancelled_caught
    assert own.is_over
