"""Faults: whoever is killed, whatever hangs or floods, runs end clearly and no process remains."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.supervisor.orders import Run
from axe_lsp.runtime.errors import RunCancelledError, RunError
from support.hosts import MAIN, UNHURRIED, Stage, agent, stage
from support.processes import Sleepers, wait_for_none
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider, calls_agent
from support.waiting import promptly


def commanders(sleepers: Sleepers, provider: ScriptedProvider) -> Mapping[str, str]:
    """Return a lead that has two children run commands, each with three processes that never end."""
    endless = f"setsid {sleepers.command} & {sleepers.command} & {sleepers.command}"
    provider.script("m-lead", Says(calls=[calls_agent("worker", "w"), calls_agent("worker", "w")]))
    for _ in range(2):
        provider.script("m-worker", Says(calls=[Call("run_command", {"command": endless})]))
    return {"lead": agent("lead", "worker"), "worker": agent("worker", tools=["run_command"])}


def assert_all_ended(at: Stage, run: Run) -> list[tuple[str, str]]:
    """Return every run that began has ended, children first, and no number is missing; who ended how."""
    story = at.of(run.id)
    assert [params["seq"] for _, params in story] == list(range(1, len(story) + 1))
    agents = [params for method, params in story if method == "axe/agent"]
    begun = [each["runId"] for each in agents if each["kind"] == "begin"]
    ended = [each["runId"] for each in agents if each["kind"] == "end"]
    assert sorted(begun) == sorted(ended)
    assert ended[-1] == run.id
    return [(each["agent"], each["status"]) for each in agents if each["kind"] == "end"]


@pytest.mark.req("002-21")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
async def test_a_host_that_dies_takes_its_commands_along(
    tmp_path: Path, provider: ScriptedProvider, how: signal.Signals
) -> None:
    sleepers = Sleepers()
    team = commanders(sleepers, provider)
    async with stage(tmp_path, team) as at:
        run = at.start("lead", allow=("run_command",))
        await asyncio.to_thread(sleepers.wait_for, 6)
        os.kill(at.hosts()[0], how)

        with pytest.raises(RunError, match=f"signal {how.value}"):
            await run.result()

        await asyncio.to_thread(wait_for_none, sleepers.seconds)
        assert assert_all_ended(at, run) == [
            ("worker", "killed"),
            ("worker", "killed"),
            ("lead", "killed"),
        ]


async def test_a_host_that_hangs_is_killed_and_takes_its_commands_along(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    sleepers = Sleepers()
    team = commanders(sleepers, provider)
    patience = replace(UNHURRIED, heartbeat=0.1, silence=6, die=0.2)
    async with stage(tmp_path, team, patience=patience) as at:
        run = at.start("lead", allow=("run_command",))
        await asyncio.to_thread(sleepers.wait_for, 6)
        os.kill(at.hosts()[0], signal.SIGSTOP)

        with pytest.raises(RunError, match="did not answer"):
            await run.result()

        await asyncio.to_thread(wait_for_none, sleepers.seconds)
        assert len(assert_all_ended(at, run)) == 3


async def test_a_hundred_children_of_a_provider_that_hangs_are_cancelled_within_a_second(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    holds = {f"part {number}.": Hold() for number in range(100)}
    provider.script("m-lead", Says(calls=[calls_agent("child", part) for part in holds]))
    for part, hold in holds.items():
        provider.script("m-child", Answer(Says("never"), match=part, hold=hold))
    async with stage(tmp_path, {"lead": agent("lead", "child"), "child": agent("child")}) as at:
        run = at.start("lead")
        await asyncio.gather(*(hold.arrived() for hold in holds.values()))

        with promptly():
            at.runs.cancel(run.id)
            with pytest.raises(RunCancelledError):
                await run.result()

        assert [status for _, status in assert_all_ended(at, run)] == ["cancelled"] * 101
        await asyncio.gather(*(hold.hung_up() for hold in holds.values()))
        assert len(at.hosts()) == 1


FLOODING = """
import os, threading
from axe_lsp.hosting.host import host
def flood():
    for _ in range(500):
        print("a library that prints " * 200)
        os.write(1, b"and writes without an end of line " * 200)
hear = host.Host.hear
def hear_in_a_flood(self, line):
    threading.Thread(target=flood, daemon=True).start()
    hear(self, line)
host.Host.hear = hear_in_a_flood
"""


async def test_a_library_that_floods_the_output_of_a_host_loses_no_event(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    text = " ".join(map(str, range(1_000)))
    provider.script("m-left", Says(text))
    async with stage(tmp_path, {"left": agent("left")}, FLOODING + MAIN) as at:
        run = at.start("left", stream=True)

        assert (await run.result()).content == text

        deltas = [params["delta"] for method, params in at.of(run.id) if method == "axe/text"]
        assert "".join(deltas) == text
        assert assert_all_ended(at, run) == [("left", "completed")]
