"""Runs beyond the limit wait for their turn."""

import os
import signal
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import RunCancelledError, RunError
from support.hosts import stage
from support.scripted_provider import (
    Answer,
    Hold,
    Received,
    Says,
    ScriptedProvider,
)
from support.team import TEAM


async def test_runs_beyond_the_limit_wait_and_begin_in_their_order(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    holds = [Hold() for _ in range(5)]
    for number, hold in enumerate(holds):
        provider.script("m-left", Answer(Says("done"), match=f"run {number}", hold=hold))
    async with stage(tmp_path, TEAM, limit=lambda: 2) as at:
        runs = [at.start("left", f"run {number}") for number in range(5)]
        assert [run.waits for run in runs] == [False, False, True, True, True]
        await holds[0].arrived()
        await holds[1].arrived()
        assert at.runs.cancel(runs[3].id)
        with pytest.raises(RunCancelledError):
            await runs[3].result()
        assert [run.waits for run in runs] == [False, False, True, False, True]

        holds[1].release()
        await runs[1].result()
        await holds[2].arrived()
        assert runs[4].waits
        for hold in holds:
            hold.release()

        assert [(await runs[number].result()).content for number in (0, 2, 4)] == ["done"] * 3
        assert provider.max_in_flight == 2
        assert [body_of(request) for request in provider.requests[2:]] == ["run 2", "run 4"]


def body_of(request: Received) -> str:
    return str(request.body["messages"][-1]["content"])


async def test_a_limit_that_is_raised_lets_those_who_wait_begin(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("first"), hold=hold), Says("second"))
    limit = 1
    async with stage(tmp_path, TEAM, limit=lambda: limit) as at:
        first = at.start("left")
        await hold.arrived()
        second = at.start("left")
        limit = 0
        assert second.waits

        at.runs.admit()

        assert (await second.result()).content == "second"
        hold.release()
        assert (await first.result()).content == "first"


async def test_who_waits_gets_a_new_host_if_the_old_one_dies(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold), Says("well"))
    async with stage(tmp_path, TEAM, limit=lambda: 1) as at:
        first, second = at.start("left"), at.start("left")
        await hold.arrived()

        os.kill(at.hosts()[0], signal.SIGKILL)

        with pytest.raises(RunError, match="signal 9"):
            await first.result()
        assert (await second.result()).content == "well"


async def test_who_waits_when_the_server_ends_is_told(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold))
    async with stage(tmp_path, TEAM, limit=lambda: 1) as at:
        runs = [at.start("left") for _ in range(3)]
        await hold.arrived()

        await at.runs.close()

        for run in runs:
            with pytest.raises(RunCancelledError):
                await run.result()
        assert len(provider.requests) == 1
