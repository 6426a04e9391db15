"""The supervisor of runs: starts, follows and cancels them, and ends them even if their host dies.

Everything happens on the event loop of the server. Nothing here knows who wants the runs, or how
one is made.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from axe_lsp.hosting import protocol
from axe_lsp.hosting.history.rows import Origin
from axe_lsp.hosting.notifications import Message, Notification, notification
from axe_lsp.hosting.relay import IncomingQuestions
from axe_lsp.hosting.run_messages import MessageRequests
from axe_lsp.hosting.run_tree import Left
from axe_lsp.hosting.supervisor.archive import Archive
from axe_lsp.hosting.supervisor.link import HOST, Link, Patience, is_done_within
from axe_lsp.hosting.supervisor.orders import (
    HostedRunError,
    Order,
    Owner,
    Run,
    Subscriber,
    Subscribers,
    error_of,
)
from axe_lsp.runtime.errors import RunCancelledError, RunError
from axe_lsp.runtime.events import Status
from axe_lsp.runtime.inbox import MessageEdit, MessageRefusedError, NewMessage
from axe_lsp.runtime.journal import timestamp
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.runs import RunRequest, new_run_id
from axe_lsp.runtime.safety.questions import Ask, nobody
from axe_lsp.runtime.tools.editor import Ability, AskEditor, no_editor
from axe_lsp.tasks import Tasks

if TYPE_CHECKING:
    from axe_lsp.hosting.supervisor.adopted_host import AdoptedHost

_log = logging.getLogger(__name__)

_MOMENT = 0.02
"""Seconds between two looks for the next host of a run."""

_DIED = "the process that executed this run has died, and its caller has to ask again"


class Runs:
    """The runs of a server, and the host that makes them.

    The host starts with the first run and serves all others. When it has died, the next run starts
    another one. Runs beyond the limit of their client wait, and begin in the order in which
    they were asked for.
    """

    def __init__(
        self,
        command: Sequence[str] = HOST,
        patience: Patience | None = None,
    ) -> None:
        self._command = command
        self._patience = patience or Patience()
        self._tasks = Tasks()
        self._serving: dict[Link, asyncio.Task[None]] = {}
        self._link: Link | None = None
        self._orders: dict[str, Order] = {}
        self._subscribers = Subscribers()
        self.archive = Archive(lambda run_id, text: self._receive(protocol.Warned(run_id, text)))
        self._questions = IncomingQuestions(self._tasks)
        self._messages: dict[Link, MessageRequests] = {}
        self._closed = False

    def start(
        self,
        start: protocol.Start,
        *,
        ask: Ask = nobody,
        editor: AskEditor = no_editor,
        client: object = None,
        limit: Callable[[], int] = lambda: 0,
        go_on: bool = False,
    ) -> Run:
        """Have a run made, or go on `after` its last event. Who subscribes to it before the next `await` misses nothing.

        `ask` is asked before it does what `start` does not allow, and the `editor` does for it what `start.editor`
        says. `limit` says how many runs of that `client` may be at work at the same time, 0 for any number. A run
        that is remembered may `go_on` in another host, once, if its host dies. Raises RunError.
        """
        if self.is_going_on(start.run_id):
            # Imported late, with what it takes to read the history.
            from axe_lsp.hosting.history.run_claims import NotResumableError

            raise NotResumableError(f"run {start.run_id} is going on in this server", "running")
        order = self._order(start, ask)
        order.editor = editor
        order.client, order.limit = client, limit
        order.goes_on = go_on and start.keep_days > 0  # Else there is nothing to go on with.
        if start.keep_days:
            origin = Origin(start.workplace.workspace, start.keep_days)
            self.archive.expect(order.id, origin)
        self.admit()
        return Run(order)

    def admit(self) -> None:
        """Let runs begin that wait, as far as the limits allow; to be called when one has changed."""
        orders = tuple(self._orders.values())
        at_work = Counter(order.client for order in orders if order.is_run_at_work)
        for order in orders:
            if order.waits and at_work[order.client] < (order.limit() or math.inf):
                at_work[order.client] += 1
                self._hand_over(order)

    async def preview(
        self, request: RunRequest, workplace: protocol.Workplace, editor: tuple[Ability, ...] = ()
    ) -> Mapping[str, Json]:
        """Return the first request of a run, as clients see it. Raises RunError."""
        order = self._order(protocol.Preview(new_run_id(), request, workplace, editor))
        self._hand_over(order)
        preview: Mapping[str, Json] = await order.answer()
        return preview

    def cancel(self, run_id: str) -> bool:
        """End a run, a root or a child, with all below it; within a second, whatever it does.

        False if no such run is going on.
        """
        order = self._order_of(run_id)
        if order is None:
            return False
        if order.link is None:
            self._settle(order.id, RunCancelledError())
        elif order.link not in self._serving and run_id != order.id:
            return False  # It will go on in the next host, which does not know it yet.
        else:
            order.may_move = False
            order.is_cancelled = order.is_cancelled or run_id == order.id
            order.link.send(protocol.Cancel(run_id))
            ending = self._see_the_end(order, order.link, run_id)
            self._tasks.start_unattended(ending, f"cancellation of {run_id}")
        return True

    async def request_messages(
        self, run_id: str, message: NewMessage | None = None, edit: MessageEdit | None = None
    ) -> protocol.MessageAnswer:
        """Give a run a message, change one that waits, or else list those that wait. Raises MessageRefusedError.

        A run that waits for its turn gets it when it begins. If the host dies, the next one gets it.
        """
        while (order := self._order_of(run_id)) is not None:
            if order.link is None:
                await order.handed_over.wait()
                continue
            if order.link not in self._serving:  # It has died, and the next one is not ready.
                await asyncio.sleep(_MOMENT)
                continue
            requests = self._messages.setdefault(order.link, MessageRequests(order.link.send))
            answer = await requests.request(order.id, run_id, message, edit)
            if answer is not None:
                return answer
        raise MessageRefusedError("ended" if await self.archive.has(run_id) else "unknown")

    def _order_of(self, run_id: str) -> Order | None:
        """Return the order of a run, a root or one below it, that is going on."""
        below = (each for each in self._orders.values() if run_id in each.tree)
        return self._orders.get(run_id) or next(below, None)

    def is_going_on(self, run_id: str) -> bool:
        """Return whether this is a root run of this server that has not ended."""
        return run_id in self._orders

    def subscribe(self, subscriber: Subscriber, run_id: str | None = None) -> Callable[[], None]:
        """Publish to `subscriber` what happens in a root run and below it; without an id, in all.

        Returns what ends the subscription. That of a single run ends with the run.
        """
        return self._subscribers.add(subscriber, run_id)

    async def adopt(
        self, host: AdoptedHost, starts: Sequence[protocol.Start], *, go_on: bool = False
    ) -> Sequence[str]:
        """Follow the runs of a host that has lost its server; return their ids. Questions wait for an owner.

        They may `go_on` in another host, once, if theirs dies. Raises RunError.
        """
        trees = {each.run_id: await self.archive.tree(each.run_id) for each in starts}
        link = Link(self._receive)
        for start in starts:
            order = self._order(start, Owner())
            order.tree, order.link, order.goes_on = trees[order.id], link, go_on
            order.handed_over.set()
            origin = Origin(start.workplace.workspace, start.keep_days)
            self.archive.expect_more(order.id, origin)
        serving = self._serve(link, link.serve_adopted(host))
        self._serving[link] = self._tasks.start_unattended(serving, "adopted run host")
        return tuple(trees)

    def become_owner(self, run_id: str, ask: Ask, client: object) -> bool:
        """Have the questions of a root run that has outlived its window answered by the `ask` of a client.

        Return whether that client answers them; False if another one does, or no such run is going on.
        """
        order = self._orders.get(run_id)
        if order is None:
            return False
        if isinstance(order.ask, Owner) and order.ask.become(ask):
            order.client = client
        return order.client is client

    async def close(self) -> None:
        """End all runs and the host. What happens in doing so is still published. Some runs may outlive this."""
        self._closed = True
        for order in [each for each in self._orders.values() if each.waits]:
            self._settle(order.id, RunCancelledError())
        patience = self._patience.leave
        left = {order.link for order in self._orders.values() if order.outlives_server}
        for order in [each for each in self._orders.values() if each.link in left]:
            self.archive.leave(order.id)
            self._settle(order.id, RunCancelledError())
        ends = (
            link.release() if link in left else link.end(patience, server_ends=True)
            for link in self._serving
        )
        await asyncio.gather(*ends)
        await asyncio.gather(*self._serving.values())
        await self._tasks.stop(within=self._patience.leave)
        await self.archive.close()

    def _order(self, message: protocol.Start | protocol.Preview, ask: Ask = nobody) -> Order:
        if self._closed:
            raise RunError("the server is shutting down and does not start runs")
        order = Order(message, asyncio.get_running_loop().create_future(), ask)
        self._orders[order.id] = order
        return order

    def _hand_over(self, order: Order) -> None:
        """Have the host carry out an order; the first one starts it."""
        if self._link is None:
            self._link = Link(self._receive)
            serving = self._serve(self._link, self._link.serve(self._command))
            self._serving[self._link] = self._tasks.start_unattended(serving, "run host")
        order.link, order.may_move = self._link, self._link.is_ready
        order.handed_over.set()
        order.link.send(order.message)

    # The life of a host.

    async def _serve(self, link: Link, end: Awaitable[str]) -> None:
        watch = self._tasks.start_unattended(self._watch(link), "heartbeat of the run host")
        how = "was left alone"
        try:
            how = await end
        finally:
            watch.cancel()
            del self._serving[link]
            if link in self._messages:
                self._messages.pop(link).lose()
            self._turn_away_from(link)
            for order in self._orders_at(link):
                await self._after_death(order, how)
            self.archive.take_over_finished(self._orders)

    async def _after_death(self, order: Order, how: str) -> None:
        """Give the order of a host that has died to the next one, or end it."""
        if order.may_move and not self._closed:
            self._hand_over(order)
            return
        if isinstance(order.message, protocol.Start) and self._may_go_on(order):
            order.goes_on = False  # Twice would be a run that kills its host.
            self._questions.forget(order.id)
            seen = max(order.tree.last_seq, order.message.after)
            try:
                adopter, left = await self.archive.adopt(order.message, seen)
            except RunError as error:
                _log.warning("Run %s does not go on by itself: %s", order.id, error)
            else:
                self._catch_up(order, left)
                if order.is_cancelled:  # While nobody executed it.
                    self._end(order, "cancelled", RunCancelledError())
                    return
                if not self._closed:
                    self._warn(
                        order,
                        f"the process that executes runs {how}; run {order.id:.8} goes on in a new one",
                    )
                    after = max(order.tree.last_seq, seen)
                    order.message = replace(order.message, after=after, adopter=adopter)
                    self._hand_over(order)
                    return
        self._end(order, "killed", HostedRunError(_reason_of_end(order, how)))

    def _may_go_on(self, order: Order) -> bool:
        return order.goes_on and not (order.is_cancelled or self._closed)

    def _catch_up(self, order: Order, left: Left) -> None:
        """Publish what a dead host has written and not told, and the ends of runs that will not go on."""
        for event in left.events:
            self._on_event(event)
        ends, _ = order.tree.end("killed", _DIED, timestamp(), kept=left.unfinished)
        news = [notification(replace(event, reason="host")) for event in ends]
        self.archive.take_over(order.id, news)
        for event in news:
            self._subscribers.publish(order.id, event)

    async def _watch(self, link: Link) -> None:
        silence = self._patience.silence
        while True:
            await asyncio.sleep(self._patience.heartbeat)
            if self._orders_at(link) and not await is_done_within(silence, link.ping()):
                await self._kill(link, f"did not answer for {silence:g} s")

    async def _see_the_end(self, order: Order, link: Link, run_id: str) -> None:
        """Make sure that a cancelled run ends."""
        answered = link.ping()
        is_over = await is_done_within(self._patience.cancel, order.outcome)
        is_child = run_id != order.id
        if is_over or (is_child and run_id not in order.tree):
            return
        if not answered.done():
            await self._kill(link, "did not react to the cancellation of a run")
        elif not is_child:
            _log.error("Run %s does not end when it is cancelled, and is abandoned", run_id)
            self._end(order, "cancelled", RunCancelledError())

    async def _kill(self, link: Link, verdict: str) -> None:
        self._turn_away_from(link)
        await link.kill(verdict, self._patience.die)

    def _turn_away_from(self, link: Link) -> None:
        """Give the next order to a new host."""
        if self._link is link:
            self._link = None

    def _orders_at(self, link: Link) -> list[Order]:
        return [order for order in self._orders.values() if order.link is link]

    # What the host says.

    def _receive(self, message: Message) -> None:
        match message:
            case Notification():
                self._on_event(message)
            case protocol.Taken(run_id) if run_id in self._orders:
                self._orders[run_id].may_move = False
            case protocol.Stored(run_id, seq):
                self.archive.stored(run_id, seq, is_failing=message.is_failing)
            case protocol.Warned():
                self._subscribers.publish(message.run_id, message)
            case protocol.Asked() | protocol.EditorAsked() | protocol.Withdrawn():
                self._on_question(message)
            case protocol.Finished():
                self._settle(message.result.run_id, message.result)
            case protocol.Previewed():
                self._settle(message.run_id, message.preview)
            case protocol.Failed():
                self._on_failure(message)
            case _:
                self._on_answer(message)

    def _on_answer(self, answer: Message) -> None:
        if isinstance(answer, protocol.MessageAnswer):
            for requests in self._messages.values():
                requests.hear(answer)

    def _on_failure(self, failed: protocol.Failed) -> None:
        order, error = self._orders.get(failed.run_id), error_of(failed)
        if order is not None and order.tree.is_going_on:  # The next host could not go on with it.
            self._end(order, "cancelled" if failed.cancelled else "killed", error)
        else:
            self._settle(failed.run_id, error)

    def _warn(self, order: Order, text: str) -> None:
        self._subscribers.publish(order.id, protocol.Warned(order.id, text))

    def _on_event(self, event: Notification) -> None:
        order = self._orders.get(event.params["rootRunId"])
        # What a host says again of what the history has is told already.
        if order is not None and event.params["seq"] > order.tree.last_seq:
            order.tree.follow(event)
            self.archive.hear(event)
            self._subscribers.publish(order.id, event)

    def _on_question(
        self, asked: protocol.Asked | protocol.EditorAsked | protocol.Withdrawn
    ) -> None:
        if isinstance(asked, protocol.Withdrawn):
            self._questions.withdraw(asked.run_id, asked.number)
            return
        order = self._orders.get(asked.run_id)
        if order is not None and order.link is not None:
            self._questions.put(asked, order.ask, order.editor, order.link.send)

    def _end(self, order: Order, status: Status, error: RunError) -> None:
        """End a run that can't or won't do so itself."""
        events, error.partial = order.tree.end(status, str(error), timestamp())
        reason = "host" if status == "killed" else None
        news = [notification(replace(event, reason=reason)) for event in events]
        self.archive.take_over(order.id, news)
        for event in news:
            self._subscribers.publish(order.id, event)
        error.run_id = order.id
        if isinstance(order.message, protocol.Start) and not order.message.keep_days:
            from axe_lsp.runtime.memory import forget_run

            forget_run(order.id, os.environ)  # Else it may be resumed.
        self._settle(order.id, error)

    def _settle(self, run_id: str, outcome: object) -> None:
        order = self._orders.pop(run_id, None)
        if order is not None:
            order.outcome.set_result(outcome)
            order.handed_over.set()
            self._subscribers.forget(run_id)
            self.archive.over(run_id)
            self._questions.forget(run_id)
            self.admit()


def _reason_of_end(order: Order, how: str) -> str:
    next_step = "Run the agent again: it gets a new process"
    if (
        isinstance(order.message, protocol.Start)
        and order.message.keep_days
        and order.tree.last_seq
    ):
        next_step = f"`axe-lsp resume {order.id:.8}` continues it"
    return f"the process that executes runs {how}, and this run ended with it. {next_step}"
