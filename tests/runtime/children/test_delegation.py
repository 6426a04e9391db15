"""The `call_agent` tool: its definition, and what a call is checked for before a child starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, SubAgentsConfig
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.runtime.children.delegation import (
    Delegator,
    call_agent,
    call_agent_tool,
    delegation_tools,
    user_message,
)
from axe_lsp.runtime.errors import ConfigError, ProviderError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order

RESULT = RunResult("id", "helper", "completed", "m", "the result", "stop", 1, 1, 1, 0, 5)


def delegator(depth: int = 0, max_depth: int = 3, **config: object) -> Delegator:
    definition = AgentDefinition(
        "parent",
        "openai/m",
        sub_agents=("helper", "runner"),
        sub_agents_config=SubAgentsConfig(**config),  # type: ignore[arg-type] # by test
    )
    order = Order(RunIds("run-1", "root-1", "parent", depth), Caller(), "", "")
    return Delegator(
        definition, order, "openai/m", Path("/work"), Caller("/agents"), 99.0, max_depth, 1
    )


class Starter:
    """Makes no runs, but keeps the orders."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.orders: list[Order] = []
        self._failure = failure

    async def __call__(self, order: Order) -> RunResult:
        self.orders.append(order)
        if self._failure:
            raise self._failure
        return RESULT


def call(**arguments: object) -> ToolCall:
    return ToolCall("call-1", "call_agent", arguments)


async def refusal_of(arguments: dict[str, object], **place: int) -> str:
    starter = Starter()
    outcome = await call_agent(call(**arguments), delegator(**place), starter)
    assert outcome.result.is_error
    assert outcome.result.call_id == "call-1"
    assert outcome.child == ""
    assert starter.orders == []
    return outcome.result.content


@pytest.mark.req(
    "001-6.1",
    "001-6.2",
    "001-6.3",
    "001-6.4",
    "000-10",
    "000-11",
    "001-DD3",
    "001-T2",
    "001-N8",
    "000-12",
    "000-13",
    "000-14",
)
def test_the_tool_names_the_agents_that_may_be_called() -> None:
    tool = call_agent_tool(["helper", "runner"])
    assert tool.name == "call_agent"
    assert tool.description == (
        "Delegate a task to a sub-agent. The sub-agent runs independently with its own context "
        "and returns only its final result. Available agents: helper, runner"
    )
    assert list(tool.parameters) == ["agent", "task", "context"]
    agent, task, context = tool.parameters.values()
    assert agent.description == ("Name of the sub-agent to invoke (must be one of: helper, runner)")
    assert task.description == "What you need the sub-agent to do"
    assert context.description == "Additional context from your conversation to pass along"
    assert [p.required for p in (agent, task, context)] == [True, True, False]
    assert {p.type for p in (agent, task, context)} == {"string"}


@pytest.mark.req("001-T2")
def test_the_tool_is_well_formed_without_agents() -> None:
    tool = call_agent_tool([])
    assert tool.description.endswith("Available agents: ")
    assert len(tool.parameters) == 3


@pytest.mark.req("001-9.1", "001-9.2", "001-10.3", "000-9", "000-24", "001-7.3.12")
@pytest.mark.req("001-5.4a", "001-5.4b", "001-5.4c", "001-5.4d", "001-5.4e", "001-5.4f")
@pytest.mark.parametrize(
    ("depth", "max_depth", "offered"),
    [(0, 3, True), (2, 3, True), (3, 3, False), (4, 5, True), (5, 5, False), (1, 1, False)],
)
def test_delegation_is_offered_above_the_depth_limit_only(
    depth: int, max_depth: int, offered: bool
) -> None:
    tools = delegation_tools(delegator().definition, depth, max_depth)
    assert bool(tools) is offered


@pytest.mark.req("001-9.2", "001-5.2a")
def test_an_agent_without_sub_agents_gets_no_tool() -> None:
    assert delegation_tools(AgentDefinition("a", "openai/m"), 0, 3) == ()


@pytest.mark.req("001-7.3.2", "001-5.3b", "001-T2")
async def test_the_agent_has_to_be_named() -> None:
    for arguments in ({"task": "x"}, {"agent": "", "task": "x"}, {"agent": None, "task": "x"}):
        text = await refusal_of(dict(arguments))
        assert text == 'call_agent error: "agent" argument is required'


@pytest.mark.req("001-7.3.3", "001-5.3c", "001-T2")
async def test_there_has_to_be_a_task() -> None:
    for arguments in ({"agent": "helper"}, {"agent": "helper", "task": ""}):
        text = await refusal_of(dict(arguments))
        assert text == 'call_agent error: "task" argument is required'


