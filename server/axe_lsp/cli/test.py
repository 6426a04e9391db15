"""`axe-lsp test`: tests of agents, replayed from recordings, recorded, or run with real answers."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from axe_lsp.agentfile.lookup_order import TEST_FOLDERS
from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.cli.arguments import Parser, add_allow, dollars, runs
from axe_lsp.cli.interruption import run_until_interrupted
from axe_lsp.cli.run_history import RunHistory
from axe_lsp.cli.streams import complain, print_message
from axe_lsp.cli.test_formats import FORMATS, Report, diff_lines
from axe_lsp.runtime.agent_search import spellings
from axe_lsp.runtime.errors import ConfigError, ExitCode, RunError
from axe_lsp.runtime.files.default_model import named_model
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.files.workspace_folders import project_of_tests, workspace_above
from axe_lsp.runtime.plain_text import escaped, shown_path, visible
from axe_lsp.runtime.safety.trust import TrustStore
from axe_lsp.testing.case_session import Agrees, CaseSession, Plan, always, run_session
from axe_lsp.testing.from_run import remembered, write_case
from axe_lsp.testing.inputs import Changes, Watched, affected_cases, changed, watched_by
from axe_lsp.testing.run_case import Outcome
from axe_lsp.testing.suite import (
    Suite,
    chosen_cases,
    load_suite,
    tests_below,
    trust_request_of_tests,
    unused_recordings,
)

FAILED = 1
"""Exit code when a case failed, is stale or has no recording."""

_JOBS, _LIVE_JOBS = 8, 4


class _Parser(Parser):
    usage_error = int(ExitCode.CONFIG)  # 1 is that of a case that failed.


def main(arguments: Sequence[str]) -> int:
    """Run the cases, or make a new one; returns the exit code."""
    if arguments[:1] == ["new"]:
        return _new(arguments[1:])
    options = _parser().parse_args(arguments)
    session = _session(options)
    watched = _watched(session) if options.watch else Watched()
    work = _watch(watched, options) if options.watch else _once(session, options)
    return run_until_interrupted(work)


def _session(options: argparse.Namespace) -> CaseSession:
    """Return the selection of the options. Raises ConfigError."""
    if options.watch and (options.record or options.live):
        raise ConfigError("--watch replays recordings; --record and --live cost money each time")
    if fault := _without_effect(options):
        raise ConfigError(fault)
    config = load_user_config(os.environ) if options.model else None
    models = tuple(named_model(each, config) for each in options.model if config is not None)
    plans = _plans(options)
    return CaseSession(
        plans=_affected(plans, options.changed) if options.changed else plans,
        mode="record" if options.record else "live" if options.live else "replay",
        is_loose=options.loose,
        updates=options.update,
        agrees=_agreement(options),
        trusts_all=options.trust,
        allow=tuple(options.allow),
        jobs=options.jobs or (_LIVE_JOBS if options.record or options.live else _JOBS),
        max_cost=options.max_cost,
        repeats=max(1, options.repeats),
        models=models,
    )


def _without_effect(options: argparse.Namespace) -> str:
    """Return the fault of options that do nothing without others, "" if there is none."""
    if options.update and not options.record:
        return "--update needs --record"
    for name in ("yes", "ask"):
        if getattr(options, name) and not options.update:
            return f"--{name} needs --record --update"
    if options.ask and options.format != "json":
        return "--ask needs --format json"
    if not options.live and (options.model or options.repeats != 1):
        return f"{'--model' if options.model else '-n'} needs --live"
    for name in ("allow", "max_cost"):
        if getattr(options, name) and not (options.live or options.record):
            return f"--{name.replace('_', '-')} needs --live or --record"
    return ""


async def _once(session: CaseSession, options: argparse.Namespace) -> int:
    if session.mode == "replay" and not options.files and not options.agent:
        for path in unused_recordings([each.suite for each in session.plans]):
            _warn(f"no case uses the recording {_shown(path, working_folder())}")
    return await _run(session, options.format, remembers=not options.no_history)


async def _watch(watched: Watched, options: argparse.Namespace) -> int:
    """Run the cases, and again after each change, until interrupted. A mistake in a file ends nothing."""
    while True:
        before = watched.stamps()  # Before the files are read, so that no change is missed.
        try:
            session = _session(options)
            wanted = _watched(session)
        except ConfigError as error:
            complain(error)
        else:
            if wanted != watched:
                watched = wanted
                continue
            await _once(session, options)
            sys.stdout.flush()
        print("Waiting for changes; Ctrl-C ends.", file=sys.stderr, flush=True)
        await changed(watched, before)


def _watched(session: CaseSession) -> Watched:
    return watched_by([each.suite for each in session.plans], os.environ)


def _new(arguments: Sequence[str]) -> int:
    """Make a case from a run, and replay it at once."""
    parser = _Parser(
        prog="axe-lsp test new",
        description="Make a case and its recording from a run of the history. Nothing is overwritten.",
    )
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        help="the id of a run, or the beginning of it (default: the newest of this folder)",
    )
    parser.add_argument(
        "--into",
        metavar="FILE",
        type=Path,
        help="the file of tests (default: axe/tests/AGENT.toml of the run's workspace)",
    )
    options = parser.parse_args(arguments)
    try:
        run = remembered(options.run, spellings("."))
        here = working_folder()
        made = write_case(run, here / options.into if options.into is not None else None)
        suite = load_suite(made.file, _shown(made.file, here), _project(made.file, here))
    except RunError as error:
        complain(error)
        return int(ExitCode.CONFIG)
    recorded = _shown(made.recording, here)
    print(visible(f"{suite.shown}::{made.name}, recorded in {recorded}"))
    for note in made.notes:
        print(f"Note: {note}.")
    cases = tuple(chosen_cases(suite, [made.name]))
    return run_until_interrupted(_run(CaseSession((Plan(suite, cases),)), "text", remembers=False))


def _agreement(options: argparse.Namespace) -> Agrees:
    """Return the function that asks whether to replace a recording; it agrees always with `--yes`. Raises ConfigError without a terminal."""
    if not options.update:
        return always
    if not (options.ask or options.yes) and (sys.stdin is None or not sys.stdin.isatty()):
        raise ConfigError("nobody can be asked here; --yes replaces recordings without a question")
    one_at_a_time = asyncio.Lock()

    async def agrees(outcome: Outcome, before: str, after: str) -> bool:
        async with one_at_a_time:
            if options.ask:
                return await _program_agrees(outcome, before, after)
            where = f"{outcome.suite.shown}::{outcome.case.name}"
            print("\n".join([visible(where), *diff_lines(before, after)]), file=sys.stderr)
            if options.yes:
                return True
            print("Replace the recording? [y]es, [N]o: ", end="", file=sys.stderr, flush=True)
            answer = await asyncio.to_thread(sys.stdin.readline)
            return answer.strip().lower() in ("y", "yes")

    return agrees


async def _program_agrees(outcome: Outcome, before: str, after: str) -> bool:
    """Ask the program that has started this one: a JSON line out, the line `yes` in."""
    if sys.stdin is None:
        return False
    question = {
        "asks": "replace",
        "file": outcome.suite.shown,
        "name": outcome.case.name,
        "before": before,
        "after": after,
    }
    print(json.dumps(question, ensure_ascii=False), flush=True)
    answer: str = await asyncio.to_thread(sys.stdin.readline)
    return answer.strip() == "yes"


def _warn(text: str) -> None:
    print_message(f"Warning: {text}")


async def _run(session: CaseSession, format_: str, *, remembers: bool) -> int:
    began = time.monotonic()
    report: Report = FORMATS[format_](sys.stdout)
    code = 0
    found: list[Outcome] = []
    has_warned = False
    left = session.count
    try:
        async with AsyncExitStack() as opened:
            histories: dict[Path, RunHistory] = {}
            async for outcome in run_session(session):
                found.append(outcome)
                left -= 1
                report.add(outcome)
                if remembers and outcome.verdict != "passed":
                    project = outcome.suite.project
                    if project not in histories:
                        history = RunHistory(project, _warn, is_wanted=True)
                        histories[project] = await opened.enter_async_context(history)
                    for event in outcome.events:
                        histories[project].event(event)
                if session.max_cost and outcome.cost is None and not has_warned:
                    has_warned = True
                    _warn(
                        f"--max-cost can't be kept: {outcome.case.name} has a model whose price is not known"
                    )
    except ConfigError as error:
        complain(error)
        code, left = int(ExitCode.CONFIG), 0
    finally:
        # What is done is told, also after Ctrl-C.
        report.finish(time.monotonic() - began, left)
    return code or _exit_code(found)


def _exit_code(found: Sequence[Outcome]) -> int:
    verdicts = {each.verdict for each in found}
    if "provider" in verdicts:
        return int(ExitCode.API)
    if "unfinished" in verdicts:
        return int(ExitCode.BUDGET)
    return FAILED if verdicts - {"passed"} else 0


def _plans(options: argparse.Namespace) -> tuple[Plan, ...]:
    """Return the cases to run, by file. Raises ConfigError."""
    named: dict[Path, list[str]] = {}
    for given in options.files:
        path, _, name = given.partition("::")
        for file in _files(Path(path)):
            named.setdefault(file, []).extend([name] if name else [])
    here = working_folder()
    if not options.files:
        root = workspace_above(here, os.environ)
        named = {file: [] for file in tests_below(root)}
        if not named and options.if_any:
            print("there are no tests of agents in this project", file=sys.stderr)
            return ()
        if not named:
            folder = shown_path(root / TEST_FOLDERS[0])
            raise ConfigError(
                f"there are no tests: no .toml file in {folder}. `axe-lsp test new RUN` makes one from a run of "
                "the history, and `axe-lsp help testing` describes the files"
            )
    suites = {
        file: load_suite(file, _shown(file, here), _project(file, here), names)
        for file, names in named.items()
    }
    wanted = [each for each in suites.values() if options.agent in ("", each.cases.agent)]
    if not wanted:
        raise ConfigError(f"there are no tests of agent {options.agent}")
    is_replayed = not (options.record or options.live)
    for suite in wanted:
        if not (options.trust or (is_replayed and suite.cases.replays_tools)):
            _require_trust(suite)
    return tuple(Plan(each, tuple(chosen_cases(each, named[each.path]))) for each in wanted)


def _affected(plans: Sequence[Plan], revision: str) -> tuple[Plan, ...]:
    """Return those of the cases that changes since a commit may affect, and how many they are. Raises ConfigError."""
    of_project: dict[Path, Changes] = {}
    found: list[Plan] = []
    for plan in plans:
        project = plan.suite.project
        if project not in of_project:
            of_project[project] = Changes(project, revision, os.environ)
        cases = affected_cases(plan.suite, plan.cases, of_project[project], os.environ)
        found.append(Plan(plan.suite, tuple(cases)))
    count, whole = (sum(len(each.cases) for each in some) for some in (found, plans))
    what = f"{count} of {counted(whole, 'case')}"
    print(f"{what} may be affected by changes since {escaped(revision)}", file=sys.stderr)
    return tuple(found)


def _files(path: Path) -> Iterator[Path]:
    """Yield a file itself, or the files of tests below a folder. Raises ConfigError."""
    whole = working_folder() / path
    if not whole.is_dir():
        yield Path(os.path.normpath(whole))
        return
    is_empty = True
    for file in tests_below(whole):
        is_empty = False
        yield file
    if is_empty:
        raise ConfigError(f"there are no tests below {shown_path(path)}")


def _project(file: Path, here: Path) -> Path:
    """Return the folder whose agents a file of tests means."""
    return project_of_tests(file.parent) or workspace_above(here, os.environ)


def _shown(file: Path, here: Path) -> str:
    return shown_path(file.relative_to(here) if here in file.parents else file)


def _require_trust(suite: Suite) -> None:
    request = trust_request_of_tests(suite, os.environ)
    if request is not None and not TrustStore(os.environ).holds(request):
        raise ConfigError(
            f"{suite.shown} wants to allow its agents these tools, and you have not trusted that:\n{request.lines}\n"
            f"`axe-lsp trust {suite.shown}` allows it until the file, its recordings or its workspace change; "
            "`axe-lsp test --trust` allows it once."
        )


def _parser() -> Parser:
    parser = _Parser(
        prog="axe-lsp test",
        description="Run tests of agents, the files axe/tests/*.toml of a project. Answers come from recordings, "
        "so no key and no network is needed. `axe-lsp help testing` describes the files. "
        "`axe-lsp test new RUN` makes a case from a run of the history.",
    )
    _add_selection(parser)
    _add_answers(parser)
    _add_execution(parser)
    return parser


def _add_selection(parser: Parser) -> None:
    """Add the arguments that select cases."""
    add = parser.add_argument
    add(
        "files",
        nargs="*",
        metavar="FILE[::CASE]",
        help="files of tests, folders to search for them, or one case of a file (default: all of the project)",
    )
    add("--agent", metavar="NAME", default="", help="only tests of this agent")
    add(
        "--changed",
        nargs="?",
        const="HEAD",
        default="",
        metavar="REVISION",
        help="only cases whose file, agents, skills, workspace or recording have changed since a commit of git "
        "(default: HEAD), or since its merge base with HEAD",
    )
    add(
        "--if-any",
        action="store_true",
        help="succeed in a project without tests, for hooks that run in every project",
    )


def _add_answers(parser: Parser) -> None:
    """Add the options for recordings."""
    add = parser.add_argument
    how = parser.add_mutually_exclusive_group().add_argument
    how(
        "--record",
        action="store_true",
        help="run cases without a recording once with real answers, and record them",
    )
    how(
        "--live",
        action="store_true",
        help="run cases with real answers, which are not recorded; a case passes at its `rate`",
    )
    how(
        "--loose",
        action="store_true",
        help="accept changed prompts, tools and models; tasks and results must be the recorded ones",
    )
    add(
        "--update",
        action="store_true",
        help="with --record: record all cases again; show the difference before a recording is replaced",
    )
    add(
        "--ask",
        action="store_true",
        help="with --update and --format json: print a line with the recording `before` and `after`, and replace it "
        "if the line `yes` follows on standard input",
    )
    add("--yes", action="store_true", help="with --update: replace recordings without asking")
    add(
        "-n",
        dest="repeats",
        metavar="N",
        type=runs,
        default=1,
        help="with --live: how often each case runs (default: 1)",
    )
    add(
        "--model",
        metavar="PROVIDER/NAME",
        action="append",
        default=[],
        help="with --live: this model in place of the agent's; may be repeated",
    )
    add(
        "--max-cost",
        metavar="DOLLARS",
        type=dollars,
        default=0.0,
        help="with --live and --record: start no case after this cost (0: no limit)",
    )


def _add_execution(parser: Parser) -> None:
    """Add the options for execution and output."""
    add = parser.add_argument
    add("--watch", action="store_true", help="run again after each change of a file, until Ctrl-C")
    add(
        "--jobs",
        metavar="N",
        type=runs,
        default=0,
        help=f"number of cases that run in parallel (default: {_JOBS}, with real answers {_LIVE_JOBS})",
    )
    add("--format", choices=sorted(FORMATS), default="text", help="output format (default: text)")
    add(
        "--no-history",
        action="store_true",
        help="do not store the runs of cases that did not pass in the history",
    )
    add_allow(parser)
    add(
        "--trust",
        action="store_true",
        help="for this command, allow what `allow` of the files names, and agents to reach outside their workspaces",
    )
