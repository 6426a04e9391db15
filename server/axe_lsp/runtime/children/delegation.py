"""Agents that call agents: the `call_agent` tool and what a call does (001-6, 7, 11, 13).

Other tools that start agents, such as `task.py`, share how a child is ordered, started and reported.

Delegation decides whether and with what a child may be started. How a run is made is none of its
business: it gets `start` handed in, which is the same function that makes root runs (001-C9).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.children.side_run_definitions import BACKGROUND, side_run_tools
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.incomplete import REFUSED, explained
from axe_lsp.runtime.messages import Tool, ToolCall, ToolOutcome, ToolParameter, ToolResult
from axe_lsp.runtime.plain_text import short_digest
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order, Sender

CALL_AGENT = "call_agent"
"""The tool's name, a constant (001-DD3)."""

TASK = "Task"
"""The name of the other tool that starts agents, a constant (004-6)."""

Start = Callable[[Order], Awaitable[RunResult]]
"""Makes a run. Raises RunError when the run fails."""

BeginSide = Callable[[ToolCall, int, Order, str], ToolOutcome]
"""Starts the side run for a call of a turn. The text stands for an empty answer."""


class Delegator(Struct, frozen=True):
    """The agent that delegates: its file, the `order` for its run, and what its children inherit.

    `model` is who answers it, `provider/name`, and so whatever it starts that has no model. It delegates in
    its `turn`. `senders` are the files of the agents that call it and its own. `begin_side` starts a side run, None
    if the call waits for its run.
    """

    definition: AgentDefinition
    order: Order
    model: str
    workdir: Path
    caller: Caller
    deadline: float
    max_depth: int
    turn: int
    allowed_hosts: tuple[str, ...] = ()
    senders: tuple[Sender, ...] = ()
    begin_side: BeginSide | None = None


def delegation_tools(definition: AgentDefinition, depth: int, max_depth: int) -> tuple[Tool, ...]:
    """Return the tools for delegation that an agent at `depth` is offered (001-9.1, 9.2, 10.3)."""
    if not definition.sub_agents or depth >= max_depth:
        return ()
    config = definition.sub_agents_config
    tool = call_agent_tool(
        definition.sub_agents, config.pass_context, has_choice=config.background == "optional"
    )
    return (tool, *side_run_tools(config))


def call_agent_tool(
    agents: Sequence[str], pass_context: bool = True, *, has_choice: bool = False
) -> Tool:
    """Return the definition of `call_agent` for an agent that may call `agents` (001-6.3, 6.4).

    With `has_choice` a call may start a side run.
    """
    names = ", ".join(agents)
    parameters = {
        "agent": ToolParameter(
            "string",
            f"Name of the sub-agent to invoke (must be one of: {names})",
            required=True,
        ),
        "task": ToolParameter("string", "What you need the sub-agent to do", required=True),
    }
    if pass_context:
        parameters["context"] = ToolParameter(
            "string", "Additional context from your conversation to pass along"
        )
    if has_choice:
        parameters["background"] = BACKGROUND
    return Tool(
        CALL_AGENT,
        "Delegate a task to a sub-agent. The sub-agent runs independently with its own context "
        f"and returns only its final result. Available agents: {names}",
        parameters,
    )


async def call_agent(call: ToolCall, delegator: Delegator, start: Start) -> ToolOutcome:
    """Execute one `call_agent` call, in the steps of 001-7.3. Always returns an outcome."""
    refusal = _refusal(call, delegator)
    if refusal:
        return ToolOutcome(ToolResult(call.id, f"call_agent error: {refusal}", is_error=True))
    task = call.argument("task")
    passes_context = delegator.definition.sub_agents_config.pass_context
    context = call.argument("context") if passes_context else ""
    message = user_message(task, context)
    order = child_order(call, delegator, call.argument("agent"), task, message, context=context)
    # Recorded of axe: an agent with the keys of its first version reads an empty result.
    empty = NO_TEXT if delegator.definition.beyond_first_axe else ""
    return await start_child(call, order, delegator, start, empty)


NO_TEXT = "(subagent returned no text)"
"""The result of a child that has answered without text, for its caller's model."""


