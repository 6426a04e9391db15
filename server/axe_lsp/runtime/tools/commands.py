"""Commands as processes: limited in time and output, and leaving nothing behind.

Each runs below a reaper, which ends it with all its descendants, also when this process is killed. On
Windows, which has no such thing, it is ended with those that it has started itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from anyio.abc import Process
from msgspec import Struct

from axe_lsp.runtime.safety.ancestry import AGENTS_ABOVE, agents_above, named
from axe_lsp.runtime.safety.process_hardening import forbid_inspection
from axe_lsp.runtime.tools.tool import MAX_OUTPUT, Workplace

_REAPER = str(Path(__file__).with_name("command_reaper.py"))
"""Not imported: it is for POSIX systems only, and a program of its own."""

_GRACE = 2.0
"""Seconds that a reaper has to kill a command; a process may hang in the kernel for longer."""

_MARK = "AXE_COMMAND"
"""Environment variable by which the processes of a command are found that have lost their reaper."""

_ROUNDS = 20

_INHERITED = ("PATH", "LANG", "LC_ALL", "USER", "LOGNAME", "TERM")
_NEEDED_ON_WINDOWS = ("SYSTEMROOT", "COMSPEC", "PATHEXT")
"""Without them not even sockets work there."""


class Ended(Struct, frozen=True):
    """A command that has ended; without a `code`, because its time was over.

    `output` is the beginning of what it wrote, to standard output and error.
    """

    output: bytes
    is_all: bool
    code: int | None


async def run_to_end(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limit: float,
    keep: int = MAX_OUTPUT,
) -> Ended:
    """Run a command for `limit` seconds at most, and keep so many bytes of what it writes.

    Raises OSError if it can't be started.
    """
    with anyio.CancelScope(shield=True):  # What was started half can't be ended.
        mark = uuid.uuid4().hex
        process = await _start(command, folder, {**environment, _MARK: mark})
    output = _Output(keep)
    try:
        with anyio.move_on_after(limit) as time:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, process, output)
                await process.wait()
                await _end_strays(process, mark)
                _kill_group(process)  # Or what is left would keep its output open.
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, mark)
    code = None if time.cancelled_caught else process.returncode
    return Ended(bytes(output.kept), output.size <= keep, code)


class _Output:
    """The beginning of what a command writes, and how much it was."""

    def __init__(self, keep: int) -> None:
        self.kept = bytearray()
        self.size = 0
        self._keep = keep

    def add(self, piece: bytes) -> None:
        """The next output."""
        self.size += len(piece)
        self.kept += piece[: self._keep - len(self.kept)]


async def _read(process: Process, output: _Output) -> None:
    assert process.stdout is not None
    async for piece in process.stdout:
        output.add(piece)


def clean_environment(workplace: Workplace) -> dict[str, str]:
    """Nothing but what programs need to work: no key and no other secret is among it."""
    outside, folder = workplace.environment, str(workplace.folder)
    names = (*_INHERITED, *_NEEDED_ON_WINDOWS) if sys.platform == "win32" else _INHERITED
    inherited = {name: outside[name] for name in names if outside.get(name)}
    agents = {AGENTS_ABOVE: named((*agents_above(outside), *workplace.agents))}
    return {"HOME": folder, "TMPDIR": folder, **inherited, **agents}


async def _start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Process:
    forbid_inspection()
    reaper = () if sys.platform == "win32" else (sys.executable, "-I", "-S", _REAPER)
    return await anyio.open_process(
        [*reaper, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )


async def _end(process: Process, mark: str) -> None:
    """Let go of the lifeline, and wait until the command and all that it started is gone."""
    assert process.stdin is not None
    await process.stdin.aclose()
    if sys.platform == "win32" and process.returncode is None:
        tree = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        await anyio.run_process(tree, check=False)
    with anyio.move_on_after(_GRACE):
        await process.wait()
    if process.returncode is None:
        process.kill()
    await _end_strays(process, mark)
    _kill_group(process)
    await process.aclose()


async def _end_strays(process: Process, mark: str) -> None:
    """If the command has killed its reaper, find what it has started and kill that (Linux)."""
    if sys.platform == "linux" and process.returncode == -signal.SIGKILL:
        await anyio.to_thread.run_sync(_end_marked, mark)


def _end_marked(mark: str) -> None:
    """Kill the processes that have the mark in their environment. They may start more meanwhile."""
    if sys.platform != "linux":
        return
    for _ in range(_ROUNDS):
        found = [pid for pid in _processes() if _has(pid, mark)]
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208
    except OSError:
        return []


def _has(pid: int, mark: str) -> bool:
    try:
        return f"{_MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _kill_group(process: Process) -> None:
    """End what a reaper could not, because somebody has killed it, or on a system without orphanages."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
