"""A machine that ssh reaches: `axe-lsp hands` there, over the streams of ssh."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import anyio

from axe_lsp.agentfile.schema.providers import is_secret_variable
from axe_lsp.agentfile.text.addresses import SshHost
from axe_lsp.hosting.places.machine_connection import FaultError, lines_of, short
from axe_lsp.runtime.files.execution import Execution
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.tools.kept_process import KeptProcess, start_kept
from axe_lsp.tasks import Tasks

_OPTIONS = ("-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""No terminal, none of the user's other keys there, and nobody to ask for a password."""

_NOT_FOUND = 127
_LASTING = ("Permission denied", "Host key verification failed", "not found", "No such file")
"""In what ssh or a shell says if it will say the same later."""

_LAST_WORDS = 1.0
"""Seconds for ssh to end, and to say why, once its output has ended."""

_KEPT_ERRORS = 16 * 1024


async def ssh_channel(host: SshHost, execution: Execution, environment: Environment) -> SshChannel:
    """Start ssh. Raises FaultError."""
    if find_program(execution.ssh[0], environment) is None:
        raise FaultError(
            f"{execution.ssh[0]} is not installed on this machine; install OpenSSH, or set execution.ssh.ssh"
        )
    port = ("-p", str(host.port)) if host.port else ()
    # An address begins with no `-`; `--` would be one more thing that other programs than OpenSSH's lack.
    command = (*execution.ssh, *_OPTIONS, *port, host.destination, f"{execution.axe} hands")
    try:
        with anyio.CancelScope(shield=True):  # What was started half can't be ended.
            kept = await start_kept(
                command,
                Path("/"),
                _without_secrets(environment),
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
    except (OSError, RuntimeError) as error:
        reason = os_fault(error) if isinstance(error, OSError) else str(error)
        raise FaultError(f"{execution.ssh[0]} can't be started: {reason}") from error
    return SshChannel(kept, host, execution.axe)


class SshChannel:
    """The streams of an ssh that has been started. It is a `Channel`."""

    def __init__(self, kept: KeptProcess, host: SshHost, axe: str) -> None:
        self._kept = kept
        self._host = host
        self._axe = axe
        self._errors = bytearray()
        self._fault: FaultError | None = None
        self._tasks = Tasks()
        self._reading = self._tasks.start(self._read_errors(), "errors of ssh")

    async def send(self, line: bytes) -> None:
        assert self._kept.process.stdin is not None
        try:
            await self._kept.process.stdin.send(line + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise BrokenPipeError from error

    async def lines(self) -> AsyncIterator[bytes]:
        process = self._kept.process
        assert process.stdout is not None
        try:
            async for line in lines_of(process.stdout):
                yield line
        except ValueError as error:
            self._fault = FaultError(str(error))
            return
        with anyio.move_on_after(_LAST_WORDS):
            await process.wait()
            await self._reading

    async def end(self, within: float) -> None:
        process = self._kept.process
        assert process.stdin is not None
        with anyio.CancelScope(shield=True):
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                await process.stdin.aclose()
            with anyio.move_on_after(within):
                await process.wait()
            self._tasks.cancel()
            await self._kept.end()

    @property
    def fault(self) -> FaultError:
        if self._fault is not None:
            return self._fault
        errors = [
            line for line in self._errors.decode("utf-8", "replace").splitlines() if line.strip()
        ]
        said = short(errors[-1]) if errors else ""
        code = self._kept.process.returncode
        if code == _NOT_FOUND:
            what = f"{self._axe} can't be executed there: {said or 'it is not found'}"
            return FaultError(f"{what}; install axe-lsp there, or set execution.ssh.axe")
        may_pass = not any(each in said for each in _LASTING)
        how = f"ssh ended with code {code}" if code is not None else "the connection was closed"
        return FaultError(said or how, may_pass=may_pass)

    async def _read_errors(self) -> None:
        assert self._kept.process.stderr is not None
        async for piece in self._kept.process.stderr:
            self._errors += piece
            del self._errors[:-_KEPT_ERRORS]


def _without_secrets(environment: Environment) -> dict[str, str]:
    """Return the user's environment, in which ssh finds their agent, without keys: ssh may send variables."""
    secrets = known_secrets(environment)
    return {
        name: value
        for name, value in environment.items()
        if value not in secrets and not is_secret_variable(name)
    }
