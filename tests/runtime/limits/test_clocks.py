"""A clock on the wall that jumps, as clocks do when they are set: no run ends early or late by it."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import RunTimeoutError
from axe_lsp.runtime.events import AgentEnd, TurnEnd
from support.engines import agent, bench
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider, calls_agent

DAY = 86_400


@pytest.fixture(autouse=True)
def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock finds it a day behind or ahead of the look before."""
    jumps = itertools.cycle((0, DAY, -DAY))
    now, now_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: now() + next(jumps))
    monkeypatch.setattr(time, "time_ns", lambda: now_ns() + next(jumps) * 10**9)


async def test_a_run_takes_the_time_that_it_takes(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("helper", "h")] * 2), Says("done"))
    provider.script("m-helper", Says("one"), Says("two"))
    agents = agent("lead", sub_agents=["helper"], sub_agents_config={"timeout": 60})
    async with bench(provider, tmp_path, agents | agent("helper")) as work:
        assert (await work.run("lead", timeout=60)).content == "done"
    times = [event.time for event in work.events]
    assert times != sorted(times)  # The clock did jump.
    assert [event.seq for event in work.events] == list(range(1, len(times) + 1))
    durations = [event.duration_ms for event in (*work.of(AgentEnd), *work.of(TurnEnd))]
    assert all(0 <= duration < 60_000 for duration in durations)


async def test_a_deadline_is_kept(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-solo", Answer(Says("late"), hold=Hold()))
    async with bench(provider, tmp_path, agent("solo")) as work:
        started = time.monotonic()
        with pytest.raises(RunTimeoutError):
            await work.run("solo", timeout=1)
        assert 1 <= time.monotonic() - started < 60
