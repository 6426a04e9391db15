"""Questions of runs to a person, and requests to their editor: on their way out of a host, and at the supervisor's.

Each is open until it is answered or taken back, and never longer than its run.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.safety.questions import Answer, Ask, Question, no_answer
from axe_lsp.runtime.tools.editor import AskEditor, EditorAnswer, EditorRequest
from axe_lsp.tasks import Tasks

Send = Callable[[Message], None]


class OutgoingQuestions:
    """A host's: sent to the supervisor, each waiting for its own answer. It is an `Ask`, and has an `AskEditor`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}

    async def __call__(self, question: Question) -> Answer:
        """The answer. To cancel this takes the question back."""
        number, root = next(self._numbers), question.run.root_run_id
        answer: Answer = await self._answered(protocol.Asked(root, number, question))
        return answer

    async def ask_editor(self, run: RunIds, request: EditorRequest) -> EditorAnswer:
        """The editor's answer to a request of a run. Cancelling withdraws the request."""
        number, root = next(self._numbers), run.root_run_id
        answer: EditorAnswer = await self._answered(
            protocol.EditorAsked(root, number, run, request)
        )
        return answer

    async def _answered(self, asked: protocol.Asked | protocol.EditorAsked) -> Any:
        self._open[asked.number] = asyncio.get_running_loop().create_future()
        self._send(asked)
        try:
            return await self._open[asked.number]
        except asyncio.CancelledError:
            self._send(protocol.Withdrawn(asked.run_id, asked.number))
            raise
        finally:
            del self._open[asked.number]

    def settle(self, answered: protocol.Answered | protocol.EditorAnswered) -> None:
        """Pass an answer on; it has no effect if the question was withdrawn meanwhile."""
        answer = self._open.get(answered.number)
        if answer is not None and not answer.done():
            answer.set_result(answered.answer)


class IncomingQuestions:
    """The supervisor's half: questions for the client that answers for their run."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._open: dict[tuple[str, int], asyncio.Task[None]] = {}

    def put(self, asked: protocol.Asked, ask: Ask, send: Send) -> None:
        """Ask, and send the answer."""
        self._start(asked, _ask(asked, ask, send))

    def put_to_editor(self, asked: protocol.EditorAsked, editor: AskEditor, send: Send) -> None:
        """Have the editor do something, and send what has become of it."""
        self._start(asked, _ask_editor(asked, editor, send))

    def _start(
        self,
        asked: protocol.Asked | protocol.EditorAsked,
        asking: Coroutine[None, None, None],
    ) -> None:
        key = asked.run_id, asked.number
        name = f"question {asked.number} of {asked.run_id}"
        self._open[key] = self._tasks.start_unattended(asking, name)
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


async def _ask_editor(asked: protocol.EditorAsked, editor: AskEditor, send: Send) -> None:
    answer = EditorAnswer("unknown", "the editor could not be asked")
    try:
        answer = await editor(asked.run, asked.request)
    finally:
        send(protocol.EditorAnswered(asked.number, answer))
