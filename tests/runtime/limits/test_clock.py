"""The clock of a run, which stands still while a person thinks."""

from __future__ import annotations

import math

import anyio
import pytest

from axe_lsp.runtime.limits.clock import LONG_PATIENCE, PATIENCE, Clock
from support.passing_time import PassingTime, passing_time


def clock(above: Clock | None = None, limit: float = math.inf, seconds: float = math.inf) -> Clock:
    made = Clock(anyio.CancelScope(), above, limit)
    made.start(seconds)
    return made


async def stand_still(asking: Clock) -> float:
    """Return how much later a clock's time is over after a question, at least."""
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


async def over_after(clock: Clock, time: PassingTime, seconds: float) -> bool:
    """Return whether the time is over after so many more seconds, and not just before."""
    await time.goes_by(seconds - 0.5)
    assert not clock.is_over
    await time.goes_by(1)
    return clock.is_over


async def test_a_run_that_is_watched_has_to_make_progress() -> None:
    with passing_time() as time:
        watched = clock()
        watched.watch()
        await time.goes_by(100)
        watched.progress()
        assert await over_after(watched, time, PATIENCE + 1)
        assert watched.is_idle
        assert watched.deadline == math.inf


async def test_nothing_need_be_heard_while_it_waits_for_what_has_a_limit_of_its_own() -> None:
    with passing_time() as time:
        watched = clock()
        watched.watch()
        with watched.waiting(), watched.waiting():
            await time.goes_by(10_000)
            assert not watched.is_over
        assert await over_after(watched, time, PATIENCE + 1)


async def test_what_arrives_whole_may_take_longer() -> None:
    with passing_time() as time:
        watched = clock()
        watched.watch()
        with watched.silence():
            assert watched.patience == LONG_PATIENCE
            assert await over_after(watched, time, LONG_PATIENCE + 1)


async def test_a_question_stops_that_clock_as_well() -> None:
    with passing_time() as time:
        root = clock()
        root.watch()
        with clock(root).stopped():
            await time.goes_by(10_000)
            assert not root.is_over
        assert await over_after(root, time, PATIENCE + 1)


async def test_why_work_has_ended_does_not_change_while_it_ends() -> None:
    with passing_time() as time:
        with anyio.CancelScope() as scope:
            own = Clock(scope)
            own.watch()
            with own.silence():
                await time.goes_by(LONG_PATIENCE + 2)
                try:
                    await anyio.sleep(1)
                finally:
                    own.progress()
        assert scope.cancelled_caught
        assert (own.is_idle, own.patience) == (True, LONG_PATIENCE)


async def test_work_whose_time_is_put_off_is_cancelled_when_that_is_over() -> None:
    with passing_time() as time:
        with anyio.CancelScope() as scope:
            own = Clock(scope)
            own.watch()
            for _ in range(3):
                await time.goes_by(PATIENCE)
                own.progress()
                assert not scope.cancel_called
            await time.goes_by(PATIENCE)
            assert not scope.cancel_called
            await time.goes_by(2)
        assert scope.cancelled_caught


async def test_a_time_is_stated_for_all_below() -> None:
    scope = anyio.CancelScope()
    root, limited = Clock(scope), Clock(scope, limit=5)
    assert not Clock(scope, root).is_stated
    assert Clock(scope, limited).is_stated
