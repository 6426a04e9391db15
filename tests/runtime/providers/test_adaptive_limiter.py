"""The limiter of a provider: which requests pass, which wait, and how it learns.

Requests are tasks here that are answered when the test says so, and time passes when it says so.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
import pytest
from anyio.abc import TaskGroup

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.adaptive_limiter import AdaptiveLimiter, is_crowded
from axe_lsp.runtime.providers.provider import Entry
from support.passing_time import PassingTime, passing_time, settled

FULL = ProviderError("rate_limit", "slow down", 429)
WAIT = ProviderError("rate_limit", "slow down", 429, retry_after=10)


class Requests:
    """Requests at a limiter, by name: which have passed, and what came of them."""

    def __init__(self, limiter: AdaptiveLimiter, tasks: TaskGroup, time: PassingTime) -> None:
        self.time = time
        self.passed: list[str] = []
        self.waits: list[float] = []
        self.shared: dict[str, bool] = {}
        self.failures: dict[str, str] = {}
        self._limiter = limiter
        self._tasks = tasks
        self._ends: dict[str, anyio.Event] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._errors: dict[str, ProviderError] = {}

    async def send(self, *names: str, attempts: int = 0, deadline: float = math.inf) -> None:
        """Send requests, and let all that may pass do so."""
        for name in names:
            self._ends[name], self._scopes[name] = anyio.Event(), anyio.CancelScope()
            self._tasks.start_soon(self._request, name, Entry(attempts, deadline, self._waiting))
            await settled()

    async def answer(self, *names: str) -> None:
        """Answer requests."""
        for name in names:
            self._ends[name].set()
            await settled()

    async def refuse(self, *names: str, error: ProviderError = FULL) -> None:
        """Refuse requests."""
        self._errors.update(dict.fromkeys(names, error))
        await self.answer(*names)

    async def give_up(self, name: str) -> None:
        """The run of a request is stopped."""
        self._scopes[name].cancel()
        await settled()

    async def _request(self, name: str, entry: Entry) -> None:
        try:
            with self._scopes[name]:
                async with self._limiter.passage(entry):
                    self.passed.append(name)
                    await self._ends[name].wait()
                    if name in self._errors:
                        raise self._errors[name]
        except ProviderError as error:
            self.failures[name] = str(error)
            self.shared[name] = error.was_shared

    @contextmanager
    def _waiting(self, seconds: float) -> Iterator[None]:
        self.waits.append(seconds)
        yield


@asynccontextmanager
async def requests(most: int = 0) -> AsyncIterator[Requests]:
    with passing_time() as time:
        async with anyio.create_task_group() as tasks:
            yield Requests(AdaptiveLimiter(most), tasks, time)
            tasks.cancel_scope.cancel()


async def test_until_a_refusal_all_pass() -> None:
    async with requests() as sent:
        await sent.send(*"abcdefgh")
        assert sent.passed == [*"abcdefgh"]
        assert sent.waits == []


async def test_no_more_pass_than_the_user_allows_and_the_others_in_their_order() -> None:
    async with requests(2) as sent:
        await sent.send(*"abcd")
        assert (sent.passed, sent.waits) == ([*"ab"], [0, 0])
        await sent.answer("b")
        assert sent.passed == [*"abc"]
        await sent.refuse("a", error=ProviderError("bad_request", "no", 400))
        assert sent.passed == [*"abcd"]


async def test_whoever_is_stopped_holds_nobody_up() -> None:
    async with requests(1) as sent:
        await sent.send(*"abcd")
        await sent.give_up("b")
        await sent.give_up("a")
        assert sent.passed == [*"ac"]
        await sent.answer("c")
        assert sent.passed == [*"acd"]


async def test_a_refusal_leaves_room_for_those_beside_it() -> None:
    async with requests() as sent:
        await sent.send(*"abcdef")
        await sent.refuse(*"def")
        await sent.send(*"DEF", attempts=1)
        assert sent.passed == [*"abcdef"]
        await sent.answer("a")
        assert sent.passed == [*"abcdefD"]


async def test_a_refusal_that_names_a_wait_holds_all_and_then_they_pass_one_by_one() -> None:
    async with requests() as sent:
        await sent.send("a")
        await sent.refuse("a", error=WAIT)
        await sent.send(*"bcdefg")
        assert sent.passed == ["a"]
        assert 10 <= sent.waits[0] <= 12.5
        await sent.time.goes_by(9.9)
        assert sent.passed == ["a"]
        await sent.time.goes_by(2.7)
        assert sent.passed == [*"ab"]
        await sent.answer("b")
        assert sent.passed == [*"abcd"]
        await sent.answer("c")
        assert sent.passed == [*"abcdef"]


async def test_what_is_known_to_be_too_much_is_tried_again_but_seldom() -> None:
    async with requests() as sent:
        await sent.send(*"abcdef")
        await sent.refuse(*"ef")
        await sent.send(*"ghijklmnop")
        await sent.answer(*"abcd")
        assert sent.passed == [*"abcdefghij"], "one for each"
        await sent.answer("g")
        assert sent.passed == [*"abcdefghijkl"], "and now one more"


async def test_the_limit_is_not_tried_by_those_that_were_refused_before() -> None:
    async with requests() as sent:
        await sent.send(*"abc")
        await sent.refuse("c")
        await sent.send(*"de")
        await sent.answer(*"ab")
        await sent.send(*"fgh")
        await sent.answer("d")
        assert sent.passed == [*"abcdefg"], "one more than were possible"
        await sent.answer("f")
        await sent.send("C", attempts=1)
        assert sent.passed == [*"abcdefgh"]
        await sent.answer("e")
        assert sent.passed == [*"abcdefgh"]
        await sent.answer("g")
        assert sent.passed == [*"abcdefghC"]


async def test_an_answer_that_takes_long_holds_nobody_up_for_ever() -> None:
    async with requests() as sent:
        await sent.send(*"ab")
        await sent.refuse("b")
        await sent.send(*"cd")
        await sent.time.goes_by(9)
        assert sent.passed == [*"ab"]
        await sent.time.goes_by(2)
        assert sent.passed == [*"abc"]
        await sent.time.goes_by(10)
        assert sent.passed == [*"abcd"]


async def test_those_that_were_refused_go_before_newer_ones() -> None:
    async with requests(1) as sent:
        await sent.send(*"abc")
        await sent.send("d", attempts=1)
        await sent.answer("a")
        assert sent.passed == [*"ad"]


async def test_a_wait_that_ends_after_the_run_does_is_not_begun() -> None:
    async with requests() as sent:
        await sent.send("a")
        await sent.refuse("a", error=WAIT)
        await sent.send("b", deadline=sent.time.now + 5)
        assert sent.failures["b"].startswith("rate_limit: slow down (it could be sent again in 1")
        assert sent.failures["b"].endswith("s, and this run may wait no longer than 5s)")
        assert (sent.passed, sent.waits) == (["a"], [])


async def test_a_wait_that_grows_too_long_is_ended() -> None:
    async with requests() as sent:
        await sent.send(*"ab")
        await sent.refuse("a", error=WAIT)
        await sent.send("c", deadline=sent.time.now + 15)
        await sent.time.goes_by(5)
        await sent.refuse("b", error=ProviderError("overloaded", "later", 529, retry_after=60))
        await sent.time.goes_by(8)
        assert sent.failures["c"].startswith("overloaded: later (it could be sent again in ")


async def test_a_request_knows_whether_it_was_alone() -> None:
    async with requests() as sent:
        await sent.send("a")
        await sent.refuse("a")
        await sent.send("b")
        await sent.answer("b")
        await sent.send(*"cd")
        await sent.refuse("d", error=ProviderError("server", "boom", 500))
        await sent.refuse("c", error=ProviderError("server", "boom", 500))
        assert sent.shared == {"a": False, "c": True, "d": True}


@pytest.mark.parametrize(
    ("error", "crowded"),
    [
        (ProviderError("rate_limit", "", 429), True),
        (ProviderError("overloaded", "", 529), True),
        (ProviderError("overloaded", ""), True),
        (ProviderError("server", "", 503), True),
        (ProviderError("server", "", 500), False),
        (ProviderError("quota", "", 429), False),
    ],
)
def test_which_refusals_mean_that_there_were_too_many(error: ProviderError, crowded: bool) -> None:
    assert is_crowded(error) == crowded
