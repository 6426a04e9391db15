"""Commands below forks of a prepared reaper, and what becomes of them if something is wrong with that."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from axe_lsp.runtime.tools import prepared_reapers
from support.processes import Sleepers
from support.scripted_provider import PATIENCE
from support.tools import refusal, use

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="for Linux only")


@pytest.fixture(autouse=True)
def own_forks() -> Iterator[None]:
    end_forks()
    yield
    end_forks()


def end_forks() -> None:
    while prepared_reapers._started:
        prepared_reapers._started.pop().end()


def preparer() -> int:
    """The process that forks."""
    (forks,) = prepared_reapers._started
    return forks._process.pid


REAPER = "ps -o ppid= -p $PPID"


async def test_one_process_forks_the_reapers_of_all_commands(tmp_path: Path) -> None:
    parents = f"ps -o ppid= -p $({REAPER})"
    told = await asyncio.gather(*(use("run_command", tmp_path, command=parents) for _ in range(10)))
    assert {int(each) for each in told} == {preparer()}


async def test_a_command_has_no_other_file_than_its_streams(tmp_path: Path) -> None:
    running = asyncio.ensure_future(use("run_command", tmp_path, command="sleep 0.3"))
    (tmp_path / "files.sh").write_text("ls -l /proc/self/fd\n")
    told = await use("run_command", tmp_path, command="sh files.sh")
    # Three streams, the script, and the folder that is listed.
    assert told.count(" -> ") <= 5
    assert not [each for each in ("socket:", "memfd:") if each in told]
    await running


async def test_one_that_has_been_killed_is_replaced_and_its_commands_go_on(tmp_path: Path) -> None:
    command = "until [ -e go ]; do sleep 0.02; done; echo went on"
    running = asyncio.ensure_future(use("run_command", tmp_path, command=command))
    assert await use("run_command", tmp_path, command="echo there") == "there\n"
    first = preparer()
    os.kill(first, signal.SIGKILL)
    assert await use("run_command", tmp_path, command="touch go; echo next") == "next\n"
    assert await running == "went on\n"
    assert await use("run_command", tmp_path, command="echo third") == "third\n"
    assert preparer() != first


async def test_one_that_was_stopped_costs_time_and_no_command_is_executed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await use("run_command", tmp_path, command="echo one") == "one\n"
    os.kill(preparer(), signal.SIGSTOP)
    monkeypatch.setattr(prepared_reapers, "_PATIENCE", 0.2)
    assert await use("run_command", tmp_path, command="echo two | tee -a effects") == "two\n"
    assert (tmp_path / "effects").read_text() == "two\n"


async def test_a_cancelled_command_ends_at_once(tmp_path: Path) -> None:
    sleepers = Sleepers()
    running = asyncio.ensure_future(use("run_command", tmp_path, command=sleepers.command))
    await asyncio.to_thread(sleepers.wait_for, 1)
    running.cancel()
    await asyncio.wait([running])
    assert sleepers.count() == 0


PARENT = """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL).pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.process
@pytest.mark.parametrize("is_ours", [False, True], ids=["child of the preparer", "our child"])
async def test_one_that_was_killed_has_not_ended_before_it_is_gone(is_ours: bool) -> None:
    """The kernel closes its files before it gives its children to another parent."""
    status, sink = os.pipe()
    os.close(sink)
    words = ["sleep", "60"] if is_ours else [sys.executable, "-c", PARENT]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # noqa: ASYNC220
        assert child.stdout is not None
        pid = child.pid if is_ours else int(child.stdout.readline())
        output = os.open(os.devnull, os.O_RDONLY)
        reaper = prepared_reapers.ForkedReaper(pid, output, status)
        waiting = asyncio.ensure_future(reaper.wait())
        await asyncio.wait({waiting}, timeout=0.05)
        assert not waiting.done()
        os.kill(pid, signal.SIGKILL)
        assert await asyncio.wait_for(waiting, PATIENCE) == -signal.SIGKILL
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        await reaper.aclose()


async def test_where_python_has_no_files_in_memory_a_command_starts_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    assert await use("run_command", tmp_path, command="echo there") == "there\n"


async def test_a_command_that_no_process_can_have_is_refused(tmp_path: Path) -> None:
    assert "surrogates not allowed" in await refusal("run_command", tmp_path, command="a \ud800")


async def test_output_that_is_always_there_lets_others_go_on() -> None:
    source, sink = os.pipe()
    os.set_blocking(source, False)
    os.write(sink, b"x" * 100)
    os.close(sink)
    output = prepared_reapers._Output(source)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    for _ in range(100):
        assert await output.receive(1) == b"x"
    counting.cancel()
    await output.aclose()
    assert turns >= 99
