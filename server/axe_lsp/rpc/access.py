"""Who may use a server on TCP: a client that presents the server's token.

A loopback port is open to every user of the machine and to every web page in a browser on it. So a
client has to present a token, as `axeToken` in `initializationOptions`, which it can only have read
where the server keeps it.
"""

from __future__ import annotations

import hmac
from ipaddress import ip_address

from lsprotocol import types

from axe_lsp.rpc.client import presented_token
from axe_lsp.rpc.json_rpc import Message, Request


def presents(message: Message, token: str) -> bool:
    """Whether the message is an `initialize` that holds the token."""
    if not isinstance(message, Request) or message.method != types.INITIALIZE:
        return False
    presented = presented_token(message.params)
    return presented.isascii() and hmac.compare_digest(presented, token)


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach a numeric address (RFC 1122, RFC 4291)."""
    return ip_address(host.partition("%")[0]).is_loopback
