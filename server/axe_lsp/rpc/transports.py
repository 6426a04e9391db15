"""The ways in which clients reach the server: standard streams, TCP, a Unix socket.

Each connection gets a server of its own from `make_server`, and all of them run on one event loop;
what they share is closed over by `make_server`. A client that leaves takes nobody else with it.

Each function here is the `main` of `axe_lsp.rpc.server_process.run` or a part of it, and returns the exit
code. Over TCP and Unix sockets that is 0, when the process is told to end.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from axe_lsp.rpc import server_process, stdio
from axe_lsp.rpc.json_rpc import Message
from axe_lsp.rpc.language_server import LanguageServer
from axe_lsp.rpc.lifecycle import GRACE
from axe_lsp.rpc.message_loop import Conversation
from axe_lsp.tasks import Tasks

MakeServer: TypeAlias = Callable[[], LanguageServer]

PARENT_CHECK = 2.0
"""Seconds between two looks whether the client of standard streams still lives."""

_CHUNK = 64 * 1024

_log = logging.getLogger(__name__)


class Token(NamedTuple):
    """What clients on TCP present; `told` says on standard error where they find it."""

    text: str
    told: str


class CannotListenError(Exception):
    """The address can't be had; the message says why and what to do."""


async def serve_stdio(make_server: MakeServer) -> int:
    """Serve one client over standard input and output until it leaves.

    Exit code 0 after `shutdown`, else 1: `exit` without it, end of input, death of the client.
    """
    try:
        source, sink = stdio.claim()
    except OSError as error:
        raise CannotListenError(
            "standard input or output is closed; an editor opens them; in a terminal use --tcp"
        ) from error
    loop = asyncio.get_running_loop()
    server = make_server()
    # If the loop is stuck when the input ends, nobody else is left to end the process.
    reader = stdio.open_reader(source, at_end=lambda: server_process.end_soon(1))
    writer = stdio.PipeWriter(sink, broken=lambda reason: _call(loop, conversation.hang_up, reason))
    conversation = Conversation(server, reader.read, writer)
    watch = loop.create_task(_watch_parent(server, conversation))
    try:
        return await conversation.run()
    finally:
        watch.cancel()
        writer.flush(within=GRACE)


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
    from axe_lsp.rpc import access  # noqa: PLC0415 - most servers are on standard streams

    clients, token = Tasks(), ""
    welcome = _welcome(make_server, clients, lambda message: access.presents(message, token))
    try:
        listener = await asyncio.start_server(welcome, host, port, start_serving=False)
    except OSError as error:
        raise CannotListenError(
            f"can't listen on {host}:{port}: {reason_of(error)}; choose another port, or 0 for a free one"
        ) from error
    bound: list[tuple[str, int]] = [each.getsockname()[:2] for each in listener.sockets]
    if not may_be_remote and not all(access.is_loopback(address) for address, _ in bound):
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


async def _watch_parent(server: LanguageServer, conversation: Conversation) -> None:
    """End the session when the client has died without closing its streams.

    That happens where another process has inherited them. A client whose process isn't to be seen
    from the start lives on another machine or outside our container, and is left alone.
    """
    await server.protocol.initialized.wait()
    pid = server.client.process_id
    if pid is None or not server_process.is_alive(pid):
        _log.info("the client's process %s is not visible, so it is not watched", pid)
        return
    _log.debug("watching process %d", pid)
    while True:
        await asyncio.sleep(PARENT_CHECK)
        if not server_process.is_alive(pid):
            conversation.hang_up(f"the client (process {pid}) has died")
            return


def _welcome(
    make_server: MakeServer, clients: Tasks, admits: Callable[[Message], bool] | None = None
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving = _serve_client(make_server, reader, writer, admits)
        clients.start_unattended(serving, name="a connection")

    return welcome


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
        await Conversation(make_server(), read, sink, is_strict=True, admits=admits).run()
    finally:
        writer.close()
        with suppress(ConnectionError, asyncio.TimeoutError):
            await asyncio.wait_for(writer.wait_closed(), GRACE)
        writer.transport.abort()


class _SocketWriter:
    """`axe_lsp.rpc.message_loop.Writer` over asyncio's streams, which never block."""

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
    """Remove a socket that nobody listens on; refuse to touch anything else."""
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
    """The system's words for what went wrong."""
    # asyncio's own text repeats the address, in Python's notation. Names that can't be resolved
    # have numbers of their own.
    number = error.errno or 0
    return os.strerror(number) if number > 0 else str(error.strerror or error)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[str], None], argument: str) -> None:
    """Call `function` on the loop from any thread, if there still is a loop."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function, argument)
