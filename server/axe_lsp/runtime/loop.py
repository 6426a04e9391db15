"""The loop of a run: send, execute the tools, send again; and the events of all this (001-8).

What the next step is, `conversation` decides. Here it is awaited.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from time import monotonic
from typing import Literal

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.tools import WEB_TOOLS
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.children.delegation import (
    CALL_AGENT,
    TASK,
    Delegator,
    Start,
    call_agent,
)
from axe_lsp.runtime.children.side_run_definitions import SIDE_RUN_TOOL_NAMES, STOP_AGENT
from axe_lsp.runtime.children.side_runs import SideRuns
from axe_lsp.runtime.children.typed_tools import call_typed
from axe_lsp.runtime.conversation import Conversation, told_apart
from axe_lsp.runtime.delivery import Delivery
from axe_lsp.runtime.errors import ProviderError, RunCancelledError, RunError
from axe_lsp.runtime.events import (
    CompactionBegin,
    CompactionEnd,
    ContextShortened,
    RunIds,
    TextDelta,
    ThoughtDelta,
    ToolBegin,
    ToolEnd,
    TurnBegin,
    TurnEnd,
    TurnWait,
)
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.inbox import Inbox
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.limits.clock import Clock, RunScope
from axe_lsp.runtime.mcp.remote_tools import RemoteTool, RemoteTools
from axe_lsp.runtime.messages import (
    NOTHING_GIVEN,
    Delta,
    Response,
    Tool,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.providers.provider import Exchange, OnDelta, Provider
from axe_lsp.runtime.resuming.restore import INTERRUPTED, restore
from axe_lsp.runtime.run_log import Gave, Room, RunLog
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order, Sender
from axe_lsp.runtime.safety.approval import ApprovalRequest, Approve
from axe_lsp.runtime.safety.redaction import StreamRedactor, redact, redacted_table
from axe_lsp.runtime.services import Tree
from axe_lsp.runtime.shortening import context_limit, tokens_in
from axe_lsp.runtime.tools.editor import changing_disk
from axe_lsp.runtime.tools.paths import learn_files
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import (
    BUILTIN_TOOLS,
    changes_file,
    changes_something,
    execute_tool,
    unknown_tool,
)
from axe_lsp.runtime.usage import cost_today

CallOrder = Literal["reads", "changes", "apart", "starts"]
"""Whether a call only looks, may change something, or has nothing to do with the others, as the
runs of sub-agents, which begin at once. Calls that start side runs get their names one after the other."""


class _Former(Struct, frozen=True):
    """Takes what a former process has started and given."""

    around: Surroundings

    def started(self, turn: int, call: ToolCall, outcome: ToolOutcome) -> None:
        self.around.side_runs.started(turn, call, outcome)

    def gave(self, names: Collection[str]) -> None:
        self.around.side_runs.gave(names)

    def texts(self, gave: Gave) -> Sequence[str]:
        self.around.inbox.forget(gave)
        return self.around.side_runs.texts(gave)


class Surroundings(Struct, frozen=True):
    """The context of a conversation: the state of its tree, its provider, and the maker of child runs.

    `workplace` is where tools work, `remote` are the tools of the agent's MCP servers, `own` all others. The `ledger` says
    whether the conversation may go on, the `scope` how long. The `log` has what need not be done again.
    `senders` are the files of this agent and of those above, if it has agents below.
    `check_web` returns why the agent may not use a tool for the web, or "". The `delivery` gives what comes from
    its `side_runs` and into its `inbox`.
    """

    tree: Tree
    prepared: Prepared
    remote: RemoteTools
    own: tuple[Tool, ...]
    provider: Provider
    journal: Journal
    start: Start
    workplace: Workplace
    ledger: Ledger
    scope: RunScope
    streams: bool
    log: RunLog
    senders: tuple[Sender, ...]
    approve: Approve
    check_web: Callable[[str], Awaitable[str]]
    inbox: Inbox
    side_runs: SideRuns
    delivery: Delivery

    @property
    def clock(self) -> Clock:
        """The clock of this run."""
        return self.scope.clock

    def warn(self, text: str) -> None:
        """Tell of something in this run that did not end it."""
        self.tree.warn(self.prepared.order.ids, text)

    def delegator(self, turn: int, *, is_side: bool = False) -> Delegator:
        """Return the agent of this run, as its children see it that are called in a turn, as side runs or not."""
        return Delegator(
            definition=self.prepared.definition,
            order=self.prepared.order,
            model=str(self.prepared.model),
            workdir=self.prepared.prompt.folder,
            caller=self.prepared.caller,
            deadline=self.clock.deadline,
            max_depth=self.prepared.max_depth,
            turn=turn,
            senders=self.senders,
            allowed_hosts=self.workplace.allowed_hosts,
            begin_side=self.side_runs.begin if is_side else None,
        )

    async def start_blocking(self, order: Order) -> RunResult:
        """Make a run for which this one waits, unless a message breaks it off: then its last text is the result."""
        run_id = order.ids.run_id

        def break_off() -> None:
            if not self.tree.stop(run_id):
                scope.cancel()

        slots = self.side_runs.slots
        with anyio.CancelScope() as scope, self.inbox.interruption(break_off) as interruption:
            try:
                async with slots if slots is not None else nullcontext():
                    return await self.start(order)
            except RunCancelledError as error:
                if interruption.has_happened and error.partial is not None:
                    return error.partial
                raise
        raise RunCancelledError

    def offers(self, tool: str) -> bool:
        """Return whether the model was offered a tool of this name."""
        return any(each.name == tool for each in self.own)

    def order_of(self, call: ToolCall) -> CallOrder:
        """Return the calls that a call has to wait for."""
        remote = self.remote.by_name.get(call.name)
        if remote is not None:
            return "reads" if remote.only_reads else "changes"
        if changes_something(call.name):
            return "changes"
        if call.name in BUILTIN_TOOLS:
            return "reads"
        return "starts" if self.starts_side_run(call) else "apart"

    def starts_side_run(self, call: ToolCall) -> bool:
        """Return whether a call starts a side run."""
        calls_agent = call.name in (CALL_AGENT, TASK) or call.name in self.prepared.typed.by_name
        return calls_agent and self.side_runs.starts(call)

    def secrets(self) -> frozenset[str]:
        """Return the texts that no event may contain."""
        return known_secrets(self.workplace.environment) | self.remote.secrets


_CUT_OFF = (
    "Error: this call was cut off at the output limit and was not executed. "
    "Send it again in smaller parts."
)

MAX_CALLS = 1000
"""Tool calls of one answer that are executed."""

_NOT_BEGUN = "Error: this call was not executed, because a message arrived before it"

_BROKEN_OFF = (
    "Error: this call was broken off by a message. Whether it took effect is not known. "
    "Look before you do it again."
)

_TOO_MANY = f"Error: an answer may have at most {MAX_CALLS:,} tool calls; this one was not executed"


class _Round(Struct, frozen=True):
    """The calls of one answer, and what their events must not hold."""

    turn: int
    calls: tuple[ToolCall, ...]
    secrets: frozenset[str]


async def converse(conversation: Conversation, around: Surroundings) -> None:
    """Go on until the model has nothing left to call. Raises RunError or CallersBudgetError."""
    of_round = _known_round(conversation, around)
    for turn, call in around.side_runs.unfinished:
        called = _called_agent(around, turn, call, is_side=True)
        if called is not None:
            await called
    around.side_runs.unfinished.clear()
    if of_round is None:
        of_round = await _turn(conversation, around)
    await _go_on(conversation, around, of_round)


async def go_on_if_woken(conversation: Conversation, around: Surroundings) -> bool:
    """Go on if something has come after the end of the conversation. Returns False if nothing has.

    Nothing is awaited between the last look and the return.
    """
    if not await around.delivery.is_woken(conversation):
        return False
    await _go_on(conversation, around, await _turn(conversation, around))
    return True


async def _go_on(conversation: Conversation, around: Surroundings, of_round: _Round) -> None:
    """Go on after an answer until there is nothing left to call and nothing left to give."""
    while True:
        if of_round.calls:
            conversation.deliver(await _results(of_round, around))
        elif not (conversation.goes_on or await around.delivery.is_woken(conversation)):
            return
        of_round = await _turn(conversation, around)


def _known_round(conversation: Conversation, around: Surroundings) -> _Round | None:
    """Return the calls with which a resumed run goes on; None if the next thing to do is a request."""
    calls = restore(conversation, around.ledger, around.log, _Former(around))
    if any(message.tool_results for message in conversation.request.messages):
        learn_files(around.workplace, conversation.request.messages)
    if calls is None:
        return None
    around.ledger.check()
    return _Round(conversation.turns, calls, around.secrets() if calls else frozenset())


async def _results(of_round: _Round, around: Surroundings) -> tuple[ToolResult, ...]:
    """Execute the calls of an answer."""
    calls, config = of_round.calls, around.prepared.definition.sub_agents_config
    around.ledger.charge_calls(len(calls), of_round.turn)
    execute = partial(_execute, around, of_round)
    calls, left_out = calls[:MAX_CALLS], calls[MAX_CALLS:]
    order = [around.order_of(call) if config.parallel else "changes" for call in calls]
    most = 0 if config.has_side_runs else config.max_concurrent
    results = await execute_calls(calls, execute, order, most)
    remote_copy = around.workplace.remote_copy
    if remote_copy is not None and remote_copy.fault:
        raise RunError(remote_copy.fault)
    if left_out:
        many = f"{len(left_out):,} tool calls of one answer"
        who = quoted(around.prepared.order.ids.agent)
        around.warn(
            f"agent {who}: {many} were not executed, because it had more than {MAX_CALLS:,}"
        )
    return (*results, *(_refused(of_round, around, call) for call in left_out))


def _refused(of_round: _Round, around: Surroundings, call: ToolCall) -> ToolResult:
    """Return the result of a call that is one too many."""
    result = ToolResult(call.id, _TOO_MANY, is_error=True)
    around.log.keep("result", of_round.turn, call.event_id, ToolOutcome(result))
    return result


async def execute_calls(
    calls: Sequence[ToolCall],
    execute: Callable[[ToolCall], Awaitable[ToolResult]],
    order: Sequence[CallOrder],
    max_concurrent: int = 0,
) -> tuple[ToolResult, ...]:
    """Execute the calls of one answer at the same time; results keep their order (001-8.2, 11).

    Calls see each other's effects: one that changes something waits for those before it that are not
    `apart`, and those after it wait for it. No call cancels another one, since `execute` returns
    failures as results. A cancelled run cancels them all.
    """
    if len(calls) == 1:
        return (await execute(calls[0]),)
    results: list[ToolResult | None] = [None] * len(calls)
    limit = anyio.Semaphore(max_concurrent) if max_concurrent else nullcontext()
    over = [anyio.Event() for _ in calls]

    async def execute_at(index: int) -> None:
        for before in _before(index, order):
            await over[before].wait()
        async with limit:
            results[index] = await execute(calls[index])
        over[index].set()

    async with anyio.create_task_group() as tasks:
        for index in range(len(calls)):
            tasks.start_soon(execute_at, index)
    return tuple(result for result in results if result is not None)


def _before(index: int, order: Sequence[CallOrder]) -> Iterator[int]:
    """Yield the calls that have to be over before this one begins."""
    if order[index] == "apart":
        return
    if order[index] == "starts":
        yield from (other for other in range(index) if order[other] == "starts")
        return
    for other in reversed(range(index)):
        if order[other] == "changes":
            yield other
            return  # What came before that one is over as well.
        if order[other] == "reads" and order[index] == "changes":
            yield other


async def _turn(conversation: Conversation, around: Surroundings) -> _Round:
    """Send one request and take its answer; return the calls to execute."""
    around.ledger.check_turn(conversation.turns)
    await _offer_tools(conversation, around)
    if not conversation.goes_on:
        await around.delivery.before_request(conversation)
    ids, turn = around.prepared.order.ids, conversation.turns + 1
    messages = len(conversation.request.messages)
    around.journal.emit(
        TurnBegin(run=ids, turn=turn, messages=messages, pending_tool_calls=conversation.pending)
    )
    started = monotonic()
    answer = await _answer_or_interruption(conversation, around, turn)
    secrets = around.secrets()
    response = told_apart(answer, secrets)
    around.log.keep("answer", turn, data=response)
    calls = conversation.receive(response)
    around.ledger.charge(response)
    around.journal.emit(_turn_end(ids, turn, response, secrets, _elapsed_ms(started)))
    around.ledger.check()
    return _Round(turn, calls, secrets)


async def _offer_tools(conversation: Conversation, around: Surroundings) -> None:
    """Offer the tools that the MCP servers have now, who may have changed them."""
    if around.remote.newest is None or conversation.request.continuation:
        return
    with around.clock.silence():
        await around.remote.refresh()
    tools = (*around.own, *around.remote.tools)
    if tools != conversation.request.tools:
        conversation.offer(tools)


async def _answer_or_interruption(
    conversation: Conversation, around: Surroundings, turn: int
) -> Response:
    """Return the answer to the next request; its text so far if a message breaks it off."""
    conversation.broken_off = ""
    with anyio.CancelScope() as scope, around.inbox.interruption(scope.cancel):
        return await _answer(conversation, around, turn)
    # The provider does not say what it has used: the estimate is charged, or interruptions would evade budgets.
    text, sent = conversation.broken_off, conversation.size
    response = Response(
        text, incomplete="interrupted", input_tokens=sent, output_tokens=tokens_in(len(text))
    )
    return replace(response, cost=cost_today(str(around.prepared.model), response.usage))


async def _answer(conversation: Conversation, around: Surroundings, turn: int) -> Response:
    """Return the answer to the next request, which is made to fit into the model's context."""
    limit = _context_limit(conversation, around)
    if limit is not None and not conversation.request.continuation:
        await _make_room(conversation, limit, around, turn)
    try:
        return await _send(conversation, around, turn)
    except ProviderError as error:
        if error.category != "context_overflow" or conversation.request.continuation:
            raise
        # It is larger than was thought, or its model was not known.
        half = conversation.size // 2
        limit = min(_context_limit(conversation, around) or half, half)
        if not await _make_room(conversation, limit, around, turn):
            raise
    return await _send(conversation, around, turn)


