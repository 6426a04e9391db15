"""Signals end what is going on in order, and if that takes too long, at all."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from axe_lsp.cli.interruption import AT_ALL, run_until_interrupted
from support.command_line import Home
from support.engines import agent
from support.processes import children_of
from support.scripted_provider import Says, ScriptedProvider
from support.waiting import wait_until

pytestmark = pytest.mark.process

PATIENCE = 60.0
BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])

PROGRAM = """
import asyncio, os, re, sys, time
from axe_lsp.cli import interruption

interruption.AT_ALL = {at_all}

def say(word):
    os.write(1, word.encode() + b"\\n")
async def work():
    {work}
    return 0
code = interruption.run_until_interrupted(work())
say("returned")
sys.exit(code)
"""


@contextmanager
def program(work: str, at_all: float = PATIENCE) -> Iterator[subprocess.Popen[str]]:
    """Provide a program that is at work; `work` says "begun" when it is.

    The guard kills it `at_all` seconds after it should have ended: late enough for a busy machine.
    """
    source = PROGRAM.format(work=work.replace("\n", "\n    "), at_all=at_all)
    command = [sys.executable, "-W", "error", "-c", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.kill()


def test_without_a_signal_the_exit_code_is_that_of_the_work() -> None:
    async def work() -> int:
        return 3

    assert run_until_interrupted(work()) == 3


@BOTH
def test_a_signal_cancels_the_work_and_is_the_exit_code(number: signal.Signals) -> None:
    work = """
say("begun")
try:
    await asyncio.Event().wait()
finally:
    say("tidied up")
"""
    with program(work) as process:
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (128 + number, "tidied up\nreturned\n")


@BOTH
@pytest.mark.parametrize(
    "work",
    [
        'say("begun")\nawait asyncio.to_thread(time.sleep, 1000)',
        'say("begun")\ntime.sleep(1000)',
        'say("begun")\nwhile True:\n    try:\n        await asyncio.sleep(1000)\n'
        "    except asyncio.CancelledError:\n        pass",
    ],
)
def test_work_that_ignores_its_cancellation_ends_after_a_signal(
    number: signal.Signals, work: str
) -> None:
    with program(work) as process:
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number


@BOTH
def test_endless_regular_expression_is_killed_after_a_signal(number: signal.Signals) -> None:
    endless = 'say("begun")\nre.match("^(a+)+$", "a" * 60 + "!")'
    with program(endless, AT_ALL) as process:
        process.send_signal(number)
        assert process.wait(PATIENCE) == -signal.SIGKILL


def test_no_process_remains_when_the_work_is_killed() -> None:
    with program('say("begun")\nawait asyncio.Event().wait()') as process:
        (guard,) = children_of(process.pid)
        process.kill()
        process.wait()
        wait_until(lambda: not _is_alive(guard))


def _is_alive(pid: int) -> bool:
    listed = subprocess.run(["ps", "-p", str(pid), "-o", "stat="], check=False, capture_output=True)
    return bool(listed.stdout.strip()) and not listed.stdout.startswith(b"Z")


def test_cancellation_without_a_signal_is_raised() -> None:
    async def work() -> int:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_until_interrupted(work())


def test_guard_is_forked_before_most_imports(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("done"))
    source = """
import os, sys
fork, forks = os.fork, []
def watched():
    forks.append(len(sys.modules))
    return fork()
os.fork = watched
from axe_lsp.cli.main import main
print(main(["run", "solo", "-p", "go"]), len(forks), 3 * forks[0] < len(sys.modules))
"""
    command = [sys.executable, "-c", source]
    done = subprocess.run(
        command, env=home.environment, cwd=home.work, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("done0 1 True\n", "")


def test_a_guard_that_no_run_has_taken_ends(home: Home) -> None:
    source = """
import os
fork, guards = os.fork, []
def watched():
    child = fork()
    guards.append(child)
    return child
os.fork = watched
from axe_lsp.cli.main import main
main(["run", "nobody", "-p", "go"])
print(os.waitstatus_to_exitcode(os.waitpid(*guards, 0)[1]))
"""
    command = [sys.executable, "-c", source]
    done = subprocess.run(
        command, env=home.environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.stdout == "0\n"
