"""Runs that are cancelled end promptly with all that they called, whatever the host does."""

import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.supervisor.supervisor import Patience
from axe_lsp.runtime.errors import RunCancelledError, RunError
from support.hosts import UNHURRIED, stage
from support.scripted_provider import (
    Answer,
    Hold,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.team import TEAM, assert_gapless, both_at_work, ends
from support.waiting import promptly


@pytest.mark.req("001-11.2", "001-5.5f")
async def test_cancelling_a_root_ends_its_tree_within_a_second(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = await both_at_work(at, provider)

        with promptly():
            assert at.runs.cancel(run.id)
            with pytest.raises(RunCancelledError) as failure:
                await run.result()

        assert [status for _, status in ends(at, run)] == ["cancelled"] * 3
        assert_gapless(at, run)
        assert failure.value.partial is not None
        assert not at.runs.cancel(run.id)


@pytest.mark.req("001-13.1", "001-13.3")
async def test_a_cancelled_child_is_an_error_text_for_its_parent(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        hold = Hold()
        provider.script("m-lead", Says(calls=[calls_agent("left", "l")]), Says("I go on."))
        provider.script("m-left", Answer(Says("never"), hold=hold))
        run = at.start("lead")
        await hold.arrived()
        child = await at.event("axe/agent", agent="left", kind="begin")

        assert at.runs.cancel(child["runId"])

        assert (await run.result()).content == "I go on."
        assert ends(at, run) == [("left", "cancelled"), ("lead", "completed")]
        said = str(provider.asked("m-lead")[1].body["messages"])
        assert 'sub-agent "left" failed - cancelled' in said.replace('\\"', '"')


async def test_a_run_is_cancelled_before_it_begins(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = at.start("left")
        at.runs.cancel(run.id)

        with pytest.raises(RunCancelledError):
            await run.result()

        assert provider.requests == []


async def test_a_hanging_host_does_not_hold_up_a_cancellation(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM, patience=replace(Patience(), heartbeat=60)) as at:
        run = await both_at_work(at, provider)
        os.kill(at.hosts()[0], signal.SIGSTOP)

        with promptly():
            at.runs.cancel(run.id)
            with pytest.raises(RunError, match="did not react to the cancellation"):
                await run.result()

        assert_gapless(at, run)


DEAF = """
from axe_lsp.hosting.host import host
host.Host._cancel = lambda self, run_id: None
host.main()
"""


async def test_a_run_that_ignores_its_cancellation_is_given_up(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    patience = replace(UNHURRIED, cancel=1)
    async with stage(tmp_path, TEAM, DEAF, patience) as at:
        hold = Hold()
        provider.script("m-left", Answer(Says("too late"), hold=hold), Says("another"))
        run = at.start("left")
        await at.event("axe/turn", kind="begin")
        await hold.arrived()
        at.runs.cancel(run.id)

        with pytest.raises(RunCancelledError):
            await run.result()

        assert ends(at, run) == [("left", "cancelled")]
        heard = len(at.heard)
        hold.release()
        other = at.start("left")
        assert (await other.result()).content == "another"
        assert len(at.of(run.id)) == heard  # What the run still did is of no interest.
        assert len(at.hosts()) == 1
