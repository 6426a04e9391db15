"""The least that a runtime for agents can be: a loop around httpx, on the connections of aiohttp."""

from __future__ import annotations

import asyncio

import httpx
from bare_conversation import converse
from conversations import Converse, serve
from httpx_aiohttp import AiohttpTransport


def conversations(address: str) -> Converse:
    client = httpx.AsyncClient(base_url=address, transport=AiohttpTransport(), timeout=None)
    return lambda model: converse(client, model)


asyncio.run(serve(conversations))
