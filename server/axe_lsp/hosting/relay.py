"""Between a run host and the process above it: questions to a person, requests to their editor, turns at limiters, and steps.

Each request of a host has a number, and so has its answer. A question is open until it is answered or taken back, and
never longer than its run. A provider counts the requests of all processes together, so they take turns together. A step
is kept together with the next event of its host, so what a run has done and what was told of it are the same if the
host dies.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, cast

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.providers.provider import Entry, LimiterKey, Limiters
from axe_lsp.runtime.run_log import Known, Log
from axe_lsp.runtime.run_steps import Step, StepKind
from axe_lsp.runtime.safety.questions import Answer, Ask, Question, no_answer
from axe_lsp.runtime.tools.editor import AskEditor, EditorAnswer, EditorRequest
from axe_lsp.tasks import Tasks

Send = Callable[[Message], None]

_PATIENCE = 3.0
"""Seconds that a call waits for the process above, which itself waits for the disk, but not as long."""


_NO_EDITOR = EditorAnswer("failed", "the window of the editor has been closed")


class ProcessAbove:
    """The process above, for the runs of a host. It is an `Ask`, a `Limiters` and a `StepSink`, and has an `AskEditor`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Queue[Any]] = {}
        self._asked: dict[int, protocol.Asked | protocol.EditorAsked] = {}
        self._has_editor = True

    def hear(self, message: protocol.ToRequest) -> None:
        """Take an answer; it is ignored if the request was given up meanwhile."""
        news = self._open.get(message.number)
        if news is not None:
            news.put_nowait(message)

    def lose_editor(self) -> None:
        """Take note that the process above has gone. Questions to the person wait for the next one, and the editor fails."""
        self._has_editor = False
        for asked in list(self._asked.values()):
            if isinstance(asked, protocol.EditorAsked):
                self.hear(protocol.EditorAnswered(asked.number, _NO_EDITOR))

    def ask_again(self) -> None:
        """Send the open questions to the process that is above from now on."""
        for asked in self._asked.values():
            self._send(asked)

    async def __call__(self, question: Question) -> Answer:
        """Return the answer. To cancel this takes the question back."""
        with self._request() as (number, news):
            asked = protocol.Asked(question.run.root_run_id, number, question)
            answer: Answer = await self._answer(asked, news)
        return answer

    async def ask_editor(self, run: RunIds, request: EditorRequest) -> EditorAnswer:
        """Return the editor's answer to a request of a run. Cancelling withdraws the request."""
        if not self._has_editor:
            return _NO_EDITOR
        with self._request() as (number, news):
            asked = protocol.EditorAsked(run.root_run_id, number, run, request)
            answer: EditorAnswer = await self._answer(asked, news)
        return answer

    @asynccontextmanager
    async def passage(self, key: LimiterKey, most: int, entry: Entry) -> AsyncIterator[None]:
        """Wait to be let in; the request is sent and answered inside. Raises ProviderError."""
        patience = entry.deadline - asyncio.get_running_loop().time()
        with self._request() as (number, news):
            end: protocol.LimiterRelease | None = protocol.LimiterRelease(number)
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

    def keep(self, step: Step) -> None:
        """Send a step, which is kept with the next event."""
        self._send(protocol.Stepped(step))

    async def committed(self, root: str) -> None:
        """Wait until all steps so far are on the disk."""
        with self._request() as (number, news):
            self._send(protocol.Committing(root, number))
            answer = asyncio.ensure_future(news.get())
            try:
                await asyncio.wait({answer}, timeout=_PATIENCE)
            finally:
                answer.cancel()

    @contextmanager
    def _request(self) -> Iterator[tuple[int, asyncio.Queue[Any]]]:
        """Provide a new number, and the messages that answer it."""
        number = next(self._numbers)
        self._open[number] = asyncio.Queue()
        try:
            yield number, self._open[number]
        finally:
            del self._open[number]

    async def _answer(
        self, asked: protocol.Asked | protocol.EditorAsked, news: asyncio.Queue[Any]
    ) -> Any:
        self._asked[asked.number] = asked
        self._send(asked)
        try:
            return (await news.get()).answer
        except asyncio.CancelledError:
            self._send(protocol.Withdrawn(asked.run_id, asked.number))
            raise
        finally:
            del self._asked[asked.number]


async def _let_in(news: asyncio.Queue[Message], entry: Entry) -> None:
    message = await news.get()
    if isinstance(message, protocol.Held):
        with entry.waiting(message.seconds):
            message = await news.get()
    if not isinstance(message, protocol.LimiterGrant):
        raise _error(_refusal_in(message))


