"""Reapers of commands that are there at once: a process that is prepared forks them (`command_reaper.py`).

It is started for the first command of this process, and stays for the next ones: so a command costs no start of Python.
Where it does not answer, a command gets a reaper that is started by itself. Linux only.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from anyio import EndOfStream
from anyio.abc import ByteReceiveStream, Process
from anyio.lowlevel import checkpoint

from axe_lsp.runtime.processes import bare_environment
from axe_lsp.runtime.safety import orphans

_PATIENCE = 5.0
"""Seconds for a fork, whose process may have been stopped, and for the end of one that was killed."""

_PAUSE = 0.001
"""Seconds between two looks at one that was killed."""

_PIECE = 64 * 1024
_CLOSED = -1
_KILLED = 9


class NoForkError(Exception):
    """There is no fork, and there will be none: the command has to be started otherwise."""


class ForkedReaper(Process):
    """A command below a reaper that was forked."""

    def __init__(self, pid: int, output: int, status: int) -> None:
        self._pid = pid
        self._output = _Output(output)
        self._status = status
        self._told = b""
        self._code: int | None = None
        self._one_at_a_time = asyncio.Lock()

    async def wait(self) -> int:
        """Wait until it has ended; returns its code."""
        async with self._one_at_a_time:
            while self._code is None:
                await _readable(self._status)
                piece = os.read(self._status, _PIECE)
                self._told += piece
                if not piece:
                    await self._end()
        return self._code

    async def _end(self) -> None:
        """Take its code. One that was killed without any may close its files long before its children have another parent."""
        has_code = bool(self._told.strip())
        with anyio.move_on_after(_PATIENCE):
            while not (_is_gone(self._pid) or has_code):  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(_PAUSE)
        self._code = int(self._told) if has_code else -_KILLED

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(_KILLED)

    def send_signal(self, signal: int) -> None:
        if self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal)

    async def aclose(self) -> None:
        """Let go of its files."""
        await self._output.aclose()
        status, self._status = self._status, _CLOSED
        if status != _CLOSED:
            os.close(status)

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def returncode(self) -> int | None:
        return self._code

    @property
    def stdin(self) -> None:
        return None

    @property
    def stdout(self) -> ByteReceiveStream:
        return self._output

    @property
    def stderr(self) -> None:
        return None


class _Output(ByteReceiveStream):
    """The output of a command."""

    def __init__(self, file: int) -> None:
        self._file = file

    async def receive(self, max_bytes: int = _PIECE) -> bytes:
        await checkpoint()  # A command that always has output lets others go on.
        while True:
            try:
                piece = os.read(self._file, max_bytes)
            except BlockingIOError:
                await _readable(self._file)
            else:
                if not piece:
                    raise EndOfStream
                return piece

    async def aclose(self) -> None:
        file, self._file = self._file, _CLOSED
        if file != _CLOSED:
            os.close(file)


async def _readable(file: int) -> None:
    """Until something can be read, or the other end is closed."""
    loop, can_be_read = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(file, can_be_read.set)
    try:
        await can_be_read.wait()
    finally:
        loop.remove_reader(file)


class _Forks:
    """The process that forks reapers."""

    def __init__(self, process: subprocess.Popen[bytes], connection: socket.socket) -> None:
        self._process = process
        self._connection = connection
        self._owner = os.getpid()

    @classmethod
    async def started(cls, program: str) -> _Forks:
        """Raises OSError."""
        if sys.platform == "win32":
            raise NoForkError
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        try:
            with theirs:
                async with orphans.starting() as started:
                    process = subprocess.Popen(  # noqa: ASYNC220 - it does not wait
                        [sys.executable, "-I", "-S", program, "forks"],
                        stdin=theirs.fileno(),
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        cwd="/",
                        env=bare_environment(),
                        start_new_session=True,
                    )
                    started(process.pid)
        except BaseException:
            ours.close()
            raise
        return cls(process, ours)

    @property
    def is_there(self) -> bool:
        """Whether it can be asked: a fork of this process can't."""
        return self._owner == os.getpid() and self._process.poll() is None

    async def fork(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        held: int,
    ) -> ForkedReaper:
        """Start a command below a fork with that lifeline. Raises NoForkError, or OSError if it can't be started."""
        if sys.platform != "linux":
            raise NoForkError
        if any("\0" in each for each in (*command, *environment, *environment.values())):
            raise ValueError("embedded null byte")
        for each in (*command, *environment, *environment.values()):
            os.fsencode(each)  # Raises UnicodeEncodeError.
        wanted = {"command": list(command), "folder": str(folder), "environment": {**environment}}
        files = _Files()
        try:
            request = files.new(_file_in_memory())
            os.write(request, json.dumps(wanted).encode())
            os.lseek(request, 0, os.SEEK_SET)
            source = files.new(os.open(os.devnull, os.O_RDONLY))
            output, output_end = files.pipe()
            status, status_end = files.pipe()
            theirs = (request, source, output_end, held, status_end)
            try:
                socket.send_fds(self._connection, [b"x"], theirs)
            except OSError as error:
                raise NoForkError from error
            files.close(request, source, output_end, status_end)
            async with orphans.starting() as started:
                pid = await self._pid(status)
                started(pid)
            files.keep(output, status)
        finally:
            files.close()
        return ForkedReaper(pid, output, status)

    async def _pid(self, status: int) -> int:
        """The number of a fork, which writes that before there is a command."""
        told = b""
        while not told.endswith(b"\n"):
            with anyio.move_on_after(_PATIENCE) as waiting:
                await _readable(status)
            if waiting.cancelled_caught:
                self.end()  # From now on there is a fork or there is none.
                continue
            piece = os.read(status, 1)  # The code may follow that line.
            told += piece
            if not piece:
                raise NoForkError
        match told.split():
            case [b"failed", number]:
                raise OSError(int(number), os.strerror(int(number)))
            case _:
                return int(told)

    def end(self) -> None:
        """End it. Its forks go on."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._connection.close()
        orphans.has_ended(self._process.pid)


_started: list[_Forks] = []
"""None or one."""

_one_at_a_time = anyio.Lock()


async def start_below_fork(
    program: str, command: Sequence[str], folder: Path, environment: Mapping[str, str], held: int
) -> Process:
    """Start a command below a fork of the reaper `program` with that lifeline.

    Raises NoForkError, OSError, or ValueError for a command that none can be.
    """
    async with _one_at_a_time:
        if not (_started and _started[0].is_there):
            while _started:
                _started.pop().end()
            _started.append(await _Forks.started(program))
        return await _started[0].fork(command, folder, environment, held)


def _file_in_memory() -> int:
    """Raises NoForkError: builds of Python for old Linux lack the call, and systems may forbid it."""
    if sys.platform != "linux":
        raise NoForkError
    try:
        return os.memfd_create("command")
    except (AttributeError, OSError) as error:
        raise NoForkError from error


def _is_gone(pid: int) -> bool:
    """Whether nothing is left of a process, nor of its threads, which would have its children until they end."""
    if sys.platform != "linux":
        return True
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # The process that has forked it is there, and does not wait for it.
        return not Path(f"/proc/{pid}").exists()


class _Files:
    """Files that are open until they are closed or kept."""

    def __init__(self) -> None:
        self._open = set[int]()

    def new(self, file: int) -> int:
        self._open.add(file)
        return file

    def pipe(self) -> tuple[int, int]:
        """Its ends for reading, which does not wait, and for writing."""
        if sys.platform == "win32":
            raise NoForkError
        source, sink = map(self.new, os.pipe())
        os.set_blocking(source, False)
        return source, sink

    def keep(self, *files: int) -> None:
        self._open.difference_update(files)

    def close(self, *files: int) -> None:
        """Close these, or all."""
        for each in files or tuple(self._open):
            self._open.discard(each)
            os.close(each)
