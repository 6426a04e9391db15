"""Limiters of providers for runs in processes of their own: requests wait for those of the tree's process.

A provider counts the requests of all processes together, so they take turns together.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.limiter import Entry, LimiterKey, Limiters
from axe_lsp.tasks import Tasks

Send = Callable[[Message], None]


class OutgoingRequests:
    """The requests of a host: each waits for a message of the process above. It is a `Limiters`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Queue[Message]] = {}

    @asynccontextmanager
    async def passage(self, key: LimiterKey, most: int, entry: Entry) -> AsyncIterator[None]:
        """Wait to be let in; the request is sent and answered inside. Raises ProviderError."""
        number = next(self._numbers)
        news = self._open[number] = asyncio.Queue()
        end: protocol.LimiterRelease | None = protocol.LimiterRelease(number)
        patience = entry.deadline - asyncio.get_running_loop().time()
        self._send(protocol.LimiterRequest(number, key, most, entry.attempts, patience))
        try:
            await _let_in(news, entry)
            try:
                yield
                end = protocol.LimiterRelease(number, is_answered=True)
            except ProviderError as error:
                end = None
                self._send(protocol.LimiterRelease(number, refusal=_told(error)))
                error.was_shared = _refusal_in(await news.get()).was_shared
                raise
        finally:
            if end is not None:
                self._send(end)
            del self._open[number]

    def hear(
        self, message: protocol.Held | protocol.LimiterGrant | protocol.LimiterRefusal
    ) -> None:
        """The message of the process above; ignored if the request was given up meanwhile."""
        news = self._open.get(message.number)
        if news is not None:
            news.put_nowait(message)


async def _let_in(news: asyncio.Queue[Message], entry: Entry) -> None:
    message = await news.get()
    if isinstance(message, protocol.Held):
        with entry.waiting(message.seconds):
            message = await news.get()
    if not isinstance(message, protocol.LimiterGrant):
        raise _error(_refusal_in(message))


class IncomingRequests:
    """The requests of a host below this process: they wait for the limiters here."""

    def __init__(self, limiters: Limiters, tasks: Tasks, send: Send) -> None:
        self._limiters = limiters
        self._tasks = tasks
        self._send = send
        self._open: dict[int, tuple[asyncio.Task[None], asyncio.Future[None]]] = {}

    def begin(self, request: protocol.LimiterRequest) -> None:
        """A request waits for its limiter."""
        number = request.number
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = self._tasks.start_unattended(self._pass(request, ended), f"request {number}")
        self._open[number] = task, ended
        task.add_done_callback(lambda _: self._open.pop(number))

    def end(self, passed: protocol.LimiterRelease) -> None:
        """A request has been answered or refused, or was given up."""
        if passed.number not in self._open:
            return  # It was refused before it was sent.
        task, ended = self._open[passed.number]
        if passed.refusal is not None:
            ended.set_exception(_error(passed.refusal))
        elif passed.is_answered:
            ended.set_result(None)
        else:
            task.cancel()

    def forget(self) -> None:
        """The host has died: nobody waits any more."""
        for task, _ in list(self._open.values()):
            task.cancel()

    async def _pass(self, request: protocol.LimiterRequest, ended: asyncio.Future[None]) -> None:
        deadline = asyncio.get_running_loop().time() + request.patience
        entry = Entry(request.attempts, deadline, self._held(request.number))
        try:
            async with self._limiters.passage(request.limiter, request.most, entry):
                self._send(protocol.LimiterGrant(request.number))
                await ended
        except ProviderError as error:
            self._send(protocol.LimiterRefusal(request.number, _told(error)))

    def _held(self, number: int) -> Callable[[float], AbstractContextManager[None]]:
        @contextmanager
        def held(seconds: float) -> Iterator[None]:
            self._send(protocol.Held(number, seconds))
            yield

        return held


def _refusal_in(message: Message) -> protocol.Refusal:
    assert isinstance(message, protocol.LimiterRefusal)
    return message.refusal


def _told(error: ProviderError) -> protocol.Refusal:
    return protocol.Refusal(
        category=error.category,
        message=error.message,
        status=error.status,
        retry_after=error.retry_after,
        may_pass=error.may_pass,
        was_shared=error.was_shared,
        codes=error.codes,
    )


def _error(refusal: protocol.Refusal) -> ProviderError:
    error = ProviderError(
        refusal.category,
        refusal.message,
        refusal.status,
        refusal.retry_after,
        refusal.may_pass,
        codes=refusal.codes,
    )
    error.was_shared = refusal.was_shared
    return error
