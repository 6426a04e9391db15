"""The agents of `axe/agents` with inspect-ai. What called agents did is in the store."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.agent import Agent, AgentState, react, run
from inspect_ai.tool import Tool, ToolError, tool
from inspect_ai.util import store


@tool
def read_file() -> Tool:
    async def execute(path: str) -> str:
        """Read a file of the workspace.

        Args:
            path: The file.
        """
        return text_of(path)

    return execute


def text_of(path: str) -> str:
    """Return the text of a file of the workspace."""
    try:
        return Path("fixture", path).read_text()
    except OSError as error:
        raise ToolError(str(error)) from error


@tool
def write_file() -> Tool:
    async def execute(path: str, content: str) -> str:
        """Write a file; nobody has allowed it.

        Args:
            path: The file.
            content: Its text.
        """
        raise ToolError("denied")

    return execute


@tool
def call_agent(caller: str) -> Tool:
    async def execute(agent: str, task: str) -> str:
        """Let another agent do a task.

        Args:
            agent: Its name.
            task: The task.
        """
        state = await run(made(agent), task)
        assert isinstance(state, AgentState)
        told = {"caller": caller, "agent": agent, "task": task}
        called = {**told, "answer": state.output.completion, "messages": state.messages}
        store().set("children", [*store().get("children", []), called])
        return state.output.completion

    return execute


def made(name: str) -> Agent:
    """One of the agents."""
    tools = [read_file(), write_file(), call_agent(name)]
    return react(name=name, prompt="You help.", tools=tools, submit=False)
