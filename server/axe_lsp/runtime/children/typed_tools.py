"""Agents that are called with an object: a tool `subagent--NAME` for each child with `[input]`.

The tool's parameters are the child's own schema. What a call holds is checked before the child
starts, so that the model that made a mistake is the one to mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.children.delegation import (
    Delegator,
    Start,
    child_order,
    start_child,
)
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.messages import TOOL_NAME, Tool, ToolCall, ToolOutcome, ToolResult

if TYPE_CHECKING:
    from axe_lsp.runtime.structured.schemas import Check

PREFIX = "subagent--"


class TypedTool(Struct, frozen=True):
    """A tool for one agent, and what its calls must hold."""

    agent: str
    tool: Tool
    check: Check


class TypedTools(Struct, frozen=True):
    """The tools of an agent's typed children, by name, and what a person should know of them."""

    by_name: Mapping[str, TypedTool] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """As they are offered to the model."""
        return tuple(each.tool for each in self.by_name.values())


def typed_tools(definition: AgentDefinition, load: Callable[[str], AgentDefinition]) -> TypedTools:
    """Return the tools of an agent that may delegate. `load` finds a child; it may raise ConfigError.

    A child that can't be loaded has no tool. That it can't is said when it is called.
    """
    tools, warnings = {}, []
    for agent in dict.fromkeys(definition.sub_agents):
        try:
            child = load(agent)
        except ConfigError:
            continue
        if child.input is None:
            continue
        name = PREFIX + agent
        if TOOL_NAME.fullmatch(name):
            tools[name] = _typed_tool(name, agent, child)
        else:
            warnings.append(
                f"sub-agent {quoted(agent)} gets no tool {quoted(name)}: names of tools have only "
                "letters, digits, _ and -, and at most 64 of them. It is called by call_agent"
            )
    return TypedTools(tools, tuple(warnings))


def known_typed_tools(tools: Iterable[Tool]) -> TypedTools:
    """Return those among the tools of a request, whatever has become of the children's files."""
    from axe_lsp.runtime.structured.schemas import check_of

    typed = {
        tool.name: TypedTool(tool.name.removeprefix(PREFIX), tool, check_of(tool.schema, "input"))
        for tool in tools
        if tool.name.startswith(PREFIX) and tool.schema is not None
    }
    return TypedTools(typed)


async def call_typed(
    call: ToolCall, typed: TypedTool, delegator: Delegator, start: Start
) -> ToolOutcome:
    """Execute one call of such a tool. Always returns an outcome."""
    from axe_lsp.runtime.structured.arguments import fit_arguments
    from axe_lsp.runtime.structured.schemas import canonical_json

    assert typed.tool.schema is not None
    arguments = fit_arguments(call.arguments, typed.tool.schema)
    if complaint := await typed.check.on_loop(arguments):
        text = f"{call.name} error: {complaint}"
        return ToolOutcome(ToolResult(call.id, text, is_error=True))
    text = canonical_json(arguments)
    order = child_order(call, delegator, typed.agent, text, text)
    return await start_child(call, replace(order, input=arguments), delegator, start)


def _typed_tool(name: str, agent: str, child: AgentDefinition) -> TypedTool:
    from axe_lsp.runtime.structured.schemas import check_of, object_schema

    assert child.input is not None
    schema = object_schema(child.input)
    purpose = f": {child.description.rstrip('.')}" if child.description else ""
    result = "its final result, which is JSON" if child.output is not None else "its final result"
    description = (
        f"Delegate to the sub-agent {quoted(agent)}{purpose}. The sub-agent runs independently "
        f"with its own context and returns only {result}."
    )
    return TypedTool(agent, Tool(name, description, schema=schema), check_of(schema, "input"))
