"""`axe-lsp chat`: a conversation with an agent at the terminal, one run for each message.

The agent's file is read again for each message, and an answer that was stopped or has failed is part of the
conversation.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from shlex import quote

from msgspec.structs import replace

from axe_lsp.cli.arguments import Parser, add_agent, add_permissions, agents_folder
from axe_lsp.cli.live_run import LiveRun, run_live
from axe_lsp.cli.run import in_workspace
from axe_lsp.cli.run_report import CallDetails, report_failure, tell_how_to_go_on
from axe_lsp.cli.streams import complain
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.queries import find_run
from axe_lsp.hosting.history.run_claims import require_kept
from axe_lsp.runtime.agent_search import AgentSearch, agent_search, named_file
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.prepare import model_of_root
from axe_lsp.runtime.providers.http_provider import service_of
from axe_lsp.runtime.runs import RunRequest, new_run_id

_PROMPT = "> "

_SIGNALS = 128
"""Exit codes above are those of processes that a signal has ended."""

_INTERRUPTED = _SIGNALS + signal.SIGINT
"""The exit code after Ctrl-C, which at a terminal stops an answer, not the conversation."""


def main(arguments: Sequence[str]) -> int:
    """Send each line as a message; returns the exit code of the last one."""
    options = _parser().parse_args(arguments)
    options.stream = sys.stdout.isatty()
    _require(options)
    former = _former(options.continue_)
    code = 0
    for message in _messages():
        run_id = new_run_id()
        code = _answer(message, options, former, run_id)
        if code == 0 and not options.stream:  # Answers in a pipe are lines as well.
            print(flush=True)
        if code == 0 or _is_kept(run_id):
            former = run_id
        else:
            complain(ConfigError("this message is not part of the conversation"))
        if code > _SIGNALS and not (code == _INTERRUPTED and options.stream):
            break
    if former:
        tell_how_to_go_on(f"axe-lsp chat {quote(options.agent)} --continue", former)
    return code


def _require(options: argparse.Namespace) -> None:
    """Find the agent before the first message, and what would keep any message from its model. Raises RunError."""
    here = agent_search(agents_folder(options.agents_dir))
    file, request, workspace = _request("", options, here)
    if file is None:
        here.agents.find(options.agent)
    model = model_of_root(request, here.lookup.resolver(file), workspace, os.environ)
    service_of(model, load_user_config(os.environ))


def _request(
    message: str, options: argparse.Namespace, here: AgentSearch
) -> tuple[Path | None, RunRequest, Path]:
    """The agent's file if the user has named one, the order of the run, and the workspace."""
    file = named_file(options.agent, here.folder)
    agent = file.stem if file is not None else options.agent
    request, workspace = in_workspace(RunRequest(agent, message), here, file)
    return file, replace(request, model=options.model), workspace


def _answer(message: str, options: argparse.Namespace, former: str, run_id: str) -> int:
    calls = CallDetails()
    try:
        here = agent_search(agents_folder(options.agents_dir))
        file, request, workspace = _request(message, options, here)
        resolve = here.lookup.resolver(file)
        live = LiveRun(request, workspace, resolve, here.places, options, file, run_id)
        if former:
            live = replace(live, continues=former, session=True)
        return run_live(live, calls)
    except RunError as error:
        return report_failure(error, options, calls)


def _messages() -> Iterator[str]:
    """The lines that are not blank, until the end of input."""
    if not sys.stdin.isatty():
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    with suppress(ImportError):  # Windows has none. Lines can be edited where it is.
        import_module("readline")
    with suppress(EOFError):
        while True:
            line = input(_PROMPT).strip()
            if line:
                yield line
    print()


def _is_kept(run_id: str) -> bool:
    """Whether a conversation can go on from a run that was not completed."""
    try:
        with opened_history() as connection:
            require_kept(connection, run_id)
    except RunError:
        return False
    return True


def _former(beginning: str | None) -> str:
    """The id of the run to go on with, "" if none is named. Raises RunError."""
    if beginning is None:
        return ""
    with opened_history() as connection:
        return find_run(connection, beginning)[1]


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp chat",
        description="Talk with an agent: each line is a message. Ctrl-D ends the conversation.",
    )
    add_agent(parser)
    parser.add_argument(
        "--continue",
        dest="continue_",
        metavar="RUN",
        help="go on with the conversation of a past run",
    )
    add_permissions(parser, go_on="")
    return parser
