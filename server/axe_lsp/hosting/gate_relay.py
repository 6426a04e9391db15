"""Gates of providers for runs in processes of their own: requests wait at those of the tree's process.

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
from axe_lsp.runtime.providers.gates import Entry, GateKey, Gates
from axe_lsp.tasks import Tasks

Send = Callable[[Message], None]


class OutgoingRequests:
    """Those of a host: each waits for what the process above says of it. It is a `Gates`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Queue[Message]] = {}

    @asynccontextmanager
    async def passage(self, key: GateKey, most: int, entry: Entry) -> AsyncIterator[None]:
        """Wait to be let in; the request is sent and answered inside. Raises ProviderError."""
        number = next(self._numbers)
        news = self._open[number] = asyncio.Queue()
        end: protocol.GateRelease | None = protocol.GateRelease(number)
        patience = entry.deadline - asyncio.get_running_loop().time()
        self._send(protocol.GateRequest(number, key, most, entry.attempts, patience))
        try:
            await _let_in(news, entry)
            try:
                yield
                end = protocol.GateRelease(number, is_answered=True)
            except ProviderError as error:
                end = None
                self._send(protocol.GateRelease(number, refusal=_told(error)))
                error.was_shared = _refusal_in(await news.get()).was_shared
                raise
        finally:
            if end is not None:
                self._send(end)
            del self._open[number]

    def hear(self, message: protocol.Held | protocol.GateGrant | protocol.GateRefusal) -> None:
        """The message of the process above; ignored if the request was given up meanwhile."""
        news = self._open.get(message.number)
        if news is not None:
            news.put_nowait(message)


async def _let_in(news: asyncio.Queue[Message], entry: Entry) -> None:
    message = await news.get()
    if isinstance(message, protocol.Held):
        with entry.waiting(message.seconds):
            message = await news.get()
    if not isinstance(message, protocol.GateGrant):
        raise _error(_refusal_in(message))


class IncomingRequests:
    """Those of a host below this process: let in at the gates here."""

    def __init__(self, gates: Gates, tasks: Tasks, send: Send) -> None:
        self._gates = gates
        self._tasks = tasks
        self._send = send
        self._open: dict[int, tuple[asyncio.Task[None], asyncio.Future[None]]] = {}

    def knock(self, knocked: protocol.GateRequest) -> None:
        """A request wants to pass."""
        number = knocked.number
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = self._tasks.start_unattended(self._let_pass(knocked, ended), f"request {number}")
        self._open[number] = task, ended
        task.add_done_callback(lambda _: self._open.pop(number))

    def end(self, passed: protocol.GateRelease) -> None:
        """A request has passed, or was given up."""
        if passed.number not in self._open:
            return  # It was told that it may not.
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

    async def _let_pass(self, knocked: protocol.GateRequest, ended: asyncio.Future[None]) -> None:
        deadline = asyncio.get_running_loop().time() + knocked.patience
        entry = Entry(knocked.attempts, deadline, self._held(knocked.number))
        try:
            async with self._gates.passage(knocked.gate, knocked.most, entry):
                self._send(protocol.GateGrant(knocked.number))
                await ended
        except ProviderError as error:
            self._send(protocol.GateRefusal(knocked.number, _told(error)))

    def _held(self, number: int) -> Callable[[float], AbstractContextManager[None]]:
        @contextmanager
        def held(seconds: float) -> Iterator[None]:
            self._send(protocol.Held(number, seconds))
            yield

        return held


def _refusal_in(message: Message) -> protocol.Refusal:
    assert isinstance(message, protocol.GateRefusal)
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
