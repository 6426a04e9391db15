"""The same conversations as in `bare_loop`, made by pydantic-ai."""

from __future__ import annotations

import asyncio

from conversations import PROMPT, Converse, serve
from on_aiohttp import http_client
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits


def conversations(address: str) -> Converse:
    provider = OpenAIProvider(base_url=f"{address}/v1", api_key="key", http_client=http_client())
    child = Agent(OpenAIChatModel("wait-50", provider=provider), system_prompt=PROMPT)

    async def look_up(what: str) -> str:
        return f"Unknown: {what}"

    async def call_agent(agent: str, task: str) -> str:
        return (await child.run(f"{agent}: {task}")).output

    async def converse(model: str) -> None:
        parent = Agent(
            OpenAIChatModel(model, provider=provider),
            system_prompt=PROMPT,
            tools=[look_up, call_agent],
        )
        await parent.run("Go on.", usage_limits=UsageLimits(request_limit=None))

    return converse


asyncio.run(serve(conversations))