def child_order(
    call: ToolCall,
    delegator: Delegator,
    agent: str,
    task: str,
    message: str,
    *,
    context: str | None = None,
) -> Order:
    """Return the order for a run of `agent` below the one that delegates.

    With a `context`, if only an empty one, `task` may stand for an input.
    """
    callers = delegator.order
    ids = callers.ids
    return Order(
        ids=RunIds(
            run_id=child_run_id(ids.run_id, delegator.turn, call.event_id),
            root_run_id=ids.root_run_id,
            agent=agent,
            depth=ids.depth + 1,
            parent_run_id=ids.run_id,
        ),
        caller=delegator.caller,
        task=task,
        message=message,
        parent_agent=ids.agent,
        above=(*callers.above, ids.agent),
        senders=delegator.senders,
        timeout=delegator.definition.sub_agents_config.timeout or None,
        deadline=delegator.deadline,
        max_depth=delegator.max_depth,
        allowed_hosts=delegator.allowed_hosts,
        callers_model=delegator.model,
        read_only=delegator.definition.read_only,
        copied=callers.copied,
        more_folders=callers.more_folders,
        reads_task=context is not None,
        context=context or "",
    )


def child_run_id(parent: str, turn: int, call: str) -> str:
    """Return the id of the run that a call starts: the same whenever the call is executed again."""
    return short_digest(f"{parent}/{turn}/{call}")


async def start_child(
    call: ToolCall, order: Order, delegator: Delegator, start: Start, empty: str = NO_TEXT
) -> ToolOutcome:
    """Make the run that a call asks for. Its text is the result, `empty` for none, or why it has failed.

    Of a side run the result says that it was started.
    """
    if delegator.begin_side is not None:
        return delegator.begin_side(call, delegator.turn, order, empty)
    try:
        result = result_of_child(call, await start(order), empty)
    except RunError as error:
        result = ToolResult(call.id, failure_text(error, order.ids.agent), is_error=True)
    return ToolOutcome(result, order.ids.run_id)


def result_of_child(call: ToolCall, child: RunResult, empty: str) -> ToolResult:
    """Return the result for the caller's model, with what has become of changes in a copy."""
    result = _answer_of(call, child)
    if not result.content.strip():
        result = replace(result, content=empty or result.content)
    if child.handover is None:
        return result
    return replace(
        result,
        content=f"{result.content}\n\n[{child.handover.text}]",
        is_error=result.is_error or child.handover.is_error,
    )


def _answer_of(call: ToolCall, child: RunResult) -> ToolResult:
    """Return the answer for the caller's model, which says if it is incomplete."""
    if child.incomplete is None:
        return ToolResult(call.id, child.content)
    reason = explained(child.incomplete)
    if child.incomplete in REFUSED:
        text = f"Error: sub-agent {quoted(child.agent)} failed - {reason}: {child.content}"
        return ToolResult(call.id, text, is_error=True)
    note = f"[The answer of {quoted(child.agent)} is incomplete: {reason}.]"
    return ToolResult(call.id, f"{child.content}\n\n{note}")


def user_message(task: str, context: str) -> str:
    """Return the user message of the child (001-7.3.11). Context of white space only counts as none."""
    return f"Task: {task}\n\nContext:\n{context}" if context.strip() else f"Task: {task}"


def _refusal(call: ToolCall, delegator: Delegator) -> str:
    agent = call.argument("agent")
    if not agent:
        return '"agent" argument is required'
    if not call.argument("task"):
        return '"task" argument is required'
    if agent not in delegator.definition.sub_agents:
        return f"agent {quoted(agent)} is not in this agent's sub_agents list"
    if delegator.order.ids.depth >= delegator.max_depth:
        return f"maximum sub-agent depth ({delegator.max_depth}) reached"
    return ""


def failure_text(error: RunError, agent: str) -> str:
    """Return the text of a failed run for its caller (001-13.3), with the partial text of the agent."""
    text = (
        f"Error: sub-agent {quoted(agent)} failed - {error.described(agent)}. "
        "You may retry or proceed without this result."
    )
    # What the child has said until then is not lost.
    if error.partial is None:
        return text
    handover = f"[{error.partial.handover.text}]" if error.partial.handover is not None else ""
    return "\n\n".join(filter(None, (text, error.partial.content, handover)))
