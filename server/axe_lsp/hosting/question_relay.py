"""Questions of runs that a person has to answer: on their way out of a host, and at the supervisor's.

A question is open until it is answered or taken back, and never longer than its run.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.safety.questions import Answer, Ask, Question, no_answer
from axe_lsp.tasks import Tasks

Send = Callable[[Message], None]


class OutgoingQuestions:
    """A host's: sent to the supervisor, each waiting for its own answer. It is an `Ask`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Answer]] = {}

    async def __call__(self, question: Question) -> Answer:
        """The answer. To cancel this takes the question back."""
        number = next(self._numbers)
        self._open[number] = asyncio.get_running_loop().create_future()
        self._send(protocol.Asked(question.run.root_run_id, number, question))
        try:
            return await self._open[number]
        except asyncio.CancelledError:
            self._send(protocol.Withdrawn(question.run.root_run_id, number))
            raise
        finally:
            del self._open[number]

    def settle(self, answered: protocol.Answered) -> None:
        """Somebody has answered; if the question was taken back meanwhile, for nothing."""
        answer = self._open.get(answered.number)
        if answer is not None and not answer.done():
            answer.set_result(answered.answer)


class IncomingQuestions:
    """The supervisor's: put to whoever answers for their run."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._open: dict[tuple[str, int], asyncio.Task[None]] = {}

    def put(self, asked: protocol.Asked, ask: Ask, send: Send) -> None:
        """Ask, and send the answer."""
        key = asked.run_id, asked.number
        name = f"question {asked.number} of {asked.run_id}"
        self._open[key] = self._tasks.start_unattended(_ask(asked, ask, send), name)
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


async def _ask(asked: protocol.Asked, ask: Ask, send: Send) -> None:
    """However the asking ends, the host hears of it: it waits."""
    answer = no_answer(asked.question)
    try:
        answer = await ask(asked.question)
    finally:
        send(protocol.Answered(asked.number, answer))
