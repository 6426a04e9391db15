"""The part of a former run with which a new one begins: its conversation, or the first turns of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.agentfile.schema.providers import parse_model_name
from axe_lsp.runtime.children.side_runs import PastSideRuns
from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.errors import ConfigError, FinalError, UnfitAnswerError
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.messages import Message, Response, ToolCall, ToolResult
from axe_lsp.runtime.resuming.restore import INTERRUPTED, restore
from axe_lsp.runtime.run_log import Before, First, RunLog, encoded
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.structured.output import output_of, settle

_NOT_EXECUTED = (
    "Error: this call was interrupted before it changed anything. Call it again if needed."
)
"""The result of a call that a former process has not begun, or that only reads."""

_INTERRUPTED = "(interrupted)"
"""The text in place of an answer that was interrupted before its first word."""


async def continued(former: RunLog, order: Order) -> First:
    """Return the beginning of a run that continues the conversation of a completed one by a further message.

    Prompt, tools and messages stay as they were sent, so that caches of the provider hit, and the answer as the
    provider gave it. Another model gets them in its own form (`providers/former_turns.py`). Raises ConfigError.
    """
    first = _first(former)
    messages = await _messages(former, first)
    model = order.model or first.model
    request = replace(
        first.request,
        model=parse_model_name(model).name,
        messages=(*messages, Message("user", order.message)),
    )
    return replace(first, order=order, model=model, request=request)


async def before(former: RunLog, said: str = "") -> Before:
    """Return the conversation of a root run at rest, which a session continues with any agent.

    In a run that has not come to its end, open calls have the result that a resumed run gives them, and the model has `said` so much
    of its last answer. Raises ConfigError.
    """
    first = _first(former)
    messages = await _messages(former, first)
    if messages[-1].role != "assistant":  # Roles have to alternate.
        messages = (*messages, Message("assistant", said or _INTERRUPTED))
    return Before(former.ids.run_id, first.request.session, messages)


async def _messages(former: RunLog, first: First) -> tuple[Message, ...]:
    """Return the messages of a run, up to its end."""
    conversation = Conversation(first.request)
    last, side_runs = conversation.last, PastSideRuns(former)

    async def go_on() -> None:
        nonlocal last
        calls = restore(conversation, Ledger(BudgetConfig()), former, side_runs)
        if calls is None:
            raise _OpenError
        if calls:
            conversation.deliver([_result(former, conversation.turns, call) for call in calls])
            raise _OpenError
        last = conversation.last  # As it was before it became the compact result.

    output = output_of(first.definition)
    try:
        await go_on()
        if output is not None:
            await settle(conversation, output, go_on)
    except UnfitAnswerError:
        pass
    except (_OpenError, FinalError):
        return conversation.request.messages
    return (*conversation.request.messages, *([last.message()] if last.content else ()))


class _OpenError(Exception):
    """The run has not come to its end."""


def _result(former: RunLog, turn: int, call: ToolCall) -> ToolResult:
    known = former.result(turn, call.event_id)
    if known is not None:
        return known.result
    is_begun = former.is_begun(turn, call.event_id)
    return ToolResult(call.id, INTERRUPTED if is_begun else _NOT_EXECUTED, is_error=True)


def forked(former: RunLog, order: Order, turn: int) -> tuple[First, list[Step]]:
    """Return the beginning of a run that shares the turns of a former one before `turn`, and the steps of these turns.

    They are the new run's own, and cost it nothing. Raises ConfigError for a turn that the former run has not had.
    """
    first, turns = _first(former), former.saved.turns
    if not 1 <= turn <= turns:
        which = "has no answer that it could be forked at"
        if turns:
            which = f"can be forked at turn {'1' if turns == 1 else f'1 to {turns}'}, not at {turn}"
        raise ConfigError(f"run {former.ids.run_id[:8]} {which}")
    model = order.model or first.model
    request = replace(first.request, model=parse_model_name(model).name)
    steps = [step for number in range(1, turn) for step in _shared(former, number, order)]
    steps += [step for number in range(1, turn + 1) for step in _given(former, number, order)]
    return replace(first, order=order, model=model, request=request), steps


def _shared(former: RunLog, turn: int, order: Order) -> Iterator[Step]:
    root = run = order.ids.run_id
    for number, room in enumerate(former.rooms(turn)):
        summary = None if room.answer is None else _free(room.answer)
        data = encoded(replace(room, answer=summary))
        yield Step(root, run, "room", turn, str(number), data)
    answer = former.answer(turn)
    assert answer is not None
    yield Step(root, run, "answer", turn, data=encoded(_free(answer)))
    for call in answer.tool_calls:
        result = former.result(turn, call.event_id)
        if result is not None:
            side = former.side(turn, call.event_id)
            data = encoded(replace(result, child="", side=result.side if side else ""))
            yield Step(root, run, "result", turn, call.event_id, data)
            if side is not None:
                data = encoded(replace(side, child=""))
                yield Step(root, run, "side", turn, call.event_id, data)


def _given(former: RunLog, turn: int, order: Order) -> Iterator[Step]:
    """Yield the step of what the request of a turn has given."""
    gave = former.gave(turn)
    if gave is not None:
        yield Step(order.ids.root_run_id, order.ids.run_id, "gave", turn, data=encoded(gave))


def side_runs_at_work(former: RunLog, turn: int) -> Iterator[str]:
    """Yield the names of the side runs that were started before a turn and have not ended."""
    for number in range(1, turn):
        for call in (former.answer(number) or Response()).tool_calls:
            result = former.result(number, call.event_id)
            if result is not None and result.side and not former.side(number, call.event_id):
                yield result.side_name


def _free(answer: Response) -> Response:
    """Return an answer that another run has paid for."""
    return replace(
        answer, input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, cost=0.0
    )


def _first(former: RunLog) -> First:
    first = former.first
    if first is None:
        raise ConfigError("nothing is kept of the conversation")
    return first
