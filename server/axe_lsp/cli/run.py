"""`axe-lsp run`: one agent, from the command line, compatible with `axe run`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.other_programs import stem_of
from axe_lsp.cli.arguments import (
    Parser,
    add_agent,
    add_json,
    add_permissions,
    agents_folder,
    dollars,
    seconds,
    tokens,
)
from axe_lsp.cli.run_report import CallDetails, report_failure
from axe_lsp.cli.streams import (
    compact,
    has_text,
    is_pipe_or_file,
    piped_text,
    print_message,
    text_beside_prompt,
)
from axe_lsp.runtime.agent_search import AgentSearch, agent_search, named_file, spellings
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.agent_files import base_of
from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.plain_text import decode, harmless, shown_path
from axe_lsp.runtime.prepare import prepare_request
from axe_lsp.runtime.providers.wire import WireError, parse_json
from axe_lsp.runtime.runs import Resolve, RunRequest
from axe_lsp.runtime.safety.trust import reach_warning


def main(arguments: Sequence[str]) -> int:
    """Run an agent; returns the exit code."""
    options = _options(arguments)
    calls = CallDetails()
    try:
        if options.on:
            # Imported late: for those who choose.
            from axe_lsp.runtime.files.execution import execution

            execution(os.environ, options.on)
        here = agent_search(agents_folder(options.agents_dir))
        file = named_file(options.agent, here.folder)
        request, workspace = in_workspace(_request(options, file), here, file)
        resolve = here.lookup.resolver(file)
        if options.dry_run:
            if options.continue_ is not None:
                raise ConfigError("--dry-run can't be used with --continue")
            _dry_run(request, workspace, resolve, as_json=options.json)
            return 0
        # Imported late, so that `--dry-run` and `--help` do not wait for an event loop.
        from axe_lsp.cli.live_run import LiveRun, run_live

        continues = "" if options.continue_ is None else _continued(options, request)
        places = here.places
        live = LiveRun(request, workspace, resolve, places, options, file, continues=continues)
        if options.background:
            from axe_lsp.cli.background import run_in_background

            return run_in_background(live, calls)
        return run_live(live, calls)
    except RunError as error:
        return report_failure(error, options, calls)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options; the word after the agent is its prompt, wherever options stand."""
    parser = _parser()
    options, further = parser.parse_known_args(arguments)
    words = [*([] if options.words is None else [options.words]), *further]
    if any(word.startswith("-") for word in further):
        parser.error(f"unrecognized arguments: {' '.join(further)}")
    if len(words) > 1:
        parser.error(
            f"unrecognized arguments: {' '.join(words[1:])}; a prompt of several words needs quotation marks"
        )
    if words:
        if options.prompt is not None or options.input is not None:
            other = "-p" if options.prompt is not None else "--input"
            parser.error(f"unrecognized arguments: {words[0]}; {other} is the task already")
        options.prompt = words[0]
    return options


def in_workspace(
    request: RunRequest, here: AgentSearch, file: Path | None
) -> tuple[RunRequest, Path]:
    """Return the request as it is made in the agent's workspace, and that workspace.

    Without such an agent that is the current folder; the run will say that there is none.
    """
    folders = here.lookup.seen_from(Caller(base=base_of(request.workdir, here.folder, os.environ)))
    try:
        workspace = here.workspace_of(file or folders.find(request.agent))
    except ConfigError:
        return request, here.folder
    is_relative = bool(request.workdir) and not request.workdir.startswith(("~", "$"))
    if is_relative and workspace != here.folder:  # `--workdir` starts at the current folder.
        request = replace(request, workdir=str(here.folder / request.workdir))
    return request, workspace


def _parser() -> Parser:
    parser = Parser(prog="axe-lsp run", description="Run an agent and print its answer.")
    add_agent(parser)
    add = parser.add_argument
    add("words", metavar="prompt", nargs="?", help="the task, as of -p")
    tell = parser.add_mutually_exclusive_group().add_argument
    tell(
        "-p",
        "--prompt",
        metavar="TEXT",
        help="the task; text from standard input is appended",
    )
    tell("--input", metavar="JSON", help="the input of an agent with [input] as JSON, or @FILE")
    add(
        "--require-stdin",
        action="store_true",
        help="send nothing if there is no text on standard input, such as of `git diff`",
    )
    add("--skill", metavar="PATH", default="", help="replaces the agent's skill")
    add(
        "--workdir",
        metavar="DIR",
        default="",
        help="replaces the agent's workdir; agents of this folder take precedence",
    )
    _add_limits(parser)
    add(
        "--continue",
        dest="continue_",
        metavar="RUN",
        nargs="?",
        const="",
        help="go on with the conversation of a completed run, with the prompt that it had "
        "(default: the agent's newest in this folder)",
    )
    add(
        "--on",
        metavar="ENGINE",
        default="",
        help="where agents in copies work: here, ssh, dask, or ssh://HOST or tls://HOST:PORT, where the agent itself "
        "works in a copy, too (default: config.toml)",
    )
    add("--dry-run", action="store_true", help="show the request without sending it")
    add(
        "--background",
        action="store_true",
        help="print the id of the run, which goes on without the terminal, and end; `axe-lsp attach` follows it",
    )
    add_json(parser, "print the answer and its cost, or the request, as JSON")
    add(
        "--stream",
        action="store_true",
        help="print text as it streams; for agents with tools, of every turn",
    )
    add("--no-history", action="store_true", help="do not store this run in the history")
    add("--record", metavar="FILE", type=Path, help="write requests and answers to FILE")
    add("--replay", metavar="FILE", type=Path, help="take the answers from a recording")
    add_permissions(parser, go_on="axe-lsp resume")
    return parser