def _context_limit(conversation: Conversation, around: Surroundings) -> int | None:
    model = around.prepared.model
    return context_limit(model, conversation.request, around.provider.window(model))


async def _make_room(
    conversation: Conversation, limit: int, around: Surroundings, turn: int
) -> bool:
    """Make the next request fit; False if nothing had to be done, or nothing could be.

    What a summary leaves may still be too long, as the results of the last step alone may be.
    """
    if conversation.size <= limit:
        return False
    compacts = around.prepared.definition.context.compaction
    is_summed_up = compacts and await _sum_up(conversation, limit, around, turn)
    return _shorten(conversation, limit, around, turn) or is_summed_up


def _shorten(conversation: Conversation, limit: int, around: Surroundings, turn: int) -> bool:
    before = conversation.size
    made = conversation.make_room(limit)
    if made is not None:
        around.log.keep_room(turn, Room(limit))
        around.journal.emit(
            ContextShortened(
                run=around.prepared.order.ids,
                turn=turn,
                results=made.results,
                tokens_before=before,
                tokens_after=conversation.size,
            )
        )
    return made is not None


async def _sum_up(conversation: Conversation, limit: int, around: Surroundings, turn: int) -> bool:
    """Have the model sum up what was said; False if it does not, or there is nothing to sum up.

    The answer is paid for whatever it is. Raises BudgetError or CallersBudgetError if that was all.
    """
    from axe_lsp.runtime.compaction import fault_of

    compaction = conversation.compaction(limit)
    if compaction is None:
        return False
    ids, before, started = around.prepared.order.ids, conversation.size, monotonic()
    around.journal.emit(CompactionBegin(run=ids, turn=turn, tokens_before=before))
    exchange = replace(
        _exchange(conversation, around, turn), request=compaction.asked, is_aside=True
    )
    answer = Response(cost=0.0)
    fault = "cancelled"
    try:
        # Nobody is shown the text, but it is heard that it arrives.
        answer = await _sent(exchange, around, _unheard if around.streams else None)
        fault = fault_of(answer)
        side_runs = tuple(each.name for each in around.side_runs.working)
        around.log.keep_room(turn, Room(limit, answer, fault, side_runs))
        if not fault:
            conversation.sum_up(compaction, answer.content, side_runs)
    except ProviderError as error:
        fault = str(error)
    finally:
        around.journal.emit(
            CompactionEnd(
                run=ids,
                turn=turn,
                tokens_before=before,
                tokens_after=conversation.size,
                messages=0 if fault else compaction.replaced,
                summary="" if fault else answer.content,
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
                cache_read_tokens=answer.cache_read_tokens or None,
                cache_write_tokens=answer.cache_write_tokens or None,
                cost=answer.cost,
                duration_ms=_elapsed_ms(started),
                error=fault or None,
            )
        )
    around.ledger.charge(answer)
    around.ledger.check()
    return not fault


