"""Hosts that are ready within milliseconds, since a process that is prepared forks them (`hosting/host/template.py`).

That process is started for the first host, and stays for the next ones. Where there is none, a host is started by
itself: on other systems than Linux, and if it does not come up.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import IO, cast

import anyio

from axe_lsp.hosting.supervisor import host_process
from axe_lsp.hosting.supervisor.host_process import HostProcess, LineBuffer, OnLine, apart
from axe_lsp.hosting.supervisor.link import HOST
from axe_lsp.runtime.processes import bare_environment, forbid_inspection, module_command
from axe_lsp.runtime.safety import orphans

TEMPLATE = module_command("axe_lsp.hosting.host.template")

_LONGEST = 64

_STARTING = 15.0
"""Seconds for the first fork, before which everything is imported."""

_FORKING = 3.0
"""Seconds for a fork. A process that was stopped is not waited for longer, until it is heard again."""

_CLOSING = 1.0
_NOT_HERE = "hosts can't be forked on this system"


class PreparedHosts:
    """Starts hosts. One is enough for a process; it has to be closed."""

    def __init__(self, command: Sequence[str] = TEMPLATE, alone: Sequence[str] = HOST) -> None:
        self._command = command
        self._alone = alone
        self._template: _Template | None = None
        self._is_of_use = sys.platform == "linux"
        self._one_at_a_time = anyio.Lock()

    async def start(self, on_output: OnLine, on_errors: OnLine) -> HostProcess:
        """Start a host. Raises OSError. It is a `StartHost`."""
        while self._is_of_use:
            template = await self._begun()
            if template is None or template.is_silent:
                break
            try:
                return await template.fork(on_output, on_errors)
            except OSError:
                if not template.is_over:
                    break  # There are too many processes or files, and the next try would fail, too.
                # It had nothing to do, or somebody has ended it, perhaps as this is closed.
                self._is_of_use = self._is_of_use and template.has_forked
        return await host_process.start(self._alone, on_output, on_errors)

    async def aclose(self) -> None:
        """End what starts hosts."""
        self._is_of_use = False
        async with self._one_at_a_time:
            if self._template is not None:
                await self._template.close()

    async def _begun(self) -> _Template | None:
        async with self._one_at_a_time:
            if self._is_of_use and (self._template is None or self._template.is_over):
                try:
                    self._template = await _Template.started(self._command)
                except OSError:
                    self._is_of_use = False
            return self._template if self._is_of_use else None


class _Template(asyncio.SubprocessProtocol):
    """The process that forks hosts, as long as it is there."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._transport: asyncio.SubprocessTransport
        self._numbers = count(1)
        self._one_at_a_time = anyio.Lock()
        self._asked: dict[int, asyncio.Future[tuple[int, int]]] = {}
        self._hosts: dict[int, _Forked] = {}
        self._ended = asyncio.Event()
        self.has_forked = False
        self.is_silent = False
        self.is_over = False

    @classmethod
    async def started(cls, command: Sequence[str]) -> _Template:
        """Raises OSError."""
        if sys.platform == "win32":
            raise OSError(_NOT_HERE)
        loop = asyncio.get_running_loop()
        forbid_inspection()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            ours.setblocking(False)
            try:
                async with orphans.starting() as started:
                    transport, template = await loop.subprocess_exec(
                        lambda: cls(ours),
                        *command,
                        stdin=theirs.fileno(),
                        stdout=asyncio.subprocess.DEVNULL,
                        stderr=asyncio.subprocess.DEVNULL,
                        env=bare_environment(),
                        **apart(),
                    )
                    started(transport.get_pid())
            except BaseException:
                ours.close()
                raise
        loop.add_reader(ours.fileno(), template._hear)
        return template

    async def fork(self, on_output: OnLine, on_errors: OnLine) -> HostProcess:
        """Have a host forked. Raises OSError."""
        if sys.platform == "win32":
            raise OSError(_NOT_HERE)
        async with self._one_at_a_time:  # The system limits the files that are on their way.
            if self.is_over:
                raise BrokenPipeError
            if self.is_silent:
                raise TimeoutError
            number = next(self._numbers)
            pipes = _pipes()
            (source, sink), (output, output_sink), (errors, errors_sink) = pipes
            theirs, ours = (source, output_sink, errors_sink), (sink, output, errors)
            answer = asyncio.get_running_loop().create_future()
            self._asked[number] = answer
            try:
                try:
                    socket.send_fds(self._connection, [b"%d" % number], theirs)
                finally:
                    for each in theirs:
                        os.close(each)
                with anyio.fail_after(_FORKING if self.has_forked else _STARTING):
                    pid, handle = await answer
            except BaseException as error:
                self.is_silent = isinstance(error, TimeoutError)
                for each in ours:
                    os.close(each)
                # The answer may have come in the moment in which this was cancelled.
                if answer.done() and not answer.cancelled() and answer.exception() is None:
                    os.close(answer.result()[1])
                raise
            finally:
                del self._asked[number]
            host = _Forked(on_output, on_errors, pid, handle)
            self._hosts[pid] = host
            self.has_forked = True
            await host.connect(*ours)
            return host

    async def close(self) -> None:
        """Let it end: nobody asks it any more."""
        self._over()
        with anyio.move_on_after(_CLOSING):
            await self._ended.wait()
        if not self._ended.is_set():
            with suppress(ProcessLookupError):
                self._transport.kill()
            await self._ended.wait()

    def _hear(self) -> None:
        if sys.platform == "win32":
            return
        try:
            message, files, _, _ = socket.recv_fds(self._connection, _LONGEST, 1)
        except BlockingIOError:
            return
        except OSError:
            message, files = b"", []
        self.is_silent = False
        match message.decode().split():
            case ["forked", number, pid]:
                self._has_forked(int(number), int(pid), files)
            case ["failed", number]:
                if (answer := self._asked.get(int(number))) and not answer.done():
                    answer.set_exception(OSError("it could not be forked"))
            case ["ended", pid, code]:
                if host := self._hosts.pop(int(pid), None):
                    host.has_ended(int(code))
            case _:
                self._over()

    def _has_forked(self, number: int, pid: int, files: list[int]) -> None:
        answer = self._asked.get(number)
        if answer is None or answer.done():  # Nobody waits for the host, whose input has ended.
            for each in files:
                os.close(each)
        elif files:
            answer.set_result((pid, files[0]))
        else:  # This process has too many open files. The host ends with its input.
            answer.set_exception(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))

    def _over(self) -> None:
        if self.is_over:
            return
        self.is_over = True
        asyncio.get_running_loop().remove_reader(self._connection.fileno())
        self._connection.close()
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(BrokenPipeError())
        hosts, self._hosts = self._hosts, {}
        for host in hosts.values():
            host.lose()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the process runs."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def process_exited(self) -> None:
        """asyncio: the process is gone."""
        orphans.has_ended(self._transport.get_pid())
        self._over()
        self._transport.close()
        self._ended.set()