def _add_limits(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        help="timeout of the run (default: the agent's timeout, else no limit while it makes progress; 0: no time at all)",
    )
    add(
        "--max-tokens",
        metavar="N",
        type=tokens,
        default=0,
        help="token limit of the run with its sub-agents (0: the agent's budget)",
    )
    add(
        "--max-cost",
        metavar="DOLLARS",
        type=dollars,
        default=0.0,
        help="cost limit of the run with its sub-agents (0: the agent's budget)",
    )


def _request(options: argparse.Namespace, file: Path | None) -> RunRequest:
    given = read_input(options.input) if options.input is not None else None
    if given is not None and has_text():
        _warn("standard input is not read, because of --input")
    return RunRequest(
        agent=stem_of(file.name) if file is not None else options.agent,
        task=_task(options) if given is None else None,
        input=given,
        model=options.model,
        skill=options.skill,
        workdir=options.workdir,
        timeout=options.timeout,
        max_tokens=options.max_tokens,
        max_cost=options.max_cost,
    )


def _continued(options: argparse.Namespace, request: RunRequest) -> str:
    """Return the completed run to go on with. Raises RunError."""
    # Imported late, like what else only some runs need.
    from axe_lsp.hosting.history.database import HistoryError
    from axe_lsp.hosting.history.dead_runs import opened_history
    from axe_lsp.hosting.history.queries import find_run, newest_in

    if not (request.task or "").strip():
        raise ConfigError("--continue needs a message: -p TEXT")
    for name in ("skill", "workdir", "record", "replay"):
        if getattr(options, name):
            raise ConfigError(f"--{name} can't be used with --continue")
    try:
        with opened_history() as connection:
            if options.continue_:
                _, root = find_run(connection, options.continue_)
            else:
                root = newest_in(connection, spellings("."), "continuable", request.agent)
            return root
    except HistoryError as error:
        raise ConfigError(str(error)) from error


def _task(options: argparse.Namespace) -> str:
    """Return the task: the prompt, then standard input. A blank prompt counts as none, as in axe."""
    prompt: str = options.prompt or ""
    piped = text_beside_prompt() if prompt.strip() else piped_text()
    if not (piped or "").strip():
        _report_missing_text(options, prompt)
    if not prompt.strip():
        return piped or ""
    if piped is None:
        _warn("standard input is open, but nothing came from it; `</dev/null` saves the wait")
    return f"{prompt}\n\n{piped}" if piped and piped.strip() else prompt


def _report_missing_text(options: argparse.Namespace, prompt: str) -> None:
    """Report that standard input has no text. Raises ConfigError if it was required; warns a person whose pipe was empty."""
    if options.require_stdin:
        raise ConfigError(
            "standard input has no text, and --require-stdin is given; nothing was sent"
        )
    if not prompt.strip() and is_pipe_or_file() and sys.stderr.isatty():
        _warn(
            "standard input is empty, so the agent has no task; --require-stdin sends nothing then"
        )


def _warn(text: str) -> None:
    print_message(f"Warning: {text}")


def _dry_run(request: RunRequest, workspace: Path, resolve: Resolve, *, as_json: bool) -> None:
    prepared = prepare_request(request, resolve, workspace, os.environ)
    untrusted = reach_warning(request, prepared.definition, workspace, os.environ)
    # Imported late, as only this needs it; what follows is as well.
    from axe_lsp.runtime.preview import dry_run_text, preview_json, warnings_of

    for warning in (*([untrusted] if untrusted else []), *warnings_of(prepared)):
        _warn(warning)
    if as_json:
        print(compact(preview_json(prepared)))
    else:
        print(harmless(dry_run_text(prepared)), end="")  # A file that somebody else has written.


def read_input(argument: str) -> Mapping[str, Json]:
    """Return the object that an argument means: `@` stands before a file. Raises ConfigError."""
    where, text = "--input", argument
    if argument.startswith("@"):
        path = Path(argument[1:])
        where = f"--input @{shown_path(path)}"
        try:
            text = decode(path.read_bytes())
        except FileNotFoundError:
            message = f"{where}: there is no such file; @ marks a file name"
            raise ConfigError(message) from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path.
            raise ConfigError(f"{where}: {getattr(error, 'strerror', None) or error}") from error
    try:
        value = parse_json(text)
    except WireError as error:
        raise ConfigError(f"{where}: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f'{where}: it is not a JSON object, such as {{"path": "src"}}')
    return value
