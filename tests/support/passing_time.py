"""Time that passes when a test says so, for all that waits on the event loop's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class PassingTime:
    """The clock of the running event loop, put forward by the test."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ahead = 0.0
        self._real = self._loop.time

    @property
    def now(self) -> float:
        """What the clock says."""
        return self._real() + self._ahead

    async def goes_by(self, seconds: float) -> None:
        """Put the clock forward, and let all happen that was to happen until then."""
        self._ahead += seconds
        await settled()


async def settled() -> None:
    """All tasks have gone as far as they can without anything from outside."""
    for _ in range(20):
        await asyncio.sleep(0)


@contextmanager
def passing_time() -> Iterator[PassingTime]:
    """Time for one test, inside a coroutine."""
    time = PassingTime()
    time._loop.time = lambda: time.now  # type: ignore[method-assign]
    try:
        yield time
    finally:
        time._loop.time = time._real  # type: ignore[method-assign]
