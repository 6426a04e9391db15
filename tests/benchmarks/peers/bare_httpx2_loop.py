"""The same conversations as in `bare_loop`, by httpx2 on its own connections.

A hundred of them: with as many as there are requests its pool takes several times as long.
"""

from __future__ import annotations

import asyncio

import httpx2
from bare_conversation import converse
from conversations import Converse, serve


def conversations(address: str) -> Converse:
    limits = httpx2.Limits(max_connections=100)
    client = httpx2.AsyncClient(base_url=address, limits=limits, timeout=None)
    return lambda model: converse(client, model)


asyncio.run(serve(conversations))
