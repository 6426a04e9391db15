"""The least that a runtime for agents can be: a loop around httpx on aiohttp.

Called with the address of a provider. For each model that a line of its input names, it makes that
conversation and answers with the milliseconds it took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import httpx
from httpx_aiohttp import AiohttpTransport

Json = dict[str, Any]

PROMPT = "You answer questions. " * 20


async def main(address: str) -> None:
    async with httpx.AsyncClient(
        base_url=address, transport=AiohttpTransport(), timeout=None
    ) as client:
        while model := (await asyncio.to_thread(sys.stdin.readline)).strip():
            started = time.perf_counter()
            await converse(client, model)
            print((time.perf_counter() - started) * 1000, flush=True)


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


asyncio.run(main(sys.argv[1]))
