"""A conversation in the fewest words, by a client of httpx or httpx2."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import httpx2
from conversations import PROMPT

Json = dict[str, Any]
Client = httpx.AsyncClient | httpx2.AsyncClient


async def converse(client: Client, model: str) -> str:
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


async def execute(client: Client, function: Json) -> str:
    if function["name"] == "call_agent":
        return await converse(client, "wait-50")
    return f"Unknown tool: {function['name']}"
