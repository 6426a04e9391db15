"""Processes that leave nothing behind.

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

from axe_lsp.runtime.processes import forbid_inspection
from axe_lsp.runtime.safety import orphans

_REAPER = str(Path(__file__).with_name("command_reaper.py"))
"""Not imported: it is for POSIX systems only, and a program of its own."""

_GRACE = 2.0
"""Seconds that a reaper has to kill a command; a process may hang in the kernel for longer."""

_MARK = "AXE_COMMAND"
"""Environment variable by which the processes of a command are found that have lost their reaper."""

_ROUNDS = 20


async def start_kept(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.STDOUT,
) -> KeptProcess:
    """Start a process, whose output is a pipe. Raises OSError if that can't be done.

    Where there are reapers, a command that does not exist exits with code 127 instead. The caller
    must not be cancelled meanwhile: a half-started process can't be ended.
    """
    forbid_inspection()
    orphans.adopt()
    mark = uuid.uuid4().hex
    held, lifeline = os.pipe() if sys.platform != "win32" else (None, None)
    reaper = () if held is None else (sys.executable, "-I", "-S", _REAPER, str(held))
    try:
        async with orphans.starting() as started:
            process = await anyio.open_process(
                [*reaper, *command],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env={**environment, _MARK: mark},
                start_new_session=True,
                pass_fds=() if held is None else (held,),
            )
            started(process.pid)
    except BaseException:
        if lifeline is not None:
            os.close(lifeline)
        raise
    finally:
        if held is not None:
            os.close(held)
    return KeptProcess(process, mark, lifeline)


class KeptProcess:
    """A process from its start to `end`, which always comes last."""

    def __init__(self, process: Process, mark: str, lifeline: int | None) -> None:
        self.process = process
        self._mark = mark
        self._lifeline = lifeline

    async def end(self) -> None:
        """Let go of the lifeline, and wait until the process and all that it started is gone."""
        lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            os.close(lifeline)
        process = self.process
        if sys.platform == "win32" and process.returncode is None:
            tree = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            await anyio.run_process(tree, check=False)
        with anyio.move_on_after(_GRACE):
            await process.wait()
        if process.returncode is None:  # A command has stopped its reaper, say.
            process.kill()
            with anyio.move_on_after(_GRACE):
                await process.wait()
        await self.end_what_is_left()
        await process.aclose()
        if process.returncode is not None:
            orphans.has_ended(process.pid)

    async def end_what_is_left(self) -> None:
        """End the processes that a reaper could not end: it was killed, or the system has no subreapers."""
        if sys.platform == "win32":
            return
        if sys.platform == "linux" and self.process.returncode in (None, -signal.SIGKILL):
            await anyio.to_thread.run_sync(_end_marked, self._mark)
            await orphans.end_orphans()
        self._signal_group(signal.SIGKILL)

    def ask_to_end(self) -> None:
        """Send SIGTERM, which reapers ignore, to the process and its group."""
        self._signal_group(signal.SIGTERM)

    def _signal_group(self, number: int) -> None:
        if sys.platform == "win32":
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


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
        with os.scandir("/proc") as entries:
            return [int(entry.name) for entry in entries if entry.name.isdecimal()]
    except OSError:
        return []


def _has(pid: int, mark: str) -> bool:
    try:
        return f"{_MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
