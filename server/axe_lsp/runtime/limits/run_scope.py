"""The ends of a run before its work is done: a stop, or the timeout."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

import anyio

from axe_lsp.runtime.errors import (
    BudgetError,
    RunCancelledError,
    RunError,
    RunTimeoutError,
    no_progress_message,
    timeout_message,
)
from axe_lsp.runtime.limits.clock import Clock


class RunScope:
    """The scope of one run's work, with the `clock` that cancels it.

    `callers_clock` and `deadline` are the clock of the run that called it, or its moment: see `Clock`.
    """

    def __init__(self, callers_clock: Clock | None = None, deadline: float = math.inf) -> None:
        self._scope = anyio.CancelScope()
        self.clock = Clock(self._scope, callers_clock, deadline)
        self._stopped = False
        self._timeout: float | None = None
        self._wall_time = 0

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work. Raises the `interruption` if it comes to that."""
        try:
            with self._scope:
                await work()
        finally:
            self.clock.close()
        if self._scope.cancelled_caught:
            raise self.interruption()

    def stop(self) -> None:
        """End the work now, and everything below it."""
        self._stopped = True
        self._scope.cancel()

    def start_clock(self, timeout: float | None, wall_time: int, used: float = 0) -> None:
        """From now on there are so many seconds: `timeout`, or those of the budget if they are fewer.

        If neither this run nor one above has a timeout, it has to make progress. Of a resumed run some seconds
        are `used`; one that has used all of them gets them anew.
        """
        self._timeout = timeout
        is_stated = timeout is not None
        if wall_time and (timeout is None or wall_time <= timeout):
            self._wall_time = wall_time
            timeout = wall_time
        if timeout is not None:
            left = timeout - used if used < timeout else timeout
            self.clock.start(left, is_stated=is_stated)
        if not self.clock.is_stated:
            self.clock.watch()

    def overtime(self) -> str:
        """Why the time is over; "" if it is not, or if the run was stopped."""
        return str(self.interruption()) if self.clock.is_over and not self._stopped else ""

    def interruption(self) -> RunError:
        """Why the work ends, if it is ended now."""
        if self._stopped:
            return RunCancelledError()
        if self.clock.is_idle:
            return RunTimeoutError(no_progress_message(self.clock.patience))
        if self._wall_time:
            return BudgetError(f"used {self._wall_time} of {self._wall_time} seconds", "time")
        return RunTimeoutError(timeout_message(self._timeout or 0))