def _unheard(_delta: Delta) -> None:
    """Ignore deltas of text that is no part of the answer."""


async def _send(conversation: Conversation, around: Surroundings, turn: int) -> Response:
    exchange = _exchange(conversation, around, turn)
    if not around.streams:
        return await _sent(exchange, around, None)
    listener, response = _Listener(around, turn), None
    try:
        response = await _sent(exchange, around, listener.hear)
    finally:
        listener.tell_rest()
        if response is None:  # Also if the run is stopped, or its time is over.
            conversation.break_off(listener.told)
    return response


async def _sent(exchange: Exchange, around: Surroundings, on_delta: OnDelta | None) -> Response:
    with around.clock.silence() if on_delta is None else nullcontext():
        return await around.provider.send(exchange, on_delta)


def _exchange(conversation: Conversation, around: Surroundings, turn: int) -> Exchange:
    ids, emit = around.prepared.order.ids, around.journal.emit

    def tell_wait(provider: str, seconds: float) -> None:
        wait_ms = round(seconds * 1000) or None
        emit(TurnWait(run=ids, turn=turn, provider=provider, wait_ms=wait_ms))

    return Exchange(
        run=ids,
        model=around.prepared.model,
        turn=turn,
        request=conversation.request,
        workdir=around.prepared.prompt.folder,
        deadline=around.clock.deadline,
        overtime=around.scope.overtime,
        warn=around.warn,
        on_wait=tell_wait,
        heard=around.clock.progress,
        waiting=around.clock.waiting,
        size=conversation.size,
        given=conversation.given if conversation.given_turn == turn else NOTHING_GIVEN,
    )


