"""The ends of a run before its work is done: a stop, a total timeout, or a limit on the time without progress.

The total timeout is paused while a user answers a question of the run. A question of a called run
also stops the clocks of all its callers, whose time includes it. Other runs of the tree and their
clocks go on.

Without a timeout, a run ends after `PATIENCE` seconds without progress. This clock is also paused
while the run waits for something with a limit of its own: a called run, a command, a rate limit.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from axe_lsp.runtime.errors import (
    BudgetError,
    RunCancelledError,
    RunError,
    RunTimeoutError,
    no_progress_message,
    timeout_message,
)
from axe_lsp.tasks import loop_time

PATIENCE = 120.0
"""Seconds without progress after which a run is over."""

LONG_PATIENCE = 600.0
"""The same while it waits for what arrives whole, such as a request that is not streamed."""

_SLACK = 1.0
"""Seconds by which the end may be late, so that not every received byte sets a new deadline."""


class Clock:
    """The clock of one run, which cancels the `scope` of its work when the time is over.

    `above` is the clock of the run that called it, which goes on beside a side run (`is_beside`): it stops for a
    question of that run only while it waits for side runs. Where that is in another process, `limit` is the
    moment (of the event loop's clock) at which its time is over; it sees to that itself.
    """

    def __init__(
        self,
        scope: anyio.CancelScope,
        above: Clock | None = None,
        limit: float = math.inf,
        *,
        is_beside: bool = False,
    ) -> None:
        self._scope = scope
        self._above = above
        self._limit = limit
        self._questions = 0
        self._stopped_at = 0.0
        self._own_deadline = math.inf
        self._is_stated = limit < math.inf
        self._is_watched = False
        self._heard_at = math.inf
        self._waits = 0
        self._silent = 0
        self._alarm: asyncio.TimerHandle | None = None
        self._is_beside = is_beside
        self._side_questions = 0
        self._side_waits = 0
        self._is_held = False

    @property
    def deadline(self) -> float:
        """The moment at which the stated time is over, the own one or that of a run above, as of now."""
        stood = loop_time() - self._stopped_at if self._questions else 0
        above = self._above.deadline if self._above else self._limit + stood
        return min(self._own_deadline + stood, above)

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return self.is_idle or loop_time() >= self.deadline

    @property
    def is_stated(self) -> bool:
        """Whether the run or one of its callers has a total timeout."""
        return self._is_stated or (self._above is not None and self._above.is_stated)

    @property
    def patience(self) -> float:
        """For how many seconds nothing need be heard."""
        return LONG_PATIENCE if self._silent else PATIENCE

    @property
    def is_idle(self) -> bool:
        """Whether the time is over because nothing has been heard for too long."""
        return loop_time() >= self._idle_deadline

    def start(self, seconds: float, *, is_stated: bool = True) -> None:
        """Start the deadline of the run. One that `is_stated` ends the run even if it makes progress."""
        self._own_deadline = loop_time() + seconds
        self._is_stated = self._is_stated or is_stated
        self._set()

    def watch(self) -> None:
        """Require progress from now on."""
        self._is_watched = True
        self._heard_at = loop_time()
        self._set()

    def close(self) -> None:
        """Take note that the work is over, and nothing is cancelled any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def progress(self) -> None:
        """Take note of progress."""
        # Why a run has ended does not change by what is heard of its last moments.
        is_watched = self._is_watched and not self._scope.cancel_called
        if is_watched and loop_time() - self._heard_at >= _SLACK:
            self.watch()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the clock while the run waits for what has a limit of its own."""
        self._waits += 1
        self._set()
        try:
            yield
        finally:
            if not self._scope.cancel_called:
                self._waits -= 1
                self._go_on_watching()

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Allow silence while the run waits for something of which nothing is heard until it is there."""
        self._silent += 1
        self._set()
        try:
            yield
        finally:
            if not self._scope.cancel_called:
                self._silent -= 1
                self._go_on_watching()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clocks of all runs that wait for the answer to a question while it is open."""
        self._hold()
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def stopped_alone(self) -> Iterator[None]:
        """Stop the clock while the run waits for its caller, whose clock goes on."""
        self._stop()
        try:
            yield
        finally:
            self._go_on()

    @contextmanager
    def waiting_for_side_runs(self) -> Iterator[None]:
        """Follow the side runs for which the run waits: their questions stop this clock as well."""
        self._side_waits += 1
        self._follow_side_runs()
        try:
            yield
        finally:
            self._side_waits -= 1
            self._follow_side_runs()

    def _hold(self) -> None:
        """Stop this clock, and those of the runs that wait for this one."""
        self._stop()
        if self._above is not None and self._is_beside:
            self._above._side_questions += 1
            self._above._follow_side_runs()
        elif self._above is not None:
            self._above._hold()

    def _release(self) -> None:
        self._go_on()
        if self._above is not None and self._is_beside:
            self._above._side_questions -= 1
            self._above._follow_side_runs()
        elif self._above is not None:
            self._above._release()

    def _follow_side_runs(self) -> None:
        """Stop while the run waits for side runs and one of them asks a question."""
        is_held = self._side_questions > 0 and self._side_waits > 0
        if is_held == self._is_held:
            return
        self._is_held = is_held
        if is_held:
            self._hold()
        else:
            self._release()

    @property
    def _idle_deadline(self) -> float:
        if not self._is_watched or self._waits or self._questions:
            return math.inf
        return self._heard_at + self.patience + _SLACK

    @property
    def _next_deadline(self) -> float:
        own = math.inf if self._questions else self._own_deadline
        return min(own, self._idle_deadline)

    def _set(self) -> None:
        """See to it that the scope is cancelled in time.

        The time of a run is put off all the time, so the alarm stays where it is, and looks then.
        """
        deadline = self._next_deadline
        if deadline == math.inf or (self._alarm and self._alarm.when() <= deadline):
            return
        self.close()
        self._alarm = asyncio.get_running_loop().call_at(deadline, self._look)

    def _look(self) -> None:
        self._alarm = None
        if loop_time() >= self._next_deadline:
            self._scope.cancel()
        else:
            self._set()

    def _go_on_watching(self) -> None:
        if self._is_watched and not self._scope.cancel_called:
            self.watch()

    def _stop(self) -> None:
        if not self._questions:
            self._stopped_at = loop_time()
        self._questions += 1
        self._set()

    def _go_on(self) -> None:
        self._questions -= 1
        if not self._questions:
            stood = loop_time() - self._stopped_at
            self._limit += stood
            self._own_deadline += stood
            self._go_on_watching()
        self._set()


class RunScope:
    """The scope of one run's work, with the `clock` that cancels it.

    `callers_clock` and `deadline` are the clock of the run that called it, or its moment, and `is_beside` says that
    it is a side run: see `Clock`.
    """

    def __init__(
        self,
        callers_clock: Clock | None = None,
        deadline: float = math.inf,
        *,
        is_beside: bool = False,
    ) -> None:
        self._scope = anyio.CancelScope()
        self.clock = Clock(self._scope, callers_clock, deadline, is_beside=is_beside)
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
        """Start the clock with `timeout` seconds, or with the `wall_time` of the budget if that is shorter.

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
        """Return why the time is over; "" if it is not, or if the run was stopped."""
        return str(self.interruption()) if self.clock.is_over and not self._stopped else ""

    def interruption(self) -> RunError:
        """Return why the work ends, if it is ended now."""
        if self._stopped:
            return RunCancelledError()
        if self.clock.is_idle:
            return RunTimeoutError(no_progress_message(self.clock.patience))
        if self._wall_time:
            return BudgetError(f"used {self._wall_time} of {self._wall_time} seconds", "time")
        return RunTimeoutError(timeout_message(self._timeout or 0))
