"""`axe-lsp acp`: the agents of a folder for editors that speak the Agent Client Protocol."""

from __future__ import annotations

import asyncio
import logging
import sys
from argparse import REMAINDER
from collections.abc import Sequence
from contextlib import suppress

from axe_lsp import __version__, tuning
from axe_lsp.acp.agent import Agent
from axe_lsp.cli.arguments import Parser, add_allow
from axe_lsp.serving import server_process, stdio

_WAITS = """\
axe-lsp acp waits for messages of an editor on standard input. Ctrl-D ends it.
`axe-lsp help acp` says how editors start it."""


def main(arguments: Sequence[str]) -> int:
    """Serve until the client leaves, or until told to stop."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.config:
        if options.config[0] != "config":
            parser.error(f"unrecognized arguments: {' '.join(options.config)}")
        # Imported late: no editor waits for it.
        from axe_lsp.cli import config

        return config.main(options.config[1:])
    logging.basicConfig(level="WARNING", stream=sys.stderr, format="%(levelname)s: %(message)s")
    if sys.stdin is not None and sys.stdin.isatty():
        print(_WAITS, file=sys.stderr)
    tuning.server_begins()
    try:
        server_process.run(_serve(options.agent, tuple(options.allow)))
    except OSError as error:
        print(f"axe-lsp: {error}; an editor opens both streams", file=sys.stderr)
        return 1


async def _serve(first_agent: str, allow: tuple[str, ...]) -> int:
    """Serve one client. Raises OSError if standard input or output is closed."""
    source, sink = stdio.claim()
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()

    def broken(reason: str) -> None:
        logging.getLogger(__name__).warning("ending: %s", reason)
        with suppress(RuntimeError):  # There is no loop any more.
            loop.call_soon_threadsafe(gone.set)

    reader = stdio.open_reader(source, at_end=lambda: server_process.end_soon(0))
    writer = stdio.PipeWriter(sink, broken)
    agent = Agent(writer.write, __version__, first_agent, allow)

    async def listen() -> None:
        while data := await reader.read():
            agent.connection.feed(data)
            await agent.connection.room()

    ends = [loop.create_task(listen()), loop.create_task(gone.wait())]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await agent.close()
        writer.flush(within=1.0)
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp acp",
        description="Offer the agents of a folder to editors that speak the Agent Client Protocol.",
    )
    parser.add_argument(
        "--agent", metavar="NAME", default="", help="the agent with which sessions begin"
    )
    add_allow(parser)
    parser.add_argument(
        "config",
        nargs=REMAINDER,
        metavar="config ...",
        help="the same as `axe-lsp config ...`: editors add it to ask for a key in a terminal",
    )
    return parser