class _Listener:
    """Tells of an answer while it arrives, without secrets. `told` is its text so far."""

    def __init__(self, around: Surroundings, turn: int) -> None:
        self._pieces: list[str] = []
        self._ids, self._turn = around.prepared.order.ids, turn
        self._emit = around.journal.emit
        secrets = around.secrets()
        self._text = StreamRedactor(*secrets, key_like=True)
        self._thought = StreamRedactor(*secrets, key_like=True)

    @property
    def told(self) -> str:
        return "".join(self._pieces)

    def hear(self, delta: Delta) -> None:
        """Take the next piece."""
        self._tell(self._text.feed(delta.text), self._thought.feed(delta.thought))

    def tell_rest(self) -> None:
        """Tell what was kept back."""
        self._tell(self._text.rest(), self._thought.rest())

    def _tell(self, text: str, thought: str) -> None:
        if thought:
            self._emit(ThoughtDelta(run=self._ids, turn=self._turn, delta=thought))
        if text:
            self._pieces.append(text)
            self._emit(TextDelta(run=self._ids, turn=self._turn, delta=text))


def _turn_end(
    ids: RunIds, turn: int, response: Response, secrets: frozenset[str], duration_ms: int
) -> TurnEnd:
    return TurnEnd(
        run=ids,
        turn=turn,
        stop_reason=response.stop_reason,
        text=response.content,
        tool_calls=tuple(
            {
                "id": call.event_id,
                "name": redact(call.name, secrets),
                "arguments": redacted_table(call.arguments, secrets),
            }
            for call in response.tool_calls
        ),
        input_tokens=response.input_tokens,
        output_tokens=response.output_tokens,
        cache_read_tokens=response.cache_read_tokens or None,
        cache_write_tokens=response.cache_write_tokens or None,
        cost=response.cost,
        duration_ms=duration_ms,
        incomplete=response.incomplete,
        sources=response.sources,
    )


