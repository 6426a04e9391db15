"""Brings a run back to where a former process left it: from its log, without a request and without an event."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from axe_lsp.agentfile.schema.providers import parse_model_name
from axe_lsp.runtime.children.typed_tools import known_typed_tools
from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.files.agent_files import caller_of
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import wire_of
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.messages import Message, ToolCall, ToolOutcome
from axe_lsp.runtime.prepare import Prepared, own_timeout
from axe_lsp.runtime.prompt import Prompt
from axe_lsp.runtime.run_log import Before, First, Gave, Room, RunLog
from axe_lsp.runtime.runs import Order

INTERRUPTED = (
    "Error: this call was interrupted because the process that executed it has ended. "
    "Whether it took effect is not known. Look before you do it again."
)
"""The result of a call that a former process has begun, and of which nothing else is known."""


class Restored(Protocol):
    """Takes what a former process knows of a run's side runs and messages."""

    def started(self, turn: int, call: ToolCall, outcome: ToolOutcome) -> None:
        """Take note that a call of a turn has started a side run."""

    def gave(self, names: Collection[str]) -> None:
        """Take note that the result of a call contained these side runs' answers."""

    def texts(self, gave: Gave) -> Sequence[str]:
        """Return the texts that a request has given."""


def restore(
    conversation: Conversation, ledger: Ledger, log: RunLog, restored: Restored
) -> tuple[ToolCall, ...] | None:
    """Repeat all turns whose answers are known.

    Returns the calls of a turn whose results are not all known; none if the last known answer is the
    end of the conversation; None if the next thing to do is a request. What was paid for is charged,
    without a check. Raises AgentError as the conversation does.
    """
    while True:
        turn = conversation.turns + 1
        _give(conversation, turn, log, restored)
        answer = log.answer(turn)
        if answer is None:
            break
        _make_room(conversation, ledger, log.rooms(turn))
        calls = conversation.receive(answer)
        ledger.charge(answer)
        if conversation.goes_on:
            continue
        results = [log.result(turn, call.event_id) for call in calls]
        for call, result in zip(calls, results, strict=True):
            if result is not None and (child := _child_of(turn, call, result, log, restored)):
                spent = log.spent(child)
                ledger.charge_below(spent.used, spent.calls)
        known = [result.result for result in results if result is not None]
        if not calls and _is_woken(log.gave(turn + 1)):
            conversation.wake()
            continue
        if not calls or len(known) < len(calls):
            return calls
        ledger.add_calls(len(calls))
        conversation.deliver(known)
    _make_room(conversation, ledger, log.rooms(turn))
    return None


def _is_woken(gave: Gave | None) -> bool:
    """Return whether the conversation has gone on after an answer that was the end."""
    return gave is not None and gave.wakes


def _give(conversation: Conversation, turn: int, log: RunLog, restored: Restored) -> None:
    """Give again what the request of a turn has given."""
    gave = log.gave(turn)
    if gave is not None and conversation.given_turn != turn:
        conversation.give(turn, restored.texts(gave))


def _child_of(
    turn: int, call: ToolCall, outcome: ToolOutcome, log: RunLog, restored: Restored
) -> str:
    """Take the result of a call. Returns the id of the run below that has ended, "" for none."""
    restored.gave(outcome.gave)
    if not outcome.side:
        return outcome.child
    restored.started(turn, call, outcome)
    side = log.side(turn, call.event_id)
    return side.child if side is not None else ""


def _make_room(conversation: Conversation, ledger: Ledger, rooms: Iterable[Room]) -> None:
    """Shorten the conversation as it was shortened then, whatever this process knows of its model."""
    for room in rooms:
        if room.answer is None:
            conversation.make_room(room.limit)
            continue
        compaction = conversation.compaction(room.limit)
        if compaction is not None and not room.fault:
            conversation.sum_up(compaction, room.answer.content, room.side_runs)
        ledger.charge(room.answer)


def first_of(prepared: Prepared, remote: Collection[str]) -> First:
    """Return the first step of an agent that is ready; `remote` are the names of the tools of its MCP servers."""
    memory = prepared.prompt.memory
    return First(
        order=prepared.order,
        definition=prepared.definition,
        model=str(prepared.model),
        folder=str(prepared.prompt.folder),
        request=prepared.request,
        max_depth=prepared.max_depth,
        memory=str(memory.path) if memory is not None and memory.path is not None else "",
        remote=tuple(remote),
    )


def prepared_after(prepared: Prepared, before: Before) -> Prepared:
    """Return the agent, ready to go on with a conversation that it, or another agent, has had before.

    If nothing has changed, the request begins with what was sent before, so that caches of the provider hit.
    """
    request, messages = prepared.request, before.messages
    if not request.tools:
        messages = tuple(_without_calls(messages))
    known = {image for message in before.messages for image in message.images}
    message = request.messages[-1]
    message = replace(message, images=tuple(each for each in message.images if each not in known))
    request = replace(request, messages=(*messages, message), session=before.session)
    return replace(prepared, request=request)


def _without_calls(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield calls and their results as text: providers reject calls in a request that offers no tools."""
    from axe_lsp.runtime.structured.schemas import canonical_json

    for message in messages:
        if message.tool_calls:
            calls = (
                f"[{call.name} {canonical_json(call.arguments)}]" for call in message.tool_calls
            )
            said = (message.content, *calls) if message.content else calls
            yield Message("assistant", "\n\n".join(said))
        elif message.tool_results:
            results = (f"[result of {each.name}]\n{each.content}" for each in message.tool_results)
            images = (image for each in message.tool_results for image in each.images)
            yield Message("user", "\n\n".join(results), images=tuple(images))
        else:
            yield message


def prepared_again(
    first: First, order: Order, workspace: Path, environment: Environment
) -> Prepared:
    """Return the agent as it was ready then, whatever has become of its files. `order` has the limits of today.

    Raises ConfigError for a model whose provider is not known any more.
    """
    # Imported late: few runs are resumed.
    from axe_lsp.runtime.memory import Memory
    from axe_lsp.runtime.structured.output import output_of

    definition, request = first.definition, first.request
    model = parse_model_name(first.model)
    prompt = Prompt(
        workdir=first.folder,
        folder=Path(first.folder),
        system=request.system,
        user_message=request.messages[-1].content,
        skill="",
        skill_text="",
        files=(),
        memory=Memory(Path(first.memory)) if first.memory else None,
        warnings=(),
        notes=(),
    )
    return Prepared(
        order=order,
        definition=definition,
        model=model,
        wire=wire_of(model, environment),
        prompt=prompt,
        request=request,
        max_depth=first.max_depth,
        timeout=own_timeout(order, definition),
        typed=known_typed_tools(request.tools),
        output=output_of(definition),
        caller=caller_of(definition, order.workdir, workspace, environment),
    )