class IncomingQuestions:
    """The questions of the hosts below, for the client that answers for their run, and requests to its editor."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._open: dict[tuple[str, int], asyncio.Task[None]] = {}

    def put(
        self,
        asked: protocol.Asked | protocol.EditorAsked,
        ask: Ask,
        editor: AskEditor,
        send: Send,
    ) -> None:
        """Ask, or have the editor do something, and send the answer."""
        key = asked.run_id, asked.number
        name = f"question {asked.number} of {asked.run_id}"
        self._open[key] = self._tasks.start_unattended(_answer(asked, ask, editor, send), name)
        self._open[key].add_done_callback(lambda _: self._open.pop(key))

    def withdraw(self, run_id: str, number: int) -> None:
        """Take a question back."""
        asking = self._open.get((run_id, number))
        if asking is not None:
            asking.cancel()

    def forget(self, run_id: str) -> None:
        """Take back all questions of a root run, which has ended."""
        for (asker, _), asking in list(self._open.items()):
            if asker == run_id:
                asking.cancel()


async def _answer(
    asked: protocol.Asked | protocol.EditorAsked, ask: Ask, editor: AskEditor, send: Send
) -> None:
    """Ask and send the answer to the host, which waits for one even if asking fails."""
    answered: protocol.Answered | protocol.EditorAnswered
    if isinstance(asked, protocol.Asked):
        answered = protocol.Answered(asked.number, no_answer(asked.question))
    else:
        nothing = EditorAnswer("unknown", "the editor could not be asked")
        answered = protocol.EditorAnswered(asked.number, nothing)
    try:
        if isinstance(asked, protocol.Asked):
            answered = protocol.Answered(asked.number, await ask(asked.question))
        else:
            answer = await editor(asked.run, asked.request)
            answered = protocol.EditorAnswered(asked.number, answer)
    finally:
        send(answered)


class IncomingRequests:
    """The requests of a host below this process: they wait for the limiters here."""

    def __init__(self, limiters: Limiters, tasks: Tasks, send: Send) -> None:
        self._limiters = limiters
        self._tasks = tasks
        self._send = send
        self._open: dict[int, tuple[asyncio.Task[None], asyncio.Future[None]]] = {}

    def begin(self, request: protocol.LimiterRequest) -> None:
        """Take note that a request waits for its limiter."""
        number = request.number
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = self._tasks.start_unattended(self._pass(request, ended), f"request {number}")
        self._open[number] = task, ended
        task.add_done_callback(lambda _: self._open.pop(number))

    def end(self, passed: protocol.LimiterRelease) -> None:
        """Take note that a request has been answered or refused, or was given up."""
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
        """Take note that the host has died: nobody waits any more."""
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


class IncomingSteps:
    """The steps of a host below this process, which keeps them in `log`. `known` are all that are kept by now."""

    def __init__(self, log: Log, known: Known, tasks: Tasks) -> None:
        self._log = log
        self._tasks = tasks
        self._new: list[Step] = []
        self.known = dict(known.steps)

    def take(self, step: Step) -> None:
        """Take a step, whose event follows."""
        self._new.append(step)

    def keep(self) -> None:
        """Take note that the next event is there."""
        for step in self._new:
            self.known[step.run_id, step.turn, step.call, step.kind] = step.data
            self._log.keep(step)
        self._new.clear()

    def forget(self) -> None:
        """Take note that the next event will never come."""
        self._new.clear()

    def commit(self, committing: protocol.Committing, send: Send) -> None:
        """Answer when all that has come is on the disk."""
        self.keep()
        name = f"commit {committing.number} of {committing.root_run_id}"
        self._tasks.start_unattended(self._commit(committing, send), name)

    async def _commit(self, committing: protocol.Committing, send: Send) -> None:
        await self._log.committed(committing.root_run_id)
        send(protocol.Committed(committing.number))


def as_steps(known: Known, root: str) -> tuple[Step, ...]:
    """Return the steps of a part of a tree, as messages have them."""
    return tuple(
        Step(root, run_id, cast(StepKind, kind), turn, call, data)
        for (run_id, turn, call, kind), data in known.steps.items()
    )


def known_of(start: protocol.StartChild) -> Known:
    """Return the steps of the run that a host is to make."""
    steps = {(each.run_id, each.turn, each.call, str(each.kind)): each.data for each in start.known}
    return Known(steps, start.begun)


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