async def _execute(around: Surroundings, of_round: _Round, call: ToolCall) -> ToolResult:
    """Execute one tool call and emit its events, from which secrets are redacted.

    Every begin has its end, also when the run is cancelled. What a former process knows of the call is
    not done again.
    """
    log, turn = around.log, of_round.turn
    known = log.result(turn, call.event_id)
    if known is not None:
        return known.result
    was_begun = log.is_begun(turn, call.event_id)
    around.journal.emit(
        ToolBegin(
            run=around.prepared.order.ids,
            turn=turn,
            call_id=call.event_id,
            name=redact(call.name, of_round.secrets),
            arguments=redacted_table(call.arguments, of_round.secrets),
        )
    )
    started, is_over = monotonic(), True
    ending = _CUT_OFF if call.is_broken else INTERRUPTED
    outcome = ToolOutcome(ToolResult(call.id, ending, is_error=True))
    try:
        if not (call.is_broken or was_begun):
            outcome, is_over = ToolOutcome(ToolResult(call.id, "cancelled", is_error=True)), False
            outcome = await _dispatch(around, turn, call)
            # What a run below has said that had to stop for the budget is not its last word.
            is_over = not (outcome.child and around.ledger.is_used_up)
    finally:
        if is_over:
            log.keep("result", turn, call.event_id, outcome)
        around.journal.emit(
            ToolEnd(
                run=around.prepared.order.ids,
                turn=turn,
                call_id=call.event_id,
                name=redact(call.name, of_round.secrets),
                is_error=outcome.result.is_error,
                content=redact(outcome.result.content, of_round.secrets)[: ToolEnd.MAX_CONTENT],
                duration_ms=_elapsed_ms(started),
                child_run_id=outcome.child or outcome.side or None,
            )
        )
    return outcome.result


