"""The same conversations as in `bare_loop`, made by langgraph."""

from __future__ import annotations

import asyncio

from conversations import PROMPT, Converse, serve
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from on_aiohttp import http_client


def conversations(address: str) -> Converse:
    client = http_client()

    def model_of(name: str) -> ChatOpenAI:
        return ChatOpenAI(
            model=name, base_url=f"{address}/v1", api_key="key", http_async_client=client
        )

    child = create_agent(model_of("wait-50"), [], system_prompt=PROMPT)

    @tool
    async def look_up(what: str) -> str:
        """Look something up."""
        return f"Unknown: {what}"

    @tool
    async def call_agent(agent: str, task: str) -> str:
        """Delegate a task."""
        said = await child.ainvoke({"messages": [("user", f"{agent}: {task}")]})
        return str(said["messages"][-1].content)

    async def converse(model: str) -> None:
        parent = create_agent(model_of(model), [look_up, call_agent], system_prompt=PROMPT)
        asked = {"messages": [("user", "Go on.")]}
        await parent.ainvoke(asked, {"recursion_limit": 200})

    return converse


asyncio.run(serve(conversations))
