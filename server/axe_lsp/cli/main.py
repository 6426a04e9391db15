"""`axe-lsp`: finds the subcommand and hands over. Without one it is the language server.

Only the module of the subcommand is imported, so `axe-lsp run` does not pay for the server.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Sequence
from importlib import import_module

from axe_lsp import tuning
from axe_lsp.cli import INTERRUPTED, end_on_interrupt, raise_on_interrupt
from axe_lsp.shortages import OUT_OF_RESOURCES, shortage

COMMANDS = {
    "init": "create the first agent of a project",
    "run": "run an agent and print its answer",
    "chat": "chat with an agent; each line is a message",
    "resume": "continue a run that was interrupted",
    "runs": "list the runs that are going on, in all processes",
    "attach": "follow a run that is going on, to its answer",
    "send": "send a message to a run that is going on",
    "stop": "end a run that is going on, in whatever process",
    "changes": "list the files that a run has changed",
    "undo": "put back the files that a run has changed",
    "check": "check agent files, with the editor's diagnostics",
    "hook": "check agent files that the model of a coding agent has written",
    "test": "run tests of agents from recordings, or record them",
    "agents": "list, show, create and edit agents",
    "import": "convert agents of other programs to agent files of axe",
    "export": "write agents as files of Codex, Claude Code and others",
    "sync": "carry changes of an agent over to its files for other programs",
    "trust": "allow agents of a workspace to reach outside it, and list them",
    "config": "find and create the configuration folder",
    "schema": "print the JSON Schema of agent files or config.toml",
    "gc": "analyze and trim the memory of agents",
    "history": "list, show, follow, export and delete past runs",
    "acp": "offer agents to editors that speak the Agent Client Protocol",
    "mcp": "offer agents as tools to MCP clients",
    "hands": "execute tools for agents on another machine; ssh or Dask starts it",
    "demo": "run a small example with recorded answers; --list shows more",
    "bench": "measure axe-lsp against other tools, from a checkout",
    "serve": "the language server, as without a command",
    "models": "list known models with prices, and those of Ollama",
    "doctor": "check the set-up, with the next step for each finding",
    "help": "show a page of the documentation, or the help of a command",
    "completion": "print the completion script of a shell",
    "version": "print the version",
}
"""The subcommands and what they do. Each is the function `main(arguments) -> exit code` of its module."""

_MODULES = {"import": "import_agents", "help": "manual", "completion": "shell_completion"}
"""The modules of commands that are not called like them."""

_RUNS = ("run", "chat", "resume")
"""Commands that make runs, which have a guard."""

_SERVERS = ("acp", "hands", "mcp", "serve")
"""Commands whose standard streams are those of a protocol."""

_KEPT_TO_ITSELF = ("acp", "attach", "chat", "gc", "hands", "mcp", "resume", "test")
"""Commands that may run for long while commands of agents run, and have keys in their environment. `serve` and
`run` see to that themselves, a moment after their start."""

BROKEN_PIPE = 141
"""Exit code when nobody reads the output any more (128 + SIGPIPE)."""

OUTPUT_LOST = 1
"""Exit code when the output can't be written, as on a full disk."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the entry point; returns the exit code."""
    tuning.command_begins()
    if threading.current_thread() is threading.main_thread():
        end_on_interrupt()
    try:
        return _main(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        _forget_unfinished_work()
        return INTERRUPTED
    except (OSError, ImportError, MemoryError, RuntimeError) as error:
        reason = shortage(error)
        if not reason:
            raise
        print(f"axe-lsp: {reason}", file=sys.stderr)
        _forget_unfinished_work()
        return OUT_OF_RESOURCES
    finally:
        raise_on_interrupt()
        tuning.command_ends()


def _forget_unfinished_work() -> None:
    """Keep Python from reporting each coroutine and event loop that the error, or Ctrl-C, has left unfinished."""
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None


def _main(arguments: list[str]) -> int:
    name, rest = _command(arguments)
    if name not in _RUNS:
        return _executed(name, rest)
    from axe_lsp.cli.interruption import forked_early

    with forked_early():
        return _executed(name, rest)


def _executed(name: str, rest: list[str]) -> int:
    # Imported late, as what it imports is a seventh of a start, and garbage would be looked for meanwhile.
    from axe_lsp.cli import streams

    if name in _SERVERS:
        streams.forgive_errors()
        return _call(name, rest)  # They have their own ideas about the other streams.
    streams.prepare()
    try:
        code = _dispatch(name, rest)
        sys.stdout.flush()
    except OSError as error:
        if shortage(error):
            raise
        fault = streams.output_fault()
        if isinstance(error, BrokenPipeError) or isinstance(fault, BrokenPipeError):
            return BROKEN_PIPE
        if fault is None and error.filename is not None:
            raise  # Something else than the output, which has no name.
        # A long text that could not be printed at once leaves nothing to be flushed.
        reason = (fault or error).strerror
        print(f"axe-lsp: the output can't be written: {reason}", file=sys.stderr)
        return OUTPUT_LOST
    return code


def _command(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the name of the subcommand and what it is given."""
    name = arguments[0] if arguments else "serve"
    if name in ("-h", "--help"):
        return "overview", []
    if name in ("-V", "--version"):
        return "version", arguments[1:]
    if name.startswith("-") or not arguments:
        return "serve", arguments
    return name, arguments[1:]


def _dispatch(name: str, arguments: list[str]) -> int:
    if name == "overview":
        print(_overview(), end="")
        return 0
    if name not in COMMANDS:
        from axe_lsp.cli.streams import print_message

        print_message(_unknown(name))
        return 1
    return _call(name, arguments)


def _call(name: str, arguments: list[str]) -> int:
    """Execute a command. A RunError that it raises is printed here, and gives the exit code."""
    from axe_lsp.cli.streams import complain
    from axe_lsp.runtime.errors import RunError

    if name in _KEPT_TO_ITSELF:
        # Imported late: the others do without, and a start counts milliseconds.
        from axe_lsp.runtime.processes import forbid_inspection

        forbid_inspection()
    try:
        command = import_module(module_of(name)).main
        raise_on_interrupt()
        code: int = command(arguments)
    except RunError as error:
        complain(error)
        return int(error.exit_code)
    return code


def module_of(name: str) -> str:
    """Return the module of a command."""
    return f"axe_lsp.cli.{_MODULES.get(name, name)}"


def _overview() -> str:
    width = max(map(len, COMMANDS)) + 2
    commands = "".join(f"  {name:<{width}}{what}\n" for name, what in COMMANDS.items())
    return (
        "axe-lsp: a language server and a runtime for AI agents in TOML and Markdown\n\n"
        "usage: axe-lsp [--stdio | --tcp HOST:PORT | --pipe PATH]   the language server\n"
        "       axe-lsp COMMAND ...\n\n"
        f"commands:\n{commands}\n"
        "`axe-lsp COMMAND --help` describes a command, `axe-lsp help TOPIC` shows a page of the documentation.\n"
    )


def _unknown(name: str) -> str:
    from axe_lsp.agentfile.text.nearest import nearest

    near = nearest(name, COMMANDS)
    hint = f"Did you mean `{near}`?" if near else "`axe-lsp --help` lists the commands."
    return f"axe-lsp: unknown command `{name}`. {hint}"
