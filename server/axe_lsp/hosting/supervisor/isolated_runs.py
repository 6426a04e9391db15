"""Agents in processes of their own: each is a host that makes one run for a tree that lives here.

Its events become events of that tree, its questions are asked here, its requests take turns with those of the
tree, and what it used is paid for here. It ends with this process, whatever ends that, since a host ends when its input does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message, Notification, event_of
from axe_lsp.hosting.relay import (
    IncomingQuestions,
    IncomingRequests,
    IncomingSteps,
    as_steps,
)
from axe_lsp.hosting.run_messages import MessageRequests
from axe_lsp.hosting.run_tree import RunTree
from axe_lsp.hosting.supervisor.link import HOST, Link, Patience, is_done_within
from axe_lsp.hosting.supervisor.orders import HostedRunError, error_of
from axe_lsp.runtime.children.isolation import CallerLink
from axe_lsp.runtime.errors import RunCancelledError, RunError
from axe_lsp.runtime.events import AgentBegin, AgentEnd, AgentResume, Event, Status
from axe_lsp.runtime.inbox import MessageEdit, MessageRefusedError, NewMessage
from axe_lsp.runtime.journal import timestamp
from axe_lsp.runtime.run_log import Begun, Known, Log, StoredMessage
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.safety.questions import TRUST, Answer, Ask, Question
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.tools.editor import Editor, changing_disk, no_editor
from axe_lsp.tasks import Tasks


class IsolatedRuns(Struct, frozen=True):
    """Makes runs in processes of their own. It is an `Elsewhere`.

    They see the same workplace as the run that calls them; `stream`, `on` and `allow` are as for a
    root run. `ask` answers their questions, but those about trust are for `trust`.
    The `editor` serves them as well.
    """

    workplace: protocol.Workplace
    ask: Ask
    trust: TrustPolicy
    stream: bool = False
    on: str = ""
    allow: tuple[str, ...] = ()
    server_ends: Callable[[], bool] = bool
    editor: Editor | None = None

    async def __call__(self, order: Order, caller_link: CallerLink) -> RunResult:
        """Make a run. Raises RunError."""
        with changing_disk(self.editor):
            return await _RemoteRun(self, order, caller_link).make()

    def start_of(self, order: Order, budget: BudgetConfig, known: Known) -> protocol.StartChild:
        """Return the order for the process, of a run of which that is `known`."""
        return protocol.StartChild(
            order=replace(order, definition=None),
            workplace=self.workplace,
            budget=budget,
            stream=self.stream,
            on=self.on,
            allow=self.allow,
            trusted=self.trust.trusts_all,
            granted=tuple(self.trust.granted),
            known=as_steps(known, order.ids.root_run_id),
            begun=known.runs,
            editor=tuple(self.editor.abilities) if self.editor is not None else (),
        )

    async def answer(self, question: Question) -> Answer:
        """Return the answer to a question of such a run."""
        return await (self.trust.answer if question.tool == TRUST else self.ask)(question)


class _RemoteRun:
    """A run that is made in another process, as its tree sees it. If the process dies, a second one goes on."""

    def __init__(self, runs: IsolatedRuns, order: Order, caller_link: CallerLink) -> None:
        known = caller_link.log.below(order.ids.run_id)
        self._runs = runs
        self._order = order
        self._start = runs.start_of(order, caller_link.budget, known)
        self._caller_link = caller_link
        self._patience = Patience()
        self._tasks = Tasks()
        self._steps = IncomingSteps(caller_link.log, known, self._tasks)
        self._lives: dict[str, _Life] = {}
        self._link: Link
        self._questions: IncomingQuestions
        self._requests: IncomingRequests
        self._tree = RunTree()
        self._has_begun = self._is_stopped = False
        self._is_used_up = False
        self._status_at_end: Status = "killed"
        self._reason = "host"
        self._outcome: asyncio.Future[RunResult | RunError]
        self._outcome = asyncio.get_running_loop().create_future()

    async def make(self) -> RunResult:
        """Start the process, and wait until the run is over."""
        self._connect(self._start)
        name = f"process of {self._order.ids.agent}"
        serving = self._tasks.start_unattended(self._serve(), name)
        watching = self._tasks.start_unattended(self._watch(), f"heartbeat of the {name}")
        try:
            outcome = await asyncio.shield(self._outcome)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await self._wind_up(self._runs.server_ends())
            raise
        finally:
            watching.cancel()
            with anyio.CancelScope(shield=True):
                await self._link.end(self._patience.leave)
                await serving
                await self._tasks.stop(self._patience.leave)
        if isinstance(outcome, RunError):
            raise outcome
        return outcome

    def stop(self, run_id: str) -> None:
        """End the run, or one below it, with all that it has started."""
        self._is_stopped = self._is_stopped or run_id == self._order.ids.run_id
        self._link.send(protocol.Cancel(run_id))
        self._tasks.start_unattended(self._see_the_end(run_id), f"cancellation of {run_id}")

    async def request(
        self, run_id: str, message: NewMessage | None = None, edit: MessageEdit | None = None
    ) -> protocol.MessageAnswer:
        """Return the answer of the process to a request about messages. Raises MessageRefusedError."""
        while not self._outcome.done():
            answer = await self._messages.request(self._order.ids.run_id, run_id, message, edit)
            if answer is not None:
                return answer
            await asyncio.sleep(0)  # The next process gets it.
        raise MessageRefusedError("ended")

    # The life of the process.

    async def _serve(self) -> None:
        how = await self._link.serve(HOST)
        self._messages.lose()
        if self._may_go_on:
            self._go_on(how)
            how = await self._link.serve(HOST)
            self._messages.lose()
        self._end(HostedRunError(f"its process {how}"))

    def _connect(self, start: protocol.StartChild) -> None:
        """Give the order to a process that is about to be started."""
        self._link = Link(self._receive)
        self._messages = MessageRequests(self._link.send)
        self._questions = IncomingQuestions(self._tasks)
        limiters = self._caller_link.limiters
        self._requests = IncomingRequests(limiters, self._tasks, self._link.send)
        remaining = self._order.deadline - anyio.current_time()
        self._link.send(replace(start, order=replace(start.order, deadline=remaining)))

    @property
    def _may_go_on(self) -> bool:
        """Whether the process was lost: it had come up, and nobody has ended it."""
        is_over = self._outcome.done() or self._is_stopped or self._status_at_end != "killed"
        return self._link.is_ready and not is_over

    def _go_on(self, how: str) -> None:
        """Give the order to another process, with all that is known of the first one."""
        ids = self._order.ids
        agent = quoted(ids.agent)
        self._caller_link.warn(f"the process of agent {agent} {how}; it goes on in a new one")
        self._questions.forget(ids.root_run_id)
        self._requests.forget()
        self._steps.forget()
        known = Known(self._steps.known, self._begun())
        unfinished = [run.ids.run_id for run in Log(known=known).unfinished(ids.run_id)]
        events, _ = self._tree.end(
            "killed", f"its process {how}", timestamp(), {ids.run_id, *unfinished}
        )
        for event in events:
            self._tell(replace(event, reason="host"))
        steps = as_steps(known, ids.root_run_id)
        self._connect(replace(self._start, known=steps, begun=known.runs))
        if self._is_used_up:
            self._link.send(protocol.UsedUp(ids.run_id))

    def _begun(self) -> dict[str, Begun]:
        now = monotonic()
        lives = {run_id: life.until(now) for run_id, life in self._lives.items()}
        return {**self._start.begun, **lives}

    def _note(self, event: Notification) -> None:
        """Note for how long a run has run."""
        params = event.params
        if event.method == "axe/agent" and params["kind"] in ("begin", "resume"):
            run_id, used_ms = params["runId"], 0
            time = params["time"]
            if params["kind"] == "resume":
                used_ms = params["saved"]["durationMs"]
                time = self._begun()[run_id].time
            self._lives[run_id] = _Life(time, used_ms, monotonic())

    async def _watch(self) -> None:
        silence = self._patience.silence
        while True:
            await asyncio.sleep(self._patience.heartbeat)
            if not await is_done_within(silence, self._link.ping()):
                await self._link.kill(f"did not answer for {silence:g} s", self._patience.die)

    async def _see_the_end(self, run_id: str) -> None:
        answered = self._link.ping()
        await is_done_within(self._patience.cancel, self._outcome)
        if run_id in self._tree and not answered.done():
            await self._link.kill("did not react to the cancellation of a run", self._patience.die)

    async def _wind_up(self, server_ends: bool) -> None:
        """End the cancelled tree: a host whose input ends cancels its runs, and tells of their ends."""
        self._is_stopped = True
        self._status_at_end = "timeout" if self._caller_link.clock.is_over else "cancelled"
        if server_ends:
            self._status_at_end, self._reason = "killed", "server"
        await self._link.end(self._patience.cancel, server_ends=server_ends)
        self._end(RunCancelledError())

    def _end(self, error: RunError) -> None:
        """End what has not said so itself, and never will."""
        if self._outcome.done():
            return
        status = self._status_at_end
        if not self._has_begun:
            self._tell(_begin(self._order))
        events, error.partial = self._tree.end(status, str(error), timestamp())
        for event in events:
            self._tell(replace(event, reason=self._reason) if status == "killed" else event)
        if not events:
            self._tell(
                AgentEnd(run=self._order.ids, status=status, duration_ms=0, error=str(error))
            )
        self._outcome.set_result(error)

    # What the process says.

    def _receive(self, message: Message) -> None:
        match message:
            case Notification() if not self._outcome.done():
                self._note(message)
                self._tree.follow(message)
                self._steps.keep()
                self._tell(event_of(message))
            case protocol.Finished():
                self._settle(message.result)
            case protocol.Failed():
                self._settle(error_of(message))
            case _:
                self._serve_request(message)

    def _serve_request(self, message: Message) -> None:
        """Do what the process wants of its tree."""
        match message:
            case protocol.Warned():
                self._caller_link.warn(message.text)
            case protocol.Asked() | protocol.EditorAsked():
                ask_editor = self._runs.editor.serve if self._runs.editor is not None else no_editor
                self._questions.put(message, self._decide, ask_editor, self._link.send)
            case protocol.Withdrawn(run_id, number):
                self._questions.withdraw(run_id, number)
            case protocol.Stepped(step):
                self._steps.take(step)
            case protocol.Committing():
                self._steps.commit(message, self._link.send)
            case protocol.MessageAnswer():
                self._messages.hear(message)
            case protocol.LimiterRequest():
                self._requests.begin(message)
            case protocol.LimiterRelease():
                self._requests.end(message)

    def _forward_messages(self) -> None:
        """Send the process the messages that have come before its run could begin."""
        for each in self._caller_link.messages:
            message = NewMessage(each.text, each.mode, each.message_id, each.sender)
            sending = self.request(self._order.ids.run_id, message)
            self._tasks.start_unattended(sending, "message to an agent in its own process")

    async def _decide(self, question: Question) -> Answer:
        with self._caller_link.clock.stopped():  # As that of the process itself does.
            return await self._runs.answer(question)

    def _settle(self, outcome: RunResult | RunError) -> None:
        if isinstance(outcome, RunCancelledError) and not self._has_begun:
            self._status_at_end = "cancelled"
            self._end(outcome)
        elif not self._outcome.done():
            self._outcome.set_result(outcome)

    def _tell(self, event: Event) -> None:
        run_id = event.run.run_id
        match event:
            case AgentBegin() | AgentResume():
                self._has_begun = True
                self._caller_link.live[run_id] = _Handle(self, run_id)
                if run_id == self._order.ids.run_id:
                    self._forward_messages()
            case AgentEnd():
                self._caller_link.live.pop(run_id, None)
        if not self._caller_link.tell(event) and not self._is_used_up:
            self._is_used_up = True
            self._link.send(protocol.UsedUp(self._order.ids.run_id))


class _Life(NamedTuple):
    """When a run has begun, for how long it had run in former processes, and since when it does in this one."""

    time: str
    used_ms: int
    since: float

    def until(self, now: float) -> Begun:
        """Return the same for another process."""
        return Begun(self.time, self.used_ms + round((now - self.since) * 1000))


class _Handle(NamedTuple):
    """A run of the other process, by which it can be stopped. It is `Stoppable`."""

    remote: _RemoteRun
    run_id: str

    def stop(self) -> None:
        """End the run and everything below it."""
        self.remote.stop(self.run_id)

    async def accept_message(self, message: NewMessage) -> str:
        """Queue a message and return its id. Raises MessageRefusedError."""
        return (await self.remote.request(self.run_id, message)).message_id

    async def change_message(self, edit: MessageEdit) -> bool:
        """Change or remove a message that waits. Raises MessageRefusedError."""
        return (await self.remote.request(self.run_id, edit=edit)).has_changed

    async def queued_messages(self) -> Sequence[StoredMessage]:
        """Return the messages that wait."""
        return (await self.remote.request(self.run_id)).messages


def _begin(order: Order) -> AgentBegin:
    """Return the events of a run whose process could not start."""
    return AgentBegin(
        run=order.ids,
        task=order.task,
        model=order.model or (order.definition.model if order.definition else ""),
        parent_agent=order.parent_agent,
        description=order.description,
    )
