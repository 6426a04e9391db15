"""The `Task` tool: an agent starts another one of a type, by a prompt and nothing else (003, 004).

A type has no model of its own; missing values come from its caller. A name that is not a type
means an agent file, which runs unchanged. `delegation` creates the child.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, TaskConfig
from axe_lsp.agentfile.schema.agent_types import AgentType
from axe_lsp.runtime.children.delegation import (
    TASK,
    Delegator,
    Start,
    child_order,
    start_child,
)
from axe_lsp.runtime.children.side_run_definitions import BACKGROUND, side_run_tools
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.messages import Tool, ToolCall, ToolOutcome, ToolParameter, ToolResult
from axe_lsp.runtime.runs import Order

Load = Callable[[str], AgentDefinition]
"""Finds an agent by its name. Raises ConfigError."""


def task_tools(
    definition: AgentDefinition, depth: int, max_depth: int, load: Load
) -> tuple[Tool, ...]:
    """Return the tool, if an agent at `depth` is offered it: its file has `[task]`, and there is depth left."""
    if definition.task is None or not definition.task.offered or depth >= max_depth:
        return ()
    config = definition.sub_agents_config
    tool = _task_tool(definition.task, load, has_choice=config.background == "optional")
    # After call_agent, if the agent has that as well.
    return (tool, *(() if definition.sub_agents else side_run_tools(config)))


def _task_tool(config: TaskConfig, load: Load, *, has_choice: bool) -> Tool:
    """Return the definition of `Task` (004-6 to 004-9)."""
    types = "\n".join(_shown_types(config, load))
    return Tool(
        TASK,
        "Spawn a subagent for focused subtask",
        {
            "description": ToolParameter("string", "Short task name (3-5 words)", required=True),
            "prompt": ToolParameter("string", "Detailed instructions", required=True),
            "subagent_type": ToolParameter(
                "string",
                "Which subagent. It starts with the prompt and nothing else of this conversation, "
                f"and only its final text comes back. One of:\n{types}",
                required=True,
                choices=config.offered,
            ),
            **({"background": BACKGROUND} if has_choice else {}),
        },
    )


async def call_task(
    call: ToolCall, config: TaskConfig, delegator: Delegator, start: Start
) -> ToolOutcome:
    """Execute one call. Always returns an outcome."""
    refusal = _refusal(call, config, delegator)
    if refusal:
        return ToolOutcome(ToolResult(call.id, refusal, is_error=True))
    return await start_child(call, _order(call, config, delegator), delegator, start)


def _shown_types(config: TaskConfig, load: Load) -> Iterator[str]:
    """Yield the types for the model, a line each. An agent that can't be loaded fails when it is called."""
    for name in config.offered:
        description = ""
        with contextlib.suppress(ConfigError):
            description = (config.find(name) or load(name)).description
        yield f"- {name}: {description}" if description else f"- {name}"


def _refusal(call: ToolCall, config: TaskConfig, delegator: Delegator) -> str:
    name, other = _type(call), call.argument("agent_type")
    if other and name != other:
        return (
            f"Task error: subagent_type '{name}' and agent_type '{other}' contradict each other; "
            "give subagent_type alone"
        )
    if not name:
        return 'Task error: "subagent_type" argument is required'
    if not call.argument("prompt").strip():
        return 'Task error: "prompt" argument is required'
    if name not in config.offered:
        return f"Error: Unknown agent type '{name}'"
    if delegator.order.ids.depth >= delegator.max_depth:
        return f"Task error: maximum sub-agent depth ({delegator.max_depth}) reached"
    return ""


def _type(call: ToolCall) -> str:
    """Return the type to start, by its parameter or by the older one (004-9)."""
    return call.argument("subagent_type") or call.argument("agent_type")


def _order(call: ToolCall, config: TaskConfig, delegator: Delegator) -> Order:
    name = _type(call)
    prompt = call.argument("prompt")
    order = child_order(call, delegator, name, prompt, prompt)
    order = replace(order, description=call.argument("description") or None)
    if not config.recursive:
        # A child at the limit of depth can't delegate, whatever its file says (004-18).
        order = replace(order, max_depth=order.ids.depth)
    found = config.find(name)
    if found is None:
        return order
    definition = _definition(name, found, config, delegator)
    return replace(order, definition=definition, workdir=str(delegator.workdir))


def _definition(
    name: str, agent_type: AgentType, config: TaskConfig, delegator: Delegator
) -> AgentDefinition:
    """Return the type as an agent, with the model and the parameters of its caller.

    Not the form of the answer, which is for the caller's own caller.
    """
    caller = delegator.definition
    return AgentDefinition(
        name=name,
        model=delegator.model,
        description=agent_type.description,
        system_prompt=f"You are a {name} subagent.\n{agent_type.prompt}",
        tools=agent_type.tools,
        params=replace(caller.params, response_format=None),
        retry=caller.retry,
        context=caller.context,
        sub_agents_config=caller.sub_agents_config,
        task=config if config.recursive else None,
        read_only=agent_type.read_only,
    )
