"""Requests of a process below this one wait at the limiters of this one."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
import pytest

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.hosting.relay import IncomingRequests, ProcessAbove
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.adaptive_limiter import OwnLimiters
from axe_lsp.runtime.providers.provider import Entry, limiter_key
from axe_lsp.tasks import Tasks
from support.passing_time import PassingTime, passing_time, settled

KEY = limiter_key("openai", "http://x", "key")
FULL = ProviderError("rate_limit", "slow down", 429, codes=("busy",))


class Process:
    """A process below this one: its messages travel as lines."""

    def __init__(self, limiters: OwnLimiters) -> None:
        self.tasks = Tasks()
        self.limiters = ProcessAbove(self._up)
        self.waits: list[float] = []
        self._above = IncomingRequests(limiters, self.tasks, self._down)

    def entry(self, deadline: float = math.inf) -> Entry:
        """Somebody who wants to pass."""
        return Entry(0, min(deadline, anyio.current_time() + 600), self._waiting)

    @contextmanager
    def _waiting(self, seconds: float) -> Iterator[None]:
        self.waits.append(seconds)
        yield

    def _up(self, message: Message) -> None:
        received = protocol.read_from_host(protocol.encode(message))
        if isinstance(received, protocol.LimiterRequest):
            self._above.begin(received)
        elif isinstance(received, protocol.LimiterRelease):
            self._above.end(received)

    def _down(self, message: Message) -> None:
        received = protocol.read_to_host(protocol.encode(message))
        assert isinstance(received, (protocol.Held, protocol.LimiterGrant, protocol.LimiterRefusal))
        self.limiters.hear(received)


@asynccontextmanager
async def processes(count: int) -> AsyncIterator[tuple[OwnLimiters, list[Process], PassingTime]]:
    with passing_time() as time:
        limiters = OwnLimiters()
        below = [Process(limiters) for _ in range(count)]
        try:
            yield limiters, below, time
        finally:
            for process in below:
                await process.tasks.stop(1)


async def test_requests_of_two_processes_take_turns() -> None:
    async with processes(2) as (_, (first, second), _), anyio.create_task_group() as tasks:
        passed = anyio.Event()

        async def another() -> None:
            async with second.limiters.passage(KEY, 1, second.entry()):
                passed.set()

        async with first.limiters.passage(KEY, 1, first.entry()):
            tasks.start_soon(another)
            await settled()
            assert second.waits == [0]
            assert not passed.is_set()
        await passed.wait()
        assert first.waits == []


async def test_a_refusal_of_one_holds_the_requests_of_all() -> None:
    async with processes(1) as (limiters, (below,), time), anyio.create_task_group() as tasks:
        with pytest.raises(ProviderError):
            async with below.limiters.passage(KEY, 0, below.entry()):
                raise ProviderError("rate_limit", "wait", 429, retry_after=10)
        waits: list[float] = []

        @contextmanager
        def waiting(seconds: float) -> Iterator[None]:
            waits.append(seconds)
            yield

        async def here() -> None:
            async with limiters.passage(KEY, 0, Entry(0, math.inf, waiting)):
                pass

        tasks.start_soon(here)
        await settled()
        assert len(waits) == 1
        assert 10 <= waits[0] <= 12.5
        await time.goes_by(13)


async def test_a_refusal_says_whether_others_were_in_flight() -> None:
    async with processes(2) as (_, (first, second), _):
        async with first.limiters.passage(KEY, 0, first.entry()):
            with pytest.raises(ProviderError) as caught:
                async with second.limiters.passage(KEY, 0, second.entry()):
                    raise FULL
        assert caught.value is FULL
        assert FULL.was_shared
        alone = ProviderError("rate_limit", "slow down", 429)
        with pytest.raises(ProviderError):
            async with second.limiters.passage(KEY, 0, second.entry()):
                raise alone
        assert not alone.was_shared


async def test_a_request_that_would_wait_for_too_long_is_told_why() -> None:
    async with processes(2) as (_, (first, second), _):
        with pytest.raises(ProviderError):
            async with first.limiters.passage(KEY, 0, first.entry()):
                raise ProviderError("overloaded", "busy", 529, retry_after=100, codes=("c",))
        with pytest.raises(ProviderError, match=r"busy \(it could be sent again in") as caught:
            async with second.limiters.passage(KEY, 0, second.entry(anyio.current_time() + 5)):
                raise AssertionError("it may not pass")
        error = caught.value
        assert (error.category, error.status, error.codes) == ("overloaded", 529, ("c",))


async def test_a_request_that_is_given_up_makes_room_before_and_after_it_has_passed() -> None:
    async with processes(2) as (_, (first, second), _), anyio.create_task_group() as tasks:
        scopes = [anyio.CancelScope() for _ in range(2)]

        async def stay(process: Process, scope: anyio.CancelScope) -> None:
            with scope:
                async with process.limiters.passage(KEY, 1, process.entry()):
                    await anyio.sleep_forever()

        for process, scope in zip((first, second), scopes, strict=True):
            tasks.start_soon(stay, process, scope)
            await settled()
        assert second.waits == [0]
        for scope in reversed(scopes):
            scope.cancel()
            await settled()
        async with second.limiters.passage(KEY, 1, second.entry()):
            assert second.waits == [0]


async def test_what_a_process_has_in_flight_is_over_when_it_ends() -> None:
    async with processes(2) as (_, (first, second), _), anyio.create_task_group() as tasks:

        async def stay() -> None:
            async with first.limiters.passage(KEY, 1, first.entry()):
                await anyio.sleep_forever()

        tasks.start_soon(stay)
        await settled()
        await first.tasks.stop(1)
        async with second.limiters.passage(KEY, 1, second.entry()):
            pass
        tasks.cancel_scope.cancel()