async def _dispatch(around: Surroundings, turn: int, call: ToolCall) -> ToolOutcome:
    if around.inbox.interrupts:
        return ToolOutcome(ToolResult(call.id, _NOT_BEGUN, is_error=True))
    called = _called_agent(around, turn, call, is_side=around.starts_side_run(call))
    if called is not None:
        return await called
    recorded = around.tree.services.recorded
    if call.name in SIDE_RUN_TOOL_NAMES and around.offers(call.name):
        return await _about_side_runs(around, turn, call)
    if recorded is not None:
        return ToolOutcome(recorded.result(around.prepared.order.ids, turn, call))
    return await _executed(around, turn, call)


def _called_agent(
    around: Surroundings, turn: int, call: ToolCall, *, is_side: bool
) -> Awaitable[ToolOutcome] | None:
    """Return the call of another agent, None if this is the call of a tool."""
    delegator, start = around.delegator(turn, is_side=is_side), around.start_blocking
    if call.name == CALL_AGENT:
        return call_agent(call, delegator, start)
    typed = around.prepared.typed.by_name.get(call.name)
    if typed is not None:
        return call_typed(call, typed, delegator, start)
    task = around.prepared.definition.task
    if task is None or call.name != TASK:
        return None
    from axe_lsp.runtime.children.task import call_task

    return call_task(call, task, delegator, start)


