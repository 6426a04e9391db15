"""The transport of a client that has started the server: standard streams.

The functions here and in `axe_lsp.rpc.sockets`, which has the other transports, are the `main` of
`axe_lsp.serving.server_process.run` or a part of it. They return the exit code.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from axe_lsp.rpc.language_server import LanguageServer
from axe_lsp.rpc.lifecycle import GRACE
from axe_lsp.rpc.message_loop import MessageLoop
from axe_lsp.serving import server_process, stdio

MakeServer: TypeAlias = Callable[[], LanguageServer]

PARENT_CHECK = 2.0
"""Seconds between two checks whether the client of standard streams still lives."""

_log = logging.getLogger(__name__)


class CannotListenError(Exception):
    """The server can't listen; the message says why and what to do."""


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
    writer = stdio.PipeWriter(sink, broken=lambda reason: _call(loop, messages.hang_up, reason))
    messages = MessageLoop(server, reader.read, writer)
    watch = loop.create_task(_watch_parent(server, messages))
    try:
        return await messages.run()
    finally:
        watch.cancel()
        writer.flush(within=GRACE)


async def _watch_parent(server: LanguageServer, messages: MessageLoop) -> None:
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
            messages.hang_up(f"the client (process {pid}) has died")
            return


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[str], None], argument: str) -> None:
    """Call `function` on the loop from any thread, if there still is a loop."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function, argument)
