"""Pages of the web, fetched without following anybody into the user's own network.

Connections go to addresses that were checked, redirects are followed one by one, and no proxy, cookie
or key comes along.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

import anyio
import httpx2
from msgspec import Struct

from axe_lsp import __version__
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.certificates import trusted_authorities
from axe_lsp.runtime.tools.tool import ToolError

_MOST_READ = 512 * 1024
"""Bytes of a page. The text in them is more than a conversation is given."""

_MOST_REDIRECTS = 10
_REDIRECTS = frozenset([301, 302, 303, 307, 308])

_CONNECT_SECONDS = 3.0
"""How long one address of several may take to accept a connection."""


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
            return await _follow(httpx2.URL(url), allowed, network)
    except TimeoutError as error:
        raise ToolError(f"no answer within {limit:g}s") from error
    except httpx2.ConnectError as error:
        raise ToolError(f"cannot connect: {error}") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        raise ToolError(str(error) or type(error).__name__) from error


async def _follow(url: httpx2.URL, allowed: Sequence[str], network: Network) -> Page:
    for _ in range(_MOST_REDIRECTS + 1):
        found = await _get(url, allowed, network)
        if isinstance(found, Page):
            return found
        url = found
    raise ToolError("too many redirects")


async def _get(url: httpx2.URL, allowed: Sequence[str], network: Network) -> Page | httpx2.URL:
    """Return the page, or where to look instead."""
    if url.scheme not in ("http", "https"):
        raise ToolError(f"unsupported scheme {quoted(url.scheme)}: only http and https are allowed")
    *others, last = await checked_addresses(url.host, allowed, network)
    async with httpx2.AsyncClient(verify=trusted_authorities(), trust_env=False) as client:
        for address in others:
            try:
                return await _get_from(address, url, client, _CONNECT_SECONDS)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await _get_from(last, url, client, None)


async def _get_from(
    address: str, url: httpx2.URL, client: httpx2.AsyncClient, connect_seconds: float | None
) -> Page | httpx2.URL:
    """Ask the server at an address, as the host in the URL: its name is sent, and its certificate wanted."""
    answering = client.stream(
        "GET",
        url.copy_with(host=address),
        headers={"host": url.netloc.decode(), "user-agent": f"axe-lsp/{__version__}"},
        extensions={"sni_hostname": url.raw_host.decode()},
        timeout=httpx2.Timeout(None, connect=connect_seconds),
    )
    async with answering as answer:
        location = answer.headers.get("location")
        if answer.status_code in _REDIRECTS and location:
            return url.join(location)
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        charset = answer.charset_encoding or "utf-8"
        return Page(answer.status_code, media_type, charset, await _beginning(answer))


async def _beginning(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) >= _MOST_READ:
            break
    return bytes(body[:_MOST_READ])


async def checked_addresses(host: str, allowed: Sequence[str], network: Network) -> list[str]:
    """Return the addresses of a host, if all of them may be connected to. Raises ToolError.

    Only hosts that the agent's file allows, and none in private: a model may have been talked into looking
    around in the user's own network. Connections are made to what was judged here and to nothing else.
    """
    if allowed and host.lower() not in {each.lower() for each in allowed}:
        raise ToolError(f"host {quoted(host)} is not in allowed_hosts")
    if _is_address(host):
        if not network.may_connect(host):
            raise ToolError(f"address {host} is a private/reserved IP")
        return [host]
    try:
        addresses = list(await network.resolve(host))
    except (OSError, UnicodeError) as error:  # UnicodeError: what no name may look like.
        raise ToolError(f"host {quoted(host)} could not be resolved: {error}") from error
    for address in addresses:
        if not network.may_connect(address):
            raise ToolError(f"host {quoted(host)} resolves to private address {address}")
    if not addresses:
        raise ToolError(f"host {quoted(host)} resolved to no addresses")
    return addresses


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


NOT_PUBLIC_IPV4 = (
    ("0.0.0.0/8", "this network, RFC 791"),
    ("10.0.0.0/8", "private use, RFC 1918"),
    ("100.64.0.0/10", "shared by the customers of a provider, RFC 6598"),
    ("127.0.0.0/8", "loopback, RFC 1122"),
    ("169.254.0.0/16", "link local, and the metadata of clouds, RFC 3927"),
    ("172.16.0.0/12", "private use, RFC 1918"),
    ("192.0.0.0/24", "IETF protocols, whose anycast reaches the user's own router, RFC 6890"),
    ("192.0.2.0/24", "documentation, RFC 5737"),
    ("192.88.99.0/24", "relays of 6to4, deprecated, RFC 7526"),
    ("192.168.0.0/16", "private use, RFC 1918"),
    ("198.18.0.0/15", "benchmarks, RFC 2544"),
    ("198.51.100.0/24", "documentation, RFC 5737"),
    ("203.0.113.0/24", "documentation, RFC 5737"),
    ("224.0.0.0/4", "multicast, RFC 1112"),
    ("240.0.0.0/4", "reserved, and limited broadcast, RFC 1112, RFC 919"),
)
"""The IPv4 networks that no page is fetched from.

The rows of IANA's registry of special-purpose addresses (RFC 6890) that are not globally reachable, and
multicast. The table is our own because `ipaddress` judges by the registry of its Python version.
"""

UNICAST_IPV6 = "2000::/3"
"""The IPv6 addresses that IANA assigns to the internet (RFC 4291, section 2.4).

All others are refused, such as `::1`, IPv4-compatible `::/96`, local NAT64 `64:ff9b:1::/48` (RFC 8215), `100::/64`
(RFC 6666), `5f00::/16` (RFC 9602), `fc00::/7`, `fe80::/10`, `fec0::/10` and `ff00::/8`.
"""

NOT_PUBLIC_IPV6 = (
    ("2001::/23", "IETF protocols, among them Teredo, benchmarks and ORCHID, RFC 2928"),
    ("2001:db8::/32", "documentation, RFC 3849"),
    ("3fff::/20", "documentation, RFC 9637"),
)
"""The IPv6 networks of `UNICAST_IPV6` that no page is fetched from: the same registry's."""

WITH_IPV4_INSIDE = (
    ("::ffff:0:0/96", 0, "IPv4-mapped, RFC 4291"),
    ("64:ff9b::/96", 0, "NAT64, RFC 6052"),
    ("2002::/16", 80, "6to4, RFC 3056"),
)
"""The IPv6 networks whose addresses lead to an IPv4 address, and the number of bits to the right of it."""


def is_public(address: str) -> bool:
    """Return whether `address` belongs to a host of the internet, by the tables above."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return not _is_in(ip, NOT_PUBLIC_IPV4)
    for network, shift, _ in WITH_IPV4_INSIDE:
        if ip in IPv6Network(network):
            inner = IPv4Address(int(ip) >> shift & 0xFFFFFFFF)
            return not _is_in(inner, NOT_PUBLIC_IPV4)
    return ip in IPv6Network(UNICAST_IPV6) and not _is_in(ip, NOT_PUBLIC_IPV6)


def _is_in(ip: IPv4Address | IPv6Address, networks: Iterable[tuple[str, str]]) -> bool:
    return any(ip in ip_network(network) for network, _ in networks)


async def addresses_of(host: str) -> list[str]:
    """Return the addresses from the system's resolver. Raises OSError."""
    found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class Network(Struct, frozen=True):
    """How hosts are found, and which addresses may be connected to."""

    resolve: Callable[[str], Awaitable[Sequence[str]]] = addresses_of
    may_connect: Callable[[str], bool] = is_public
