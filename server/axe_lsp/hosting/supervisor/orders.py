"""The orders of a host, from the request until the answer, and the subscribers to the events of runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.protocol import Warned
from axe_lsp.hosting.run_tree import RunTree
from axe_lsp.hosting.supervisor.link import Link
from axe_lsp.runtime.errors import ErrorKind, ExitCode, RunCancelledError, RunError
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.safety.questions import Answer, Ask, Question, nobody
from axe_lsp.runtime.tools.editor import AskEditor, no_editor


class HostedRunError(RunError):
    """A run that failed in its host, or with its host."""

    def __init__(self, text: str, kind: ErrorKind = "agent", exit_code: int = ExitCode.AGENT):
        super().__init__(text)
        self.kind = kind
        self.exit_code = ExitCode(exit_code)


def error_of(message: protocol.Failed) -> RunError:
    """Return the failure that a host tells of."""
    error = (
        RunCancelledError()
        if message.cancelled
        else HostedRunError(message.text, message.kind, message.exit_code)
    )
    error.hint = message.hint
    error.reason = message.reason
    error.run_id = message.run_id
    error.partial = message.partial
    return error


class Order(Struct, eq=False):
    """An order, from the asking until its answer.

    `link` leads to the host that carries it out; there is none yet while it waits for its turn.
    `outcome` is the answer or a RunError; `tree` stays empty in a preview.
    `ask` leads to the person who answers the questions of the run, `editor` to their editor. `limit` says how many root runs of its `client`
    may be at work at the same time, 0 for any number. One that `may_move` goes to the next host if this one dies:
    it was sent to a host that was up, and that has never said to have begun. A run that `goes_on` has begun, and the
    next host goes on with it if this one dies. It `is_cancelled` once it was stopped.
    """

    message: protocol.Start | protocol.Preview
    outcome: asyncio.Future[Any]
    ask: Ask = nobody
    editor: AskEditor = no_editor
    client: object = None
    limit: Callable[[], int] = lambda: 0
    link: Link | None = None
    may_move: bool = False
    goes_on: bool = False
    is_cancelled: bool = False
    tree: RunTree = field(default_factory=RunTree)
    handed_over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.message.run_id

    @property
    def waits(self) -> bool:
        """Whether its turn is still to come."""
        return self.link is None and not self.outcome.done()

    @property
    def outlives_server(self) -> bool:
        """Whether its host has it, and goes on with it if the server ends."""
        message = self.message
        is_there = self.link is not None and self.link.is_ready
        return (
            is_there
            and isinstance(message, protocol.Start)
            and bool(message.grace and message.keep_days)
        )

    @property
    def is_run_at_work(self) -> bool:
        """Whether a host makes a run for it."""
        return self.link is not None and isinstance(self.message, protocol.Start)

    async def answer(self) -> Any:
        """Return the answer; raises RunError. Cancelling this wait does not stop the order."""
        outcome = await asyncio.shield(self.outcome)
        if isinstance(outcome, RunError):
            raise outcome
        return outcome


class Owner:
    """The client that answers the questions of a run whose window has gone. Questions wait until there is one."""

    def __init__(self) -> None:
        self._ask: asyncio.Future[Ask] = asyncio.get_running_loop().create_future()

    def become(self, ask: Ask) -> bool:
        """Answer the questions by `ask`, unless another client does."""
        if self._ask.done():
            return False
        self._ask.set_result(ask)
        return True

    async def __call__(self, question: Question) -> Answer:
        """Return the answer of the client, as soon as there is one."""
        ask = await asyncio.shield(self._ask)
        return await ask(question)


class Run:
    """A root run, for the one who started it."""

    def __init__(self, order: Order) -> None:
        self.id = order.id
        self._order = order

    @property
    def waits(self) -> bool:
        """Whether it begins only when others have ended."""
        return self._order.waits

    async def result(self) -> RunResult:
        """Return the result of the run; raises RunError if it fails. All its events were published before.

        Cancelling this wait does not stop the run.
        """
        result: RunResult = await self._order.answer()
        return result


_log = logging.getLogger(__name__)

News = Notification | Warned
Subscriber = Callable[[News], None]
"""Takes what happens in a run, and returns at once: the server does nothing else meanwhile."""


_MOST_ENDED = 16
"""Runs that are over whose subscribers still get warnings: the history of a short run may fail after its end."""


class Subscribers:
    """The subscribers of single runs and of all."""

    def __init__(self) -> None:
        self._by_run: dict[str | None, list[Subscriber]] = {}
        self._of_ended: dict[str, list[Subscriber]] = {}

    def add(self, subscriber: Subscriber, run_id: str | None) -> Callable[[], None]:
        """Begin a subscription; returns what ends it."""
        self._by_run.setdefault(run_id, []).append(subscriber)

        def end() -> None:
            subscribers = self._by_run.get(run_id, [])
            if subscriber in subscribers:
                subscribers.remove(subscriber)
            if not subscribers:
                self._by_run.pop(run_id, None)

        return end

    def publish(self, run_id: str, news: News) -> None:
        """Tell everybody who wants to know about the root run of that id, once."""
        late = self._of_ended.get(run_id, ()) if isinstance(news, Warned) else ()
        everybody = (*self._by_run.get(None, ()), *self._by_run.get(run_id, ()), *late)
        for subscriber in dict.fromkeys(everybody):
            try:
                subscriber(news)
            except Exception:  # noqa: BLE001 - a bug in one subscriber is no matter of the others
                _log.exception("A subscriber of run %s failed", run_id)

    def forget(self, run_id: str) -> None:
        """End the subscriptions of a run that is over, but for warnings."""
        self._of_ended[run_id] = self._by_run.pop(run_id, [])
        if len(self._of_ended) > _MOST_ENDED:
            del self._of_ended[next(iter(self._of_ended))]