@pytest.mark.req("001-7.3.4", "001-5.3a", "000-4", "001-T2")
async def test_only_listed_agents_may_be_called() -> None:
    assert await refusal_of({"agent": "other", "task": "x"}) == (
        'call_agent error: agent "other" is not in this agent\'s sub_agents list'
    )


@pytest.mark.req("001-7.3.5", "001-T2")
async def test_nobody_is_called_at_the_depth_limit() -> None:
    assert await refusal_of({"agent": "helper", "task": "x"}, depth=2, max_depth=2) == (
        "call_agent error: maximum sub-agent depth (2) reached"
    )


@pytest.mark.req("001-7.3")
async def test_the_first_thing_that_is_wrong_is_reported() -> None:
    assert '"agent"' in await refusal_of({}, depth=3)
    assert '"task"' in await refusal_of({"agent": "other"}, depth=3)
    assert "sub_agents list" in await refusal_of({"agent": "other", "task": "x"}, depth=3)


@pytest.mark.req("001-7.3.11", "001-7.3.15", "001-7.3.1", "001-C10", "001-DD5", "001-T2", "000-17")
async def test_a_success_is_the_final_text_only() -> None:
    starter = Starter()
    outcome = await call_agent(call(agent="helper", task="do it"), delegator(), starter)
    assert outcome.result.content == "the result"
    assert not outcome.result.is_error
    assert starter.orders[0].message == "Task: do it"
    assert outcome.child == starter.orders[0].ids.run_id


@pytest.mark.req(
    "001-DD4", "001-DD6", "001-10.2", "001-7.2", "001-7.3.13", "000-6", "003-4", "003-5"
)
async def test_what_flows_down_to_a_child() -> None:
    starter = Starter()
    await call_agent(
        call(agent="helper", task="t", context="c", secret="x"), delegator(1, timeout=7), starter
    )
    (order,) = starter.orders
    assert order.ids.agent == "helper"
    assert order.ids.depth == 2
    assert order.ids.root_run_id == "root-1"
    assert order.ids.parent_run_id == "run-1"
    assert order.parent_agent == "parent"
    assert (order.task, order.message) == ("t", "Task: t\n\nContext:\nc")
    assert (order.timeout, order.deadline, order.max_depth) == (7, 99.0, 3)
    assert order.caller == Caller("/agents")
    assert (order.model, order.skill, order.workdir) == ("", "", "")


async def test_what_may_not_change_anything_starts_nothing_that_may() -> None:
    starter = Starter()
    explorer = delegator()
    read_only = replace(explorer, definition=replace(explorer.definition, read_only=True))
    await call_agent(call(agent="helper", task="t"), read_only, starter)
    await call_agent(call(agent="helper", task="t"), delegator(), starter)
    assert [order.read_only for order in starter.orders] == [True, False]


@pytest.mark.req("001-7.3.11", "001-5.3d", "001-5.3e")
@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("", "Task: t"),
        ("  \n ", "Task: t"),
        ("more", "Task: t\n\nContext:\nmore"),
        ("  padded \n", "Task: t\n\nContext:\n  padded \n"),
    ],
)
def test_context_is_passed_on_as_it_is_or_not_at_all(context: str, message: str) -> None:
    assert user_message("t", context) == message


@pytest.mark.req("003-1", "003-25")
async def test_without_pass_context_there_is_none_to_pass() -> None:
    assert "context" not in call_agent_tool(["a"], pass_context=False).parameters
    starter = Starter()
    arguments = call(agent="helper", task="t", context="c")
    await call_agent(arguments, delegator(pass_context=False), starter)
    assert starter.orders[0].message == "Task: t"


@pytest.mark.req(
    "001-13.1",
    "001-13.3",
    "001-7.1",
    "001-7.4",
    "000-26",
    "000-27",
    "001-N7",
    "001-T2",
    "000-29",
    "003-7",
)
async def test_a_failure_is_a_text_for_the_model() -> None:
    starter = Starter(ProviderError("server", "boom"))
    outcome = await call_agent(call(agent="helper", task="t"), delegator(), starter)
    assert outcome.result.is_error
    assert outcome.result.content == (
        'Error: sub-agent "helper" failed - server: boom. '
        "You may retry or proceed without this result."
    )


@pytest.mark.req("001-7.3.6", "001-5.7a", "001-5.2d")
async def test_a_failure_before_the_start_says_at_what() -> None:
    failure = ConfigError("agent config not found: helper", step="failed to load agent")
    outcome = await call_agent(call(agent="helper", task="t"), delegator(), Starter(failure))
    assert 'failed - failed to load agent "helper": agent config not found: helper. ' in (
        outcome.result.content
    )
