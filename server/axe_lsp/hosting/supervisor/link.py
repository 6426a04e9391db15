"""The supervisor's side of one host: orders to it, messages from it, and whether it still answers."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.hosting.supervisor import host_process
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.processes import module_command
from axe_lsp.runtime.safety.redaction import redact

if TYPE_CHECKING:
    from axe_lsp.hosting.supervisor.adopted_host import AdoptedHost

_log = logging.getLogger(__name__)

HOST = module_command("axe_lsp.hosting.host.host")
"""The command that starts a host."""


class Patience(Struct, frozen=True):
    """How long a host may take, in seconds.

    As long as it has orders it is asked every `heartbeat` whether it is well, and hangs if it does
    not answer for `silence`, which is long because a busy machine is no reason to lose runs. A
    cancelled run may take `cancel` to end, a host that was asked to end `leave`, and one that was
    terminated `die` before it is killed.
    """

    heartbeat: float = 3.0
    silence: float = 30.0
    cancel: float = 0.8
    leave: float = 1.0
    die: float = 0.1


_CHECKS = 5


class Link:
    """The connection with one host, from before its start until after its end."""

    def __init__(self, receive: Callable[[Message], None]) -> None:
        self.is_ready = False
        """Whether the host has come up: what was sent since then, it has read unless it died in that moment."""
        self._receive = receive
        self._process: host_process.HostProcess | AdoptedHost | None = None
        self._launched = asyncio.Event()
        self._unsent: list[bytes] = []
        self._unanswered: dict[int, asyncio.Future[None]] = {}
        self._pings = 0
        self._verdict = ""
        self._last_words = ""
        self._secrets = known_secrets(os.environ)

    async def serve(self, command: Sequence[str]) -> str:
        """Start the host by `command`, pass its messages on, and return in words how it ended."""
        try:
            self._process = await host_process.start(command, self._on_line, self._on_error_line)
        except OSError as error:
            return f"could not be started ({error})"
        finally:
            self._launched.set()
        self._write_unsent()  # The host may have become ready before its start returned.
        return self._reason_of_end(await asyncio.shield(self._process.ended))

    async def serve_adopted(self, host: AdoptedHost) -> str:
        """Pass the messages of a host on that another server has started, and return in words how it ended."""
        self._process, self.is_ready = host, True
        self._launched.set()
        self._write_unsent()
        host.listen(self._on_line)
        return self._reason_of_end(await asyncio.shield(host.ended))

    def send(self, message: Message) -> None:
        """Tell the host something, as soon as it is ready."""
        self._unsent.append(protocol.encode(message))
        self._write_unsent()

    def _write_unsent(self) -> None:
        if self.is_ready and self._process is not None:
            unsent, self._unsent = self._unsent, []
            for data in unsent:
                self._process.write(data)

    def ping(self) -> asyncio.Future[None]:
        """Ask the host for a sign of life, which is the future that is returned."""
        self._pings += 1
        answer = asyncio.get_running_loop().create_future()
        self._unanswered[self._pings] = answer
        self.send(protocol.Ping(self._pings))
        return answer

    async def end(self, patience: float, *, server_ends: bool = False) -> None:
        """Have the host end its runs and itself; without its consent if it takes too long."""
        await self._launched.wait()
        if self._process is not None:
            self.send(protocol.Leave(server_ends))
            await self._process.end(patience)

    async def release(self) -> None:
        """Leave the host alone, with the runs that outlive this server."""
        await self._launched.wait()
        if self._process is not None:
            self._process.release()

    async def kill(self, verdict: str, patience: float) -> None:
        """End the host, which has lost its chance to do so itself: `verdict` says why."""
        _log.error("The run host %s; it is ended", verdict)
        self._verdict = f"{verdict} and "
        await self._launched.wait()
        if self._process is not None:
            await self._process.kill(patience)

    def _reason_of_end(self, return_code: int | None) -> str:
        how = self._verdict + host_process.how_it_ended(return_code)
        # What Python writes last when an exception ends it is that exception.
        return f"{how}: {self._last_words}" if (return_code or 0) > 0 and self._last_words else how

    def _on_line(self, line: bytes) -> None:
        try:
            self._hear(protocol.read_from_host(line))
        except Exception:  # noqa: BLE001 - one strange line is no reason to miss the next
            _log.exception("The run host wrote an invalid message: %s", self._shown(line[:200]))

    def _hear(self, message: Message) -> None:
        if isinstance(message, protocol.Pong):
            answer = self._unanswered.pop(message.number, None)
            if answer is not None:
                answer.set_result(None)
            return
        if isinstance(message, protocol.Ready):
            self._on_ready(message.pid)
        self._receive(message)

    def _on_ready(self, pid: int) -> None:
        _log.info("The run host is process %d", pid)
        self.is_ready = True
        self._unsent.insert(0, protocol.encode(protocol.Environment(_as_characters(os.environ))))
        self._write_unsent()

    def _on_error_line(self, line: bytes) -> None:
        self._last_words = self._shown(line).rstrip()
        _log.info("run host: %s", self._last_words)

    def _shown(self, line: bytes) -> str:
        return redact(line.decode("utf-8", "replace"), self._secrets)


def _as_characters(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment as JSON can hold it, whatever bytes are in it."""
    return {
        os.fsencode(name).decode("latin-1"): os.fsencode(value).decode("latin-1")
        for name, value in environment.items()
    }


async def is_done_within(seconds: float, awaited: asyncio.Future[Any]) -> bool:
    """Return whether what the host has to do is done in time.

    Time in which this process itself stood still (a suspended machine, a blocked event loop) is
    not held against the host: it passes as one check out of several.
    """
    for _ in range(_CHECKS):
        await asyncio.wait({awaited}, timeout=seconds / _CHECKS)
        if awaited.done():
            return True
    return False
