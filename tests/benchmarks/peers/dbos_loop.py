"""The same conversations as in `bare_loop`, durable by DBOS: an agent is a workflow, a request a step of it.

What is kept is in a SQLite file, as that of axe-lsp is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from conversations import PROMPT, answer_with
from dbos import DBOS
from httpx_aiohttp import AiohttpTransport

Json = dict[str, Any]

address = sys.argv[1]
client = httpx.AsyncClient(base_url=address, transport=AiohttpTransport(), timeout=None)


@DBOS.step()
async def ask(model: str, messages: list[Json]) -> Json:
    answer = await client.post(
        "/v1/chat/completions",
        content=json.dumps({"model": model, "messages": messages}),
        headers={"content-type": "application/json", "authorization": "Bearer key"},
    )
    message: Json = answer.json()["choices"][0]["message"]
    return message


@DBOS.workflow()
async def converse(model: str) -> str:
    messages: list[Json] = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": "Go on."},
    ]
    while True:
        message = await ask(model, messages)
        calls = message.get("tool_calls")
        if not calls:
            return str(message["content"])
        messages.append(message)
        children = [await DBOS.start_workflow_async(converse, "wait-50") for _ in calls]
        for call, child in zip(calls, children, strict=True):
            result = await child.get_result()
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


async def main(folder: Path) -> None:
    DBOS(
        config={
            "name": "benchmark",
            "system_database_url": f"sqlite:///{folder / 'dbos.sqlite'}",
            "run_admin_server": False,
            "log_level": "ERROR",
        }
    )
    DBOS.launch()

    async def make(model: str) -> None:
        handle = await DBOS.start_workflow_async(converse, model)
        await handle.get_result()

    await answer_with(make, os.getpid)


with TemporaryDirectory() as name:
    asyncio.run(main(Path(name)))
    DBOS.destroy()
