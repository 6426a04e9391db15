"""`axe-lsp --stdio`: the language server."""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axe_lsp import tuning
from axe_lsp.cli.arguments import Parser, port
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.processes import forbid_inspection_or_end

if TYPE_CHECKING:
    from axe_lsp.daemon.daemon import Daemon

_LEVELS = ("error", "warning", "info", "debug")
LOCAL = "127.0.0.1"
_SOON = 0.2
"""Seconds after which nobody can look into this process any more, or before it starts another one; a client that waits
for its first answer does not wait for that."""

_WAITS = """\
axe-lsp waits for messages of an editor on standard input. Ctrl-D ends it.
`axe-lsp --help` lists the commands for a terminal; `axe-lsp demo` runs a small example."""
"""The text for a user who starts the server by hand."""


def main(arguments: Sequence[str]) -> int:
    """Serve until the client leaves, or until told to stop."""
    chosen = _parser().parse_args(arguments)
    try:
        _start_log(chosen)
    except OSError as error:
        print(f"axe-lsp: the log can't be written: {os_fault(error)}", file=sys.stderr)
        return 1
    if chosen.tcp is None and chosen.pipe is None and sys.stdin is not None and sys.stdin.isatty():
        print(_WAITS, file=sys.stderr)
    # Imported last, because it takes a while: wrong arguments are answered at once.
    from axe_lsp.daemon.daemon import Daemon
    from axe_lsp.rpc import transports
    from axe_lsp.serving import server_process

    tuning.server_begins()
    try:
        server_process.run(_serve(chosen, Daemon(has_many_clients=bool(chosen.tcp or chosen.pipe))))
    except transports.CannotListenError as error:
        print(f"axe-lsp: {error}", file=sys.stderr)
        return 1


async def _serve(chosen: Namespace, daemon: Daemon) -> int:
    import asyncio

    asyncio.get_running_loop().call_later(_SOON, forbid_inspection_or_end)
    serving = asyncio.ensure_future(_transport(chosen, daemon))
    try:
        return await asyncio.shield(serving)
    except asyncio.CancelledError:
        daemon.is_ending = True
        serving.cancel()
        await asyncio.wait({serving})
        raise
    finally:
        await daemon.close()


def _transport(chosen: Namespace, daemon: Daemon) -> Coroutine[Any, Any, int]:
    from axe_lsp.lsp.server import AxeServer

    def make_server() -> AxeServer:
        return AxeServer(daemon)

    if chosen.tcp is None and chosen.pipe is None:
        from axe_lsp.rpc import transports

        return transports.serve_stdio(make_server)
    from axe_lsp.lsp.tcp_token import token_on_disk
    from axe_lsp.rpc import sockets

    if chosen.tcp is not None:
        host, port = chosen.tcp
        return sockets.serve_tcp(
            make_server,
            host,
            port,
            partial(token_on_disk, os.environ),
            may_be_remote=chosen.allow_remote,
        )
    return sockets.serve_pipe(make_server, chosen.pipe)


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp", description="The language server for axe agent files, for any LSP client."
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="standard input and output (default)")
    way.add_argument(
        "--tcp",
        type=_address,
        metavar="[HOST:]PORT",
        help=f"listen for any number of clients; the host is {LOCAL} unless given, 0 any port",
    )
    way.add_argument(
        "--pipe", type=Path, metavar="PATH", help="listen on a Unix socket at this path"
    )
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="allow --tcp to listen on an address that other machines can reach; nothing is encrypted",
    )
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="log file instead of stderr")
    parser.add_argument("--log-level", choices=_LEVELS, default="warning", help="default: warning")
    # VS Code's client adds the process id of the editor, which `initialize` tells as well.
    parser.add_argument("--clientProcessId", help="ignored")
    return parser


def _address(text: str) -> tuple[str, int]:
    host, _, number = text.rpartition(":")
    return host.strip("[]") or LOCAL, port(number)


def _start_log(chosen: Namespace) -> None:
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if chosen.log_file is not None:
        handler = logging.FileHandler(chosen.log_file, encoding="utf-8")
    logging.basicConfig(
        level=chosen.log_level.upper(),
        handlers=[handler],
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
