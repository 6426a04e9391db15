"""`axe-lsp mcp`: agents as tools of an MCP server."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import socket
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from axe_lsp import tuning
from axe_lsp.cli.arguments import Parser, add_allow, port
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.mcp import SDK_MISSING
from axe_lsp.runtime.plain_text import os_fault

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def main(arguments: Sequence[str]) -> int:
    """Serve until the client leaves, or until told to stop."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level="WARNING", stream=sys.stderr, format="%(levelname)s: %(message)s")
    if options.http is None and sys.stdin is not None and sys.stdin.isatty():
        print(
            "axe-lsp mcp waits for an MCP client on standard input. Ctrl-D ends it.",
            file=sys.stderr,
        )
    folder = working_folder() / options.folder if options.folder else working_folder()
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}")
    token = "" if options.no_token else _token(options)
    try:
        # Imported late: wrong arguments are answered at once. It brings the SDK along.
        from axe_lsp.mcp_server.server import AgentServer
        from axe_lsp.mcp_server.tool_calls import Calls
    except ImportError as error:
        if error.name is not None and error.name.startswith("axe_lsp"):
            raise
        raise ConfigError(f"axe-lsp mcp needs {SDK_MISSING}") from error
    from axe_lsp.serving import server_process

    tuning.server_begins()

    async def serve() -> int:
        calls = Calls(
            options.approve, options.max_parallel, trusted=options.trust, allow=tuple(options.allow)
        )
        server = AgentServer(folder, options.agents, calls, offers_all=options.all)
        if options.http is None:
            await server.serve_stdio()
        else:
            with _listening(*options.http) as listening:
                _tell(options.http[0], listening.getsockname()[1], token)
                await server.serve_http(options.http[0], listening, token)
        return 0

    server_process.run(serve())


def _token(options: argparse.Namespace) -> str:
    """Return the token that each request over HTTP has to bring. Raises ConfigError."""
    if options.http is None:
        return ""
    if options.token_file is None:
        return secrets.token_urlsafe(32)
    path: Path = options.token_file
    try:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ConfigError(f"others can read {path}; chmod 600 {path}")
        token = path.read_text("utf-8").strip()
    except OSError as error:
        raise ConfigError(f"the file of the token can't be read: {os_fault(error)}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"the file of the token is not text in UTF-8: {path}") from error
    if not token:
        raise ConfigError(f"the file of the token is empty: {path}")
    return token


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket to which clients can connect from now on. Raises ConfigError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # Python's own words for a number repeat the address.
        number = error.errno or 0
        why = os.strerror(number) if number > 0 else os_fault(error)
        raise ConfigError(
            f"can't listen on {_shown(host)}:{port}: {why}; choose another port, or 0 for a free one"
        ) from error


def _tell(host: str, port: int, token: str) -> None:
    """Say once how a client connects."""
    header = f' --header "Authorization: Bearer {token}"' if token else ""
    address = f"http://{_shown(host)}:{port}/mcp"
    print(f"claude mcp add --transport http axe {address}{header}", file=sys.stderr)


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _address(text: str) -> tuple[str, int]:
    host, _, number = text.rpartition(":")
    host = host.strip("[]") or _LOOPBACK[0]
    if host not in _LOOPBACK:
        raise argparse.ArgumentTypeError(
            f"{host} is not this machine; HTTP is for {_LOOPBACK[0]} only"
        )
    return host, port(number)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _parser() -> Parser:
    parser = Parser(prog="axe-lsp mcp", description="Offer agents as tools to MCP clients.")
    add = parser.add_argument
    add(
        "agents",
        metavar="NAME",
        nargs="*",
        help="these agents only (default: those of the workspace that no other agent calls)",
    )
    add("--all", action="store_true", help="all agents of the workspace")
    add(
        "--in", dest="folder", metavar="DIR", default="", help="the folder in which the agents work"
    )
    add(
        "--approve",
        choices=("ask", "deny", "allow"),
        default="ask",
        help="what happens when an agent wants to write or run something (default: ask the user of the client)",
    )
    add_allow(parser)
    add(
        "--trust",
        action="store_true",
        help="allow the agents of this workspace to reach outside it, as `axe-lsp trust` shows",
    )
    add(
        "--max-parallel",
        metavar="N",
        type=_count,
        default=4,
        help="maximum number of calls at a time; more are queued (default: 4)",
    )
    add(
        "--http",
        metavar="[HOST:]PORT",
        type=_address,
        help="serve HTTP at /mcp on this machine; 0 is any free port",
    )
    guard = parser.add_mutually_exclusive_group().add_argument
    guard(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="the token of HTTP requests (default: a new one)",
    )
    guard(
        "--no-token",
        action="store_true",
        help="accept HTTP requests of any program on this machine",
    )
    return parser
