"""Pages of the web, fetched without following anybody into the user's own network.

Beside the providers' client this is the only module that knows an HTTP library: connections go to
addresses that were checked, redirects are followed by hand, no proxy, cookie or key comes along.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

import anyio
from msgspec import Struct
from yarl import URL

from axe_lsp import __version__
from axe_lsp.agentfile.text import quoted
from axe_lsp.runtime.certificates import none_read, trusted_authorities
from axe_lsp.runtime.tools.addresses import checked_addresses
from axe_lsp.runtime.tools.network import Network
from axe_lsp.runtime.tools.tool import ToolError

with none_read():
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult

_MOST_READ = 512 * 1024
"""Bytes of a page. The text in them is more than a conversation is given."""

_MOST_REDIRECTS = 10
_REDIRECTS = frozenset([301, 302, 303, 307, 308])


class Page(Struct, frozen=True):
    """The beginning of what a server answered."""

    status: int
    media_type: str
    charset: str
    body: bytes


async def fetch(url: str, allowed: Sequence[str], network: Network, limit: float) -> Page:
    """Get a page within `limit` seconds. Raises ToolError."""
    try:
        with anyio.fail_after(limit):
            return await _follow(URL(url), allowed, network)
    except TimeoutError as error:
        raise ToolError(f"no answer within {limit:g}s") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: no URL at all.
        raise ToolError(str(error) or type(error).__name__) from error


async def _follow(url: URL, allowed: Sequence[str], network: Network) -> Page:
    for _ in range(_MOST_REDIRECTS + 1):
        found = await _get(url, allowed, network)
        if isinstance(found, Page):
            return found
        url = found
    raise ToolError("too many redirects")


async def _get(url: URL, allowed: Sequence[str], network: Network) -> Page | URL:
    """The page, or where to look instead."""
    if url.scheme not in ("http", "https"):
        raise ToolError(f"unsupported scheme {quoted(url.scheme)}: only http and https are allowed")
    addresses = await checked_addresses(url.host or "", allowed, network)
    async with (
        aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=_Checked(addresses), force_close=True, ssl=trusted_authorities()
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"user-agent": f"axe-lsp/{__version__}"},
            timeout=aiohttp.ClientTimeout(total=None),
        ) as session,
        session.get(url, allow_redirects=False) as answer,
    ):
        location = answer.headers.get("location")
        if answer.status in _REDIRECTS and location:
            return url.join(URL(location))
        body = await _beginning(answer.content)
        return Page(answer.status, answer.content_type, answer.charset or "utf-8", body)


async def _beginning(content: aiohttp.StreamReader) -> bytes:
    body = bytearray()
    while len(body) < _MOST_READ and (piece := await content.read(_MOST_READ - len(body))):
        body += piece
    return bytes(body)


class _Checked(AbstractResolver):
    """Knows the addresses of one host, which have been checked."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses, whatever was asked."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is open."""
