"""`axe-lsp`: finds the subcommand and hands over. Without one it is the language server.

Only the module of the subcommand is imported, so `axe-lsp run` does not pay for the server.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple


class Command(NamedTuple):
    """A subcommand: the module whose `main(arguments) -> exit code` it is, and what it does."""

    module: str
    help: str


COMMANDS = {
    "run": Command("axe_lsp.cli.run", "run an agent and print its answer"),
    "check": Command("axe_lsp.cli.check", "check agent files, with the editor's diagnostics"),
    "agents": Command("axe_lsp.cli.agents", "list, show, create and edit agents"),
    "config": Command("axe_lsp.cli.config", "find and create the configuration folder"),
    "gc": Command("axe_lsp.cli.gc", "analyze and trim the memory of agents"),
    "demo": Command("axe_lsp.cli.demo", "run a small example with recorded answers"),
    "serve": Command("axe_lsp.cli.serve", "the language server, as without a command"),
    "version": Command("axe_lsp.cli.version", "print the version"),
}

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells expect it (128 + SIGINT)."""

BROKEN_PIPE = 141
"""Exit code when nobody reads the output any more (128 + SIGPIPE)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _speak_utf8()
    try:
        return _dispatch(list(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return BROKEN_PIPE


def _dispatch(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "serve"
    if name in ("-h", "--help", "help"):
        print(_overview(), end="")
        return 0
    if name == "--version":
        name = "version"
    if name.startswith("-") or not arguments:
        return _call("serve", arguments)
    if name not in COMMANDS:
        print(_unknown(name), file=sys.stderr)
        return 1
    return _call(name, arguments[1:])


def _call(name: str, arguments: list[str]) -> int:
    code: int = import_module(COMMANDS[name].module).main(arguments)
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def _overview() -> str:
    commands = "".join(f"  {name:<9}{command.help}\n" for name, command in COMMANDS.items())
    return (
        "axe-lsp: a language server and a runtime for AI agents defined in TOML\n\n"
        "usage: axe-lsp [--stdio | --tcp HOST:PORT | --pipe PATH]   the language server\n"
        "       axe-lsp COMMAND ...\n\n"
        f"commands:\n{commands}\n"
        "`axe-lsp COMMAND --help` tells more about a command.\n"
    )


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - rarely needed

    near = get_close_matches(name, COMMANDS, n=1)
    hint = f"Did you mean `{near[0]}`?" if near else "`axe-lsp --help` lists the commands."
    return f"axe-lsp: unknown command `{name}`. {hint}"


def _speak_utf8() -> None:
    """Agents answer in any language, whatever the terminal's encoding is set to."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _forget_stdout() -> None:
    """Keep Python from complaining at exit that it could not flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
