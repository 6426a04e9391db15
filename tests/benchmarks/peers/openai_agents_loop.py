"""The same conversations as in `bare_loop`, made by openai-agents."""

from __future__ import annotations

import asyncio

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from conversations import PROMPT, Converse, serve
from on_aiohttp import http_client
from openai import AsyncOpenAI


def conversations(address: str) -> Converse:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{address}/v1", api_key="key", http_client=http_client())
    child = Agent(
        name="child",
        instructions=PROMPT,
        model=OpenAIChatCompletionsModel("wait-50", openai_client=client),
    )

    @function_tool
    async def look_up(what: str) -> str:
        return f"Unknown: {what}"

    @function_tool
    async def call_agent(agent: str, task: str) -> str:
        return str((await Runner.run(child, f"{agent}: {task}")).final_output)

    async def converse(model: str) -> None:
        parent = Agent(
            name="parent",
            instructions=PROMPT,
            model=OpenAIChatCompletionsModel(model, openai_client=client),
            tools=[look_up, call_agent],
        )
        await Runner.run(parent, "Go on.", max_turns=100)

    return converse


asyncio.run(serve(conversations))
