"""httpx on the connections of aiohttp, for frameworks that are called to use it."""

from __future__ import annotations

import sys

import httpx
from conversations import ON_AIOHTTP


def http_client() -> httpx.AsyncClient | None:
    """Return a client if one is asked for, or None for the framework's own."""
    if sys.argv[2:] != [ON_AIOHTTP]:
        return None
    from httpx_aiohttp import AiohttpTransport  # noqa: PLC0415 - the others stay without it

    return httpx.AsyncClient(transport=AiohttpTransport(), timeout=600)
