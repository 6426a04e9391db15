"""The same conversations as in `bare_loop`, by aiohttp alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
from conversations import PROMPT, Converse, serve

Json = dict[str, Any]


def conversations(address: str) -> Converse:
    session = aiohttp.ClientSession(
        address,
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
        headers={"content-type": "application/json", "authorization": "Bearer key"},
    )
    return lambda model: converse(session, model)


async def converse(session: aiohttp.ClientSession, model: str) -> str:
    messages: list[Json] = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": "Go on."},
    ]
    while True:
        body = json.dumps({"model": model, "messages": messages})
        async with session.post("/v1/chat/completions", data=body) as answer:
            message = json.loads(await answer.read())["choices"][0]["message"]
        calls = message.get("tool_calls")
        if not calls:
            return str(message["content"])
        messages.append(message)
        results = await asyncio.gather(*(execute(session, call["function"]) for call in calls))
        for call, result in zip(calls, results, strict=True):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


async def execute(session: aiohttp.ClientSession, function: Json) -> str:
    if function["name"] == "call_agent":
        return await converse(session, "wait-50")
    return f"Unknown tool: {function['name']}"


asyncio.run(serve(conversations))
