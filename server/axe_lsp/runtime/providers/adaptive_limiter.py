"""The number of requests that a provider gets at once, for all runs that use the same key.

A provider that refuses a request because there are too many says so to one run, and means all of
them. So all runs that share a key share a limiter, which learns from each refusal and each answer:

- Until the first refusal any number of requests passes, or as many as the user allows.
- A refusal that names a wait holds all new requests until it is over. Then they pass one by one, and
  one more at once for each answer.
- A refusal without a wait leaves room for as many as are in flight beside it.
- Those that were in flight when others were refused, and are answered, show how many are possible.
  Beyond that the room grows by one only after as many answers: the limit is tried again, but seldom, and
  by none that was refused before, which may not be sent again so often.
- Answers may take long, and a limit may be about something else: for each ten seconds without a refusal,
  one more request passes.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count

import anyio

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.provider import Entry, LimiterKey
from axe_lsp.runtime.providers.retry_after import jittered, too_late
from axe_lsp.tasks import loop_time

_UNAVAILABLE = 503

_PROBE_SECONDS = 10.0


class _Passage:
    """One request that is in flight. `is_shared`: there was another one at the same time."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_shared = False


class _Waiter:
    """A request that waits to be let in; `order` says which is first."""

    def __init__(self, order: tuple[int, int]) -> None:
        self.order = order
        self.woken = anyio.Event()

    def __lt__(self, other: _Waiter) -> bool:
        return self.order < other.order


class OwnLimiters:
    """The limiters of this process. It is a `Limiters`."""

    def __init__(self) -> None:
        self._limiters: dict[LimiterKey, AdaptiveLimiter] = {}

    def passage(
        self, key: LimiterKey, most: int, entry: Entry
    ) -> AbstractAsyncContextManager[None]:
        """Wait until a request may be sent; it is sent and answered inside."""
        limiter = self._limiters.setdefault(key, AdaptiveLimiter())
        limiter.most = most
        return limiter.passage(entry)


class AdaptiveLimiter:
    """The limit of requests in flight for one provider and key, which adapts to its answers.

    `most` is how many requests the user allows to be in flight at once, 0 for any number.
    """

    def __init__(self, most: int = 0) -> None:
        self.most = most
        self._room = math.inf
        self._possible = math.inf
        self._narrowed = 0
        self._narrowed_at = 0.0
        self._held_until = -math.inf
        self._refusal: ProviderError | None = None
        self._in_flight: set[_Passage] = set()
        self._queue: list[_Waiter] = []
        self._numbers = count()

    @asynccontextmanager
    async def passage(self, entry: Entry) -> AsyncIterator[None]:
        """Wait to be let in; the request is sent and answered inside.

        A ProviderError that leaves it says whether the request `was_shared`. Raises ProviderError
        if the wait that the provider has asked for ends after the run does.
        """
        await self._let_in(entry)
        passage = _Passage(next(self._numbers))
        if len(self._in_flight) == 1:
            next(iter(self._in_flight)).is_shared = True
        passage.is_shared = bool(self._in_flight)
        self._in_flight.add(passage)
        self._wake()  # There may be room for more than one.
        try:
            yield
            self._widen(passage)
        except ProviderError as error:
            error.was_shared = passage.is_shared
            self._in_flight.discard(passage)
            if is_crowded(error):
                self._narrow(error)
            raise
        finally:
            self._in_flight.discard(passage)
            self._wake()

    async def _let_in(self, entry: Entry) -> None:
        if not self._queue and self._is_open(entry):
            return
        ticket = _Waiter((-entry.attempts, next(self._numbers)))
        insort(self._queue, ticket)
        try:
            self._check_time(entry)
            with entry.waiting(max(0.0, self._hold)):
                await self._turn_of(ticket, entry)
        finally:
            self._queue.remove(ticket)
            self._wake()

    async def _turn_of(self, ticket: _Waiter, entry: Entry) -> None:
        while not (self._queue[0] is ticket and self._is_open(entry)):
            ticket.woken = anyio.Event()
            with anyio.move_on_after(self._hold if self._hold > 0 else _PROBE_SECONDS):
                await ticket.woken.wait()
            self._check_time(entry)

    def _check_time(self, entry: Entry) -> None:
        if self._refusal is not None and self._held_until >= entry.deadline:
            raise too_late(self._refusal, self._hold, entry.deadline - loop_time())

    @property
    def _hold(self) -> float:
        """For how many seconds no request may be sent."""
        return self._held_until - loop_time()

    def _is_open(self, entry: Entry) -> bool:
        probes = (loop_time() - self._narrowed_at) // _PROBE_SECONDS
        room = min(self._room, self._possible) if entry.attempts else self._room
        allowed = min(self.most or math.inf, room + probes)
        return len(self._in_flight) + 1 <= allowed and self._hold <= 0

    def _narrow(self, error: ProviderError) -> None:
        """Narrow the limit after a refusal."""
        self._refusal = error
        self._possible = math.inf
        self._narrowed = next(self._numbers)
        self._narrowed_at = loop_time()
        self._room = max(1, len(self._in_flight))
        if error.retry_after:
            self._room = 1
            until = self._narrowed_at + jittered(error.retry_after)
            self._held_until = max(self._held_until, until)
            self._narrowed_at = self._held_until

    def _widen(self, answered: _Passage) -> None:
        """Widen the limit by one after an answer; more slowly above the number that was possible before."""
        if math.isinf(self._possible) and answered.number < self._narrowed:
            self._possible = len(self._in_flight)
        self._room += 1 if self._room < self._possible else 1 / self._room

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].woken.set()


def is_crowded(error: ProviderError) -> bool:
    """Return whether a request was refused since there were too many, of this user or of all."""
    return error.category in ("rate_limit", "overloaded") or error.status == _UNAVAILABLE
