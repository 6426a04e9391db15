"""The least that a runtime for agents can be: a loop around httpx.

Called with the address of a provider, and then `own-pool` if httpx is to use its own connections in
place of aiohttp's.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx
from conversations import PROMPT, Converse, serve
from httpx_aiohttp import AiohttpTransport

Json = dict[str, Any]


def conversations(address: str) -> Converse:
    own_pool = sys.argv[2:] == ["own-pool"]
    unlimited = httpx.Limits(max_connections=None)
    transport = httpx.AsyncHTTPTransport(limits=unlimited) if own_pool else AiohttpTransport()
    client = httpx.AsyncClient(base_url=address, transport=transport, timeout=None)
    return lambda model: converse(client, model)


async def converse(client: httpx.AsyncClient, model: str) -> str:
    messages: list[Json] = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": "Go on."},
    ]
    while True:
        answer = await client.post(
            "/v1/chat/completions",
            content=json.dumps({"model": model, "messages": messages}),
            headers={"content-type": "application/json", "authorization": "Bearer key"},
        )
        message = answer.json()["choices"][0]["message"]
        calls = message.get("tool_calls")
        if not calls:
            return str(message["content"])
        messages.append(message)
        results = await asyncio.gather(*(execute(client, call["function"]) for call in calls))
        for call, result in zip(calls, results, strict=True):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


async def execute(client: httpx.AsyncClient, function: Json) -> str:
    if function["name"] == "call_agent":
        return await converse(client, "wait-50")
    return f"Unknown tool: {function['name']}"


asyncio.run(serve(conversations))
