"""The host as a process: it never outlives its supervisor, and nothing that is slow holds it up."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.hosting.supervisor.supervisor import HOST
from axe_lsp.runtime.runs import RunRequest
from support.hosts import MAIN, agent, gone, workspace_with
from support.scripted_provider import PATIENCE, Answer, Hold, Says, ScriptedProvider

SUPERVISOR = """
import asyncio, contextlib, logging, sys
from axe_lsp.hosting.supervisor.supervisor import Runs
from axe_lsp.hosting.protocol import Start, Workplace
from axe_lsp.runtime.runs import RunRequest

async def main(workspace, program):
    runs = Runs((sys.executable, "-c", program))
    try:
        await runs.start(Start("r", RunRequest("left"), Workplace(workspace))).result()
    finally:
        await runs.close()
        print("closed", flush=True)

logging.basicConfig(level="INFO")
with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main(*sys.argv[1:]))
"""


@asynccontextmanager
async def supervisor(workspace: Path, pids: Path, program: str = MAIN) -> AsyncIterator[Process]:
    """Provide a supervisor in a process group of its own, with a run under way."""
    note = f"import os\nwith open({str(pids)!r}, 'w') as file: print(os.getpid(), file=file)\n"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SUPERVISOR, str(workspace), note + program),
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_host_ends_when_its_supervisor_is_killed(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold))
    workspace = workspace_with(tmp_path, {"left": agent("left")})
    async with supervisor(workspace, tmp_path / "pid") as process:
        await hold.arrived()

        process.kill()

        await gone(int((tmp_path / "pid").read_text()))
        await hold.hung_up()


HANGING = """
import threading
from axe_lsp.hosting.host import host
hear = host.Host.hear
def hang(self, line):
    open(PATH, "w").close()
    threading.Event().wait()
host.Host.hear = hang
host.main()
"""

SPINNING = """
import re
from axe_lsp.hosting.host import host
def spin(self, line):
    open(PATH, "w").close()
    re.match("^(a+)+$", "a" * 60 + "!")
host.Host.hear = spin
host.main()
"""


@pytest.mark.parametrize("program", [HANGING, SPINNING], ids=["hangs", "spins"])
async def test_a_host_ends_when_its_supervisor_is_killed_even_if_it_is_stuck(
    tmp_path: Path, program: str
) -> None:
    workspace = workspace_with(tmp_path, {"left": agent("left")})
    fifo = tmp_path / "stuck"
    os.mkfifo(fifo)
    program = program.replace("PATH", repr(str(fifo)))
    async with supervisor(workspace, tmp_path / "pid", program) as process:
        await asyncio.wait_for(asyncio.to_thread(fifo.read_bytes), PATIENCE)

        process.kill()

        await gone(int((tmp_path / "pid").read_text()))


LATE = """
import os, re, sys, time
from axe_lsp.hosting.host import host
begin = os.getppid()
os.kill(begin, 9)
while os.getppid() == begin:
    time.sleep(0.01)
host.Host.hear = lambda self, line: re.match("^(a+)+$", "a" * 60 + "!")
host.main()
"""


async def test_a_supervisor_that_dies_before_its_host_knows_of_it_leaves_no_host(
    tmp_path: Path,
) -> None:
    workspace = workspace_with(tmp_path, {"left": agent("left")})
    async with supervisor(workspace, tmp_path / "pid", LATE) as process:
        await process.wait()
        await gone(int((tmp_path / "pid").read_text()))


async def test_control_c_is_for_the_server_to_handle(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold))
    workspace = workspace_with(tmp_path, {"left": agent("left")})
    async with supervisor(workspace, tmp_path / "pid") as process:
        await hold.arrived()

        os.killpg(process.pid, signal.SIGINT)
        output, errors = await asyncio.wait_for(process.communicate(), PATIENCE)

        assert output == b"closed\n"
        assert b"KeyboardInterrupt" not in errors  # What a host complains of is logged there.
        await gone(int((tmp_path / "pid").read_text()))


@asynccontextmanager
async def unread_host() -> AsyncIterator[Process]:
    """Provide a host whose output is read only by the test."""
    process = await asyncio.create_subprocess_exec(*HOST, stdin=PIPE, stdout=PIPE)
    try:
        yield process
    finally:
        process.kill()
        await process.communicate()


def tell(process: Process, message: Message) -> None:
    assert process.stdin is not None
    process.stdin.write(protocol.encode(message))


async def test_a_supervisor_that_does_not_read_holds_up_no_run(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    workplace = protocol.Workplace(
        str(workspace_with(tmp_path, {name: agent(name) for name in ("left", "right")}))
    )
    words, end, other = "word " * 5_000, Hold(5_000), Hold()
    provider.script("m-left", Answer(Says(words), hold=end))
    provider.script("m-right", Answer(Says("well"), hold=other))
    async with unread_host() as process:
        tell(process, protocol.Start("one", RunRequest("left"), workplace, stream=True))
        await end.arrived()
        tell(process, protocol.Start("two", RunRequest("right"), workplace))

        await other.arrived()

        end.release()
        other.release()
        ends: set[str] = set()
        while len(ends) < 2:
            message = await next_message(process)
            if isinstance(message, protocol.Finished):
                ends.add(message.result.run_id)
        assert ends == {"one", "two"}


async def next_message(process: Process) -> Message:
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    return protocol.read_from_host(line)


async def test_a_host_is_ready_and_answers_without_having_anything_to_do() -> None:
    async with unread_host() as process:
        tell(process, protocol.Ping(7))

        assert await next_message(process) == protocol.Ready(process.pid)
        assert await next_message(process) == protocol.Pong(7)


async def test_an_idle_host_has_not_imported_what_only_runs_need() -> None:
    program = "import sys; import axe_lsp.hosting.host.host; print([*sys.modules])"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=PIPE)
    output, _ = await process.communicate()

    assert not {"anyio", "httpcore2", "httpx2", "pygls"} & set(eval(output))


LEAVINGS = """
import gc
from axe_lsp.hosting.host import host

class Knot:
    def __init__(self):
        self.itself = self

host._import_engine_factory()
before = gc.get_freeze_count()
knots = [Knot() for _ in range(1_000)]
host._import_engine_factory()
print(gc.get_freeze_count() - before)
"""


def test_what_runs_leave_behind_is_looked_through_for_garbage() -> None:
    out = subprocess.run(
        [sys.executable, "-c", LEAVINGS], capture_output=True, text=True, check=True
    )
    assert out.stdout == "0\n"
