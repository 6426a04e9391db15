"""TCP and Unix sockets, on which any number of clients reach the server.

Each connection gets a server of its own from `make_server`, and all of them run on one event loop;
what they share is closed over by `make_server`. A client that leaves takes nobody else with it.

A loopback port is open to every user of the machine and to every web page in a browser on it. So a
client on TCP has to present a token, as `axeToken` in `initializationOptions`, which it can only have
read where the server keeps it.

The functions return the exit code: 0, when the process is told to end.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types

from axe_lsp.rpc.client import presented_token
from axe_lsp.rpc.language_server import GRACE
from axe_lsp.rpc.transports import CannotListenError, MakeServer, MessageLoop
from axe_lsp.serving import stdio
from axe_lsp.serving.json_rpc import Message, Request
from axe_lsp.tasks import Tasks

_CHUNK = 64 * 1024

_MOST_UNKNOWN = 64
"""Connections without a token that are kept. Each takes a file of the few hundred that a process may have open."""

_log = logging.getLogger(__name__)


class Token(NamedTuple):
    """The token of clients on TCP; `told` prints its file on standard error."""

    text: str
    told: str


async def serve_tcp(
    make_server: MakeServer,
    host: str,
    port: int,
    token_for: Callable[[list[int]], AbstractContextManager[Token]],
    *,
    may_be_remote: bool = False,
) -> int:
    """Serve any number of clients that connect to `host` and `port` and present the server's token.

    `token_for` makes the token of a server on these ports, and keeps it while the server listens.
    Standard error says where the server listens, which with port 0 is a free port of the system's
    choice, and where the token is. Addresses that other machines reach need `may_be_remote`.
    """
    clients, token = Tasks(), ""
    welcome = _welcome(make_server, clients, lambda message: _presents(message, token))
    try:
        listener = await asyncio.start_server(welcome, host, port, start_serving=False)
    except OSError as error:
        raise CannotListenError(
            f"can't listen on {host}:{port}: {reason_of(error)}; choose another port, or 0 for a free one"
        ) from error
    bound: list[tuple[str, int]] = [each.getsockname()[:2] for each in listener.sockets]
    if not may_be_remote and not all(_is_loopback(address) for address, _ in bound):
        listener.close()
        raise CannotListenError(
            f"{host} can be reached from other machines, and the connection is not encrypted; listen on 127.0.0.1 and use an SSH tunnel, or add --allow-remote"
        )
    with closing(listener), token_for(sorted({port for _, port in bound})) as opened:
        token = opened.text
        addresses = ", ".join(_address(*each) for each in bound)
        return await _serve_until_cancelled(listener, clients, addresses, opened.told)


async def serve_pipe(make_server: MakeServer, path: Path) -> int:
    """Serve any number of clients that connect to the Unix socket at `path`.

    Only its owner may connect. A socket that a dead server has left there is replaced.
    """
    clients = Tasks()
    bound = _bind(path)
    try:
        listener = await asyncio.start_server(_welcome(make_server, clients), sock=bound)
        return await _serve_until_cancelled(listener, clients, str(path))
    finally:
        _remove(path)


def _welcome(
    make_server: MakeServer, clients: Tasks, admits: Callable[[Message], bool] | None = None
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
    unknown = _Unknown()

    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        known = None
        if admits is not None:
            unknown.add(writer)
            known = partial(unknown.admitted, writer, admits)
        serving = clients.start_unattended(
            _serve_client(make_server, reader, writer, known), name="a connection"
        )
        serving.add_done_callback(lambda _: unknown.remove(writer))

    return welcome


class _Unknown:
    """The connections whose clients have not presented a token yet. Too many of them cost the oldest."""

    def __init__(self) -> None:
        self._writers: dict[asyncio.StreamWriter, None] = {}

    def add(self, writer: asyncio.StreamWriter) -> None:
        """Count a connection."""
        self._writers[writer] = None
        if len(self._writers) > _MOST_UNKNOWN:
            oldest = next(iter(self._writers))
            self.remove(oldest)
            oldest.transport.abort()

    def remove(self, writer: asyncio.StreamWriter) -> None:
        """Count it no longer: it has ended, or its client is known."""
        self._writers.pop(writer, None)

    def admitted(
        self, writer: asyncio.StreamWriter, admits: Callable[[Message], bool], message: Message
    ) -> bool:
        """Return whether a first message makes the client known."""
        is_known = admits(message)
        if is_known:
            self.remove(writer)
        return is_known


async def _serve_client(
    make_server: MakeServer,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    admits: Callable[[Message], bool] | None,
) -> None:
    async def read() -> bytes:
        with suppress(ConnectionError):
            return await reader.read(_CHUNK)
        return b""

    try:
        sink = _SocketWriter(writer)
        await MessageLoop(make_server(), read, sink, is_strict=True, admits=admits).run()
    finally:
        writer.close()
        with suppress(ConnectionError, asyncio.TimeoutError):
            await asyncio.wait_for(writer.wait_closed(), GRACE)
        writer.transport.abort()


class _SocketWriter:
    """`axe_lsp.rpc.transports.Writer` over asyncio's streams, which never block."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        transport = self._writer.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > stdio.MOST_UNSENT:
            _log.warning("ending a session: the client does not read its messages")
            transport.abort()
            return
        self._writer.write(data)

    def close(self) -> None:
        self._writer.close()


async def _serve_until_cancelled(
    listener: asyncio.Server, clients: Tasks, address: str, told: str = ""
) -> int:
    await listener.start_serving()
    sys.stderr.write(f"axe-lsp listens on {address}\n{told}")
    sys.stderr.flush()
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        listener.close()
        await clients.stop(within=3 * GRACE)
    return 0


def _bind(path: Path) -> socket.socket:
    _clear(path)
    bound = _unix_socket()
    # The mask rather than a later chmod: nobody may connect in between.
    mask = os.umask(0o177)
    try:
        bound.bind(str(path))
    except OSError as error:
        bound.close()
        raise CannotListenError(
            f"can't listen on {path}: {reason_of(error)}; choose a shorter path in a folder of yours"
        ) from error
    finally:
        os.umask(mask)
    return bound


def _unix_socket() -> socket.socket:
    if sys.platform == "win32":
        raise CannotListenError("this system has no Unix sockets; use --stdio or --tcp")
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _clear(path: Path) -> None:
    """Remove a socket on which no process listens; refuse to touch anything else."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not stat.S_ISSOCK(mode):
        raise CannotListenError(
            f"can't listen on {path}: it exists and is not a socket; move it away"
        )
    with _unix_socket() as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise CannotListenError(f"can't listen on {path}: {reason_of(error)}") from error
    raise CannotListenError(
        f"can't listen on {path}: another server listens on it; use another path"
    )


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def reason_of(error: OSError) -> str:
    """Return the system's words for what went wrong."""
    # asyncio's own text repeats the address, in Python's notation. Names that can't be resolved
    # have numbers of their own.
    number = error.errno or 0
    return os.strerror(number) if number > 0 else str(error.strerror or error)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _presents(message: Message, token: str) -> bool:
    """Return whether the message is an `initialize` that holds the token."""
    if not isinstance(message, Request) or message.method != types.INITIALIZE:
        return False
    presented = presented_token(message.params)
    return presented.isascii() and hmac.compare_digest(presented, token)


def _is_loopback(host: str) -> bool:
    """Return whether only programs on this machine reach a numeric address (RFC 1122, RFC 4291)."""
    return ip_address(host.partition("%")[0]).is_loopback
