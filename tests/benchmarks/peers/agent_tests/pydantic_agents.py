"""The agents of `axe/agents` with pydantic-ai, for pydantic-evals and promptfoo."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

_PROVIDER = OpenAIProvider(base_url=f"{os.environ['PROVIDER']}/v1", api_key="key")


def read_file(path: str) -> str:
    """Read a file of the workspace."""
    try:
        return Path("fixture", path).read_text()
    except OSError as error:
        raise ModelRetry(str(error)) from error


def write_file(path: str, content: str) -> str:
    """Write a file; nobody has allowed it."""
    return "denied"


async def call_agent(agent: str, task: str) -> str:
    """Let another agent do a task."""
    return (await AGENTS[agent].run(task)).output


AGENTS = {
    name: Agent(
        OpenAIChatModel("case-0", provider=_PROVIDER),
        name=name,
        tools=[read_file, write_file, call_agent],
    )
    for name in ("lead", "tests", "docs", "links")
}