async def _about_side_runs(around: Surroundings, turn: int, call: ToolCall) -> ToolOutcome:
    """Execute a call of a tool for side runs. Its result is the recorded one if there is a recording."""
    from axe_lsp.runtime.children.side_run_tools import SideRunCalls

    calls = SideRunCalls(
        around.prepared.order.ids.agent,
        around.side_runs,
        around.inbox,
        around.clock,
        around.tree.send,
    )
    ids, recorded = around.prepared.order.ids, around.delivery.recorded
    if recorded is None:
        return await calls.execute(ids.run_id, turn, call)
    if call.name == STOP_AGENT:  # It would go on to a request that is not recorded.
        await calls.execute(ids.run_id, turn, call)
    return ToolOutcome(recorded.result(ids, turn, call))


async def _executed(around: Surroundings, turn: int, call: ToolCall) -> ToolOutcome:
    # Imported late: the first request has been sent.
    from axe_lsp.runtime.resuming.saved_files import keep_after, keep_before
    from axe_lsp.runtime.tools.agreed_changes import WatchedCall
    from axe_lsp.runtime.tools.edited_problems import EditCheck

    copied = around.prepared.order.copied
    is_copied = copied is not None and copied.has(around.workplace.folder)

    changes = around.tree.agreed_changes.get(copied.at) if copied is not None else None
    watched = WatchedCall(changes, call, around.workplace) if changes and is_copied else None
    check = EditCheck(call, around.workplace)

    async def approve(request: ApprovalRequest) -> str:
        refusal = await around.approve(watched.watched(request) if watched else request)
        if not refusal and watched:
            await watched.begin()
        if not refusal:  # Nobody knows of a call without this step whether it took effect.
            await check.begin()
            if not is_copied:  # A copy is gone before anybody can undo what was done in it.
                await keep_before(around.log, turn, call, around.workplace, around.secrets())
            await around.log.begin(turn, call.event_id)
            if changes_file(call.name):  # Half a file would be worse than a message that waits.
                interruption.protect()
        return refusal

    with anyio.CancelScope() as scope, around.inbox.interruption(scope.cancel) as interruption:
        remote = around.remote.by_name.get(call.name)
        if remote is not None:
            with around.clock.silence():
                return ToolOutcome(await _call_remote(around, call, remote, approve))
        if refusal := await _refusal(around, call):
            return ToolOutcome(ToolResult(call.id, refusal, is_error=True))
        with around.clock.waiting():  # They have limits of their own.
            result = await execute_tool(call, around.prepared.order.ids, around.workplace, approve)
            if watched and not result.is_error:
                await watched.end()
            if not (result.is_error or is_copied):
                await keep_after(around.log, turn, call, around.workplace, around.secrets())
            return ToolOutcome(await check.with_remark(result))
    return ToolOutcome(ToolResult(call.id, _BROKEN_OFF, is_error=True))


async def _refusal(around: Surroundings, call: ToolCall) -> str:
    """Return why a tool of ours is not executed, or ""."""
    if not around.offers(call.name):
        return unknown_tool(call.name)
    return await around.check_web(call.name) if call.name in WEB_TOOLS else ""


async def _call_remote(
    around: Surroundings, call: ToolCall, remote: RemoteTool, approve: Approve
) -> ToolResult:
    # Imported by the code that has made this connection.
    from axe_lsp.runtime.mcp.server_tools import call_remote

    run, secrets = around.prepared.order.ids, around.secrets()
    remote_copy = None if remote.only_reads else around.workplace.remote_copy
    try:
        # A server may change files of the copy here.
        async with remote_copy.alike() if remote_copy is not None else nullcontext():
            heard = around.clock.progress
            with changing_disk(None if remote.only_reads else around.workplace.editor):
                return await call_remote(call, remote, run, approve, secrets, heard=heard)
    except ToolError as error:
        return ToolResult(call.id, str(error), is_error=True)


def _elapsed_ms(started: float) -> int:
    return round((monotonic() - started) * 1000)
