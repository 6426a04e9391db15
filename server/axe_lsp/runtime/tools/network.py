"""Resolution of host names, and the addresses that belong to the internet."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

_TRANSLATED = "64:ff9b::/96"
"""IPv6 addresses that stand for the IPv4 address in their last bits."""


def is_public(address: str) -> bool:
    """Whether an address is one of the internet's, under whatever name for it."""
    from ipaddress import ip_address

    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    meant = _meant(ip)
    return meant.is_global and not meant.is_multicast


async def addresses_of(host: str) -> list[str]:
    """The addresses from the system's resolver. Raises OSError."""
    found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class Network(Struct, frozen=True):
    """How hosts are found, and which addresses may be connected to."""

    resolve: Callable[[str], Awaitable[Sequence[str]]] = addresses_of
    may_connect: Callable[[str], bool] = is_public


def _meant(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address leads to, where it does."""
    from ipaddress import IPv4Address, IPv6Network

    if isinstance(ip, IPv4Address):
        return ip
    if ip in IPv6Network(_TRANSLATED):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else ip)