class _Forked(HostProcess):
    """A host whose parent is the template. `handle` is the file that stands for it."""

    def __init__(self, on_output: OnLine, on_errors: OnLine, pid: int, handle: int) -> None:
        super().__init__(on_output, on_errors)
        self._pid = pid
        self._handle = handle
        self._code: int | None = None
        self._open = 2
        self._input: asyncio.WriteTransport
        self._transports: list[asyncio.BaseTransport] = []

    async def connect(self, sink: int, output: int, errors: int) -> None:
        """Begin to read what it says. It ends when this is cancelled, as its input does."""
        loop = asyncio.get_running_loop()
        left = [errors, output, sink]
        try:
            pipe = _opened(left.pop(), "wb")
            self._input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe)
            self._transports.append(self._input)
            for place in (host_process.OUTPUT, host_process.ERRORS):
                reader = partial(_Reader, self._lines[place], self._output_has_ended)
                reading, _ = await loop.connect_read_pipe(reader, _opened(left.pop(), "rb"))
                self._transports.append(reading)
        except BaseException:
            for file in left:
                os.close(file)
            self._close()
            raise

    def write(self, data: bytes) -> None:
        self._input.write(data)

    def has_ended(self, code: int) -> None:
        """It is gone; what it wrote may still be under way."""
        self._code = code
        os.close(self._handle)
        self._finish_or_wait()

    def lose(self) -> None:
        """Its parent is gone, so that nobody hears how it ends: end it."""
        if sys.platform == "linux":
            with suppress(ProcessLookupError):
                self._kill()
            asyncio.get_running_loop().add_reader(self._handle, self._is_lost)

    def _is_lost(self) -> None:
        if sys.platform == "linux":
            asyncio.get_running_loop().remove_reader(self._handle)
            with suppress(ChildProcessError):  # A process above may have adopted it.
                os.waitid(os.P_PIDFD, self._handle, os.WEXITED | os.WNOHANG)
            self.has_ended(-signal.SIGKILL)

    def _close_input(self) -> None:
        self._input.close()

    def _terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _kill(self) -> None:
        if sys.platform != "win32":
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self._code is not None:
            raise ProcessLookupError
        if sys.platform == "linux":
            signal.pidfd_send_signal(self._handle, number)

    def _output_has_ended(self) -> None:
        self._open -= 1
        self._finish_or_wait()

    def _finish_or_wait(self) -> None:
        if self._code is not None:
            if not self._open:
                self._finish()
            else:
                asyncio.get_running_loop().call_later(host_process.LAST_WORDS, self._finish)

    def _finish(self) -> None:
        if not self.ended.done():
            self.ended.set_result(self._code or 0)
            self._close()

    def _close(self) -> None:
        for transport in self._transports:
            transport.close()


class _Reader(asyncio.Protocol):
    """One of the two outputs of a host."""

    def __init__(self, lines: LineBuffer, at_end: Callable[[], None]) -> None:
        self._lines = lines
        self._at_end = at_end

    def data_received(self, data: bytes) -> None:
        """asyncio: the host has written something."""
        self._lines.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio: that was all."""
        self._at_end()


def _pipes() -> list[tuple[int, int]]:
    """Three pipes. Raises OSError."""
    made: list[tuple[int, int]] = []
    try:
        for _ in range(3):
            made.append(os.pipe())
    except OSError:
        for each in made:
            os.close(each[0])
            os.close(each[1])
        raise
    return made


def _opened(file: int, mode: str) -> IO[bytes]:
    return open(file, mode, buffering=0)
