"""The runs of a host that outlive its server: how long they go on without one, and who may hold the host to be alive.

While the host has no server, nobody pings it. So its guard is told again and again that it is well, and kills it if it
hangs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from axe_lsp.hosting import protocol

_SILENCE = 30
"""Seconds for which a host without a server may hang. A byte, for the guard."""

_BEAT = 5.0


class Survival:
    """The root runs that outlive the server of their host, by id. `guard` leads to the watchdog of the process."""

    def __init__(
        self, guard: int | None, usual_patience: float, end_run: Callable[[str], None]
    ) -> None:
        self._guard = guard
        self._usual_patience = int(usual_patience)
        self._end_run = end_run
        self._starts: dict[str, protocol.Start] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.is_server_lost = False
        """Whether the server that has started the host has gone, also if there is another one by now."""
        self.is_alone = False

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._starts

    @property
    def starts(self) -> tuple[protocol.Start, ...]:
        """Return the orders of the runs that outlive the server."""
        return tuple(self._starts.values())

    @property
    def is_needed(self) -> bool:
        """Whether there is a run that outlives the server. May be asked in any thread."""
        return bool(self._starts)

    def begin(self, start: protocol.Start) -> None:
        """Take note of a run that begins."""
        if start.grace and start.keep_days and self._guard is not None:
            self._starts[start.run_id] = start
            self._set_patience(_SILENCE)

    def end(self, run_id: str) -> None:
        """Take note that a run has ended."""
        if self._starts.pop(run_id, None) is not None and not self._starts:
            self._set_patience(_SILENCE if self.is_server_lost else self._usual_patience)
        timer = self._timers.pop(run_id, None)
        if timer is not None:
            timer.cancel()

    def lose_server(self) -> None:
        """Give each run the time that it has without a server."""
        self.is_alone = True
        loop = asyncio.get_running_loop()
        for run_id, grace in self._graces().items():
            self._timers[run_id] = loop.call_later(grace, self._end_run, run_id)
        if not self.is_server_lost:
            self.is_server_lost = True
            self._beat_again()

    def find_server(self) -> None:
        """Take note that there is another server: the runs have all the time that they need."""
        self.is_alone = False
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _graces(self) -> Mapping[str, int]:
        return {
            run_id: start.grace
            for run_id, start in self._starts.items()
            if start.grace != protocol.ENDLESS
        }

    def _beat_again(self) -> None:
        self._set_patience(_SILENCE)
        asyncio.get_running_loop().call_later(_BEAT, self._beat_again)

    def _set_patience(self, seconds: int) -> None:
        if self._guard is not None:
            with suppress(OSError):  # The guard has been killed, and the process goes on without.
                os.write(self._guard, bytes([seconds]))
