"""Who may use a server on TCP: whoever can read a file that only its user can read.

A loopback port is open to every user of the machine and to every web page in a browser on it. So each
server makes a token at its start, keeps it in a file of mode 0600 below the user's state folder, one
for each port, and removes the file at its end. A client presents the token as `axeToken` in
`initializationOptions`.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

from lsprotocol import types

from axe_lsp.rpc.client import presented_token
from axe_lsp.rpc.json_rpc import Message, Request
from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.files.whole_file import write_whole_file

_BYTES = 32


def token_file(environment: Environment, port: int) -> Path:
    """Where the token of the server on this port is. Raises ConfigError if the user has no home."""
    return state_folder(environment) / f"tcp-{port}.token"


@contextmanager
def token_in_files(paths: Iterable[Path]) -> Iterator[str]:
    """A new token, which can be read from these files meanwhile. Raises OSError."""
    token, written = secrets.token_urlsafe(_BYTES), list[Path]()
    try:
        for path in paths:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # A link that lies there would be followed.
            write_whole_file(path, token.encode(), mode=0o600)
            written.append(path)
        yield token
    finally:
        for path in written:
            _remove(path, token)


def presents(message: Message, token: str) -> bool:
    """Whether the message is an `initialize` that holds the token."""
    if not isinstance(message, Request) or message.method != types.INITIALIZE:
        return False
    presented = presented_token(message.params)
    return presented.isascii() and hmac.compare_digest(presented, token)


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach a numeric address (RFC 1122, RFC 4291)."""
    return ip_address(host.partition("%")[0]).is_loopback


def _remove(path: Path, token: str) -> None:
    """Another server may have got the port, and have written its own token, by now."""
    with suppress(OSError):
        if path.read_bytes() == token.encode():
            path.unlink()
