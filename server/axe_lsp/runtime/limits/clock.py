"""The time that a run has. It stands still while a person thinks about a question of the run.

A question from below stops the clocks of all runs above as well: their time is that of the tree.
Other runs of the tree go on, and so do their own clocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Clock:
    """The clock of one run, which cancels the `scope` of its work when the time is over.

    `above` is the clock of the run that called it. Where that is in another process, `limit` is the
    moment (of the event loop's clock) at which its time is over; it sees to that itself.
    """

    def __init__(
        self, scope: anyio.CancelScope, above: Clock | None = None, limit: float = math.inf
    ) -> None:
        self._scope = scope
        self._above = above
        self._limit = limit
        self._questions = 0
        self._stopped_at = 0.0
        self._own_deadline = math.inf

    @property
    def deadline(self) -> float:
        """The moment at which the time is over, the own one or that of a run above, as of now."""
        stood = anyio.current_time() - self._stopped_at if self._questions else 0
        above = self._above.deadline if self._above else self._limit + stood
        return min(self._own_deadline + stood, above)

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return anyio.current_time() >= self.deadline

    def start(self, seconds: float) -> None:
        """From now on the run has so many seconds."""
        self._own_deadline = self._scope.deadline = anyio.current_time() + seconds

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """A question is open: nobody's time goes by that waits for its answer."""
        clocks = list(self._upwards())
        for clock in clocks:
            clock._stop()
        try:
            yield
        finally:
            for clock in clocks:
                clock._go_on()

    def _upwards(self) -> Iterator[Clock]:
        clock: Clock | None = self
        while clock is not None:
            yield clock
            clock = clock._above

    def _stop(self) -> None:
        if not self._questions:
            self._stopped_at = anyio.current_time()
            self._scope.deadline = math.inf
        self._questions += 1

    def _go_on(self) -> None:
        self._questions -= 1
        if not self._questions:
            stood = anyio.current_time() - self._stopped_at
            self._limit += stood
            self._own_deadline += stood
            self._scope.deadline = self._own_deadline
