"""`axe-lsp history`: the runs that are remembered, of all processes."""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import get_args

from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.cli.arguments import Parser, days, runs
from axe_lsp.cli.history_table import costs_by_agent, print_costs, print_table, side_by_side
from axe_lsp.cli.streams import compact, tell_person
from axe_lsp.hosting.event_text import describe
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.pruning import forget_all_but, forget_older
from axe_lsp.hosting.history.queries import (
    Wanted,
    all_roots,
    events_below,
    find_run,
    named_or_newest,
    past_runs,
    progress_of_roots,
    runs_below,
    tree_events,
)
from axe_lsp.hosting.history.tree_text import draw, drawing_of, in_utc, local_time
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.agent_search import spellings
from axe_lsp.runtime.events import Status
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.runs import ID_LENGTH

_ALL = 2**31

STATUSES = ("running", *get_args(Status))


def main(arguments: Sequence[str]) -> int:
    """List, show, follow, export or delete runs."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    _COMMANDS[options.command](options)
    return 0


def _list(options: argparse.Namespace) -> None:
    folders = spellings(options.in_) if options.in_ else ()
    before = options.before and in_utc(options.before)
    wanted = Wanted(options.agent, options.status, before, options.limit, folders)
    with opened_history() as connection:
        found = past_runs(connection, wanted)
    if options.json:
        print(compact(found))
    elif found:
        print_table(found)
    else:
        tell_person("No such run is stored. `axe-lsp run AGENT` starts one.")


def _show(options: argparse.Namespace) -> None:
    with opened_history() as connection:
        run_id, root = named_or_newest(connection, options.run, spellings("."))
        if options.json:
            print(compact(runs_below(connection, run_id, root)))
            return
        text = _with_former(connection, run_id) or draw(events_below(connection, run_id, root))
    # On a terminal nothing that a model has written is obeyed; elsewhere it is as it was.
    print("\n".join(map(visible, text.splitlines())) if sys.stdout.isatty() else text.rstrip("\n"))


def _cost(options: argparse.Namespace) -> None:
    """Print the sums of root runs with what they have called, which include those of tests."""
    today = f"{datetime.now().astimezone():%Y-%m-%d}"
    folders = spellings(options.in_) if options.in_ else ()
    since = in_utc(options.since or today)
    with opened_history() as connection:
        found = past_runs(connection, Wanted(limit=_ALL, folders=folders, since=since))
    sums = costs_by_agent(found)
    if options.json:
        print(compact(sums))
    else:
        print_costs(sums, options.since or f"today, {today}")


def _with_former(connection: sqlite3.Connection, run_id: str) -> str:
    """Return a fork beside the run that it was made from; "" if this is none, or that run is not remembered."""
    run = next(iter(runs_below(connection, run_id, run_id)), None)
    origin = (run or {}).get("forkedFrom")
    if not isinstance(origin, dict):
        return ""
    former = drawing_of(tree_events(connection, origin["runId"]))
    fork = drawing_of(tree_events(connection, run_id))
    if former is None or fork is None:
        return ""
    return side_by_side(former, fork, origin["turn"])


def _tail(options: argparse.Namespace) -> None:
    """Print what happens in a run until it ends; without one what happens at all, until Ctrl-C."""
    for event in _of_all() if options.run is None else _of_one(options.run):
        if options.json:
            print(compact(event.members), flush=True)
        else:
            _tell(event)


def _export(options: argparse.Namespace) -> None:
    with opened_history() as connection:
        wanted = [find_run(connection, run) for run in options.runs]
        for run_id, root in wanted or ((root, root) for root in all_roots(connection)):
            for event in events_below(connection, run_id, root):
                print(compact(event.members))


def _prune(options: argparse.Namespace) -> None:
    with opened_history() as connection:
        if options.keep is None:
            forgotten = forget_older(connection, options.older_than)
        else:
            forgotten = forget_all_but(connection, options.keep)
    print(f"Forgot {counted(forgotten, 'run')}.")


_COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "list": _list,
    "show": _show,
    "cost": _cost,
    "tail": _tail,
    "export": _export,
    "prune": _prune,
}


def _parser() -> Parser:
    parser = Parser(prog="axe-lsp history", description="The stored runs of all processes.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, help_: str) -> Callable[..., argparse.Action]:
        added = commands.add_parser(name, help=help_, description=help_.capitalize() + ".")
        return added.add_argument

    add = command("list", "list runs, newest first")
    add("--agent", metavar="NAME", help="runs of this agent, also as a sub-agent")
    add("--status", choices=STATUSES, metavar="STATUS", help=f"one of {', '.join(STATUSES)}")
    add(
        "--before",
        metavar="RUN|TIME",
        help="only runs that began before a run, or before a local time, such as 2026-11-21T09:30",
    )
    add(
        "--in",
        metavar="DIR",
        dest="in_",
        help="runs of a project: in DIR (such as .) and below it",
    )
    add("--limit", metavar="N", type=runs, default=20, help="maximum number (default 20)")
    add("--json", action="store_true", help="print them as JSON")
    add = command("show", "show a run and its sub-agents as a tree")
    add(
        "run",
        metavar="RUN",
        nargs="?",
        help="the id of a run, or the beginning of it (default: the newest of this folder)",
    )
    add("--json", action="store_true", help="print the runs of its tree as JSON")
    add = command("cost", "add up what runs have cost, by agent")
    add(
        "--since",
        metavar="TIME",
        help="runs that began at a local time or later, such as 2026-11-21 (default: today)",
    )
    add(
        "--in", metavar="DIR", dest="in_", help="runs of a project: in DIR (such as .) and below it"
    )
    add("--json", action="store_true", help="print the sums as JSON")
    add = command("tail", "follow active runs of all processes")
    add("run", metavar="RUN", nargs="?", help="one run, from its beginning to its end")
    add("--json", action="store_true", help="print each event as a line of JSON")
    add = command("export", "print all events as lines of JSON")
    add("runs", metavar="RUN", nargs="*", help="of these runs only")
    which = commands.add_parser(
        "prune", help="delete runs", description="Delete runs, except active ones."
    ).add_mutually_exclusive_group(required=True)
    which.add_argument("--older-than", metavar="DAYS", type=days, help="runs that began longer ago")
    which.add_argument("--keep", metavar="N", type=runs, help="all but the N newest")
    return parser


INTERVAL = 0.1
"""Seconds between two questions of `tail`: nothing else knows of the runs of other processes."""


def _of_one(run: str) -> Iterator[Notification]:
    seen, is_over = 0, False
    while not is_over:
        with opened_history() as connection:
            run_id, root = find_run(connection, run)
            news = list(events_below(connection, run_id, root, seen))
        for event in news:
            yield event
            seen = event.params["seq"]
            is_over = is_over or _is_end_of(event, run_id)
        time.sleep(0 if is_over else INTERVAL)


def _of_all() -> Iterator[Notification]:
    with opened_history() as connection:
        known = progress_of_roots(connection)
    tell_person(
        f"{len(known.seen)} under way; those that begin are shown as well. Ctrl-C ends this."
    )
    while True:
        with opened_history() as connection:
            known = progress_of_roots(connection, known)
            news = [list(tree_events(connection, *each)) for each in known.seen.items()]
        for event in (event for events in news for event in events):
            yield event
            root = event.params["rootRunId"]
            known.seen[root] = event.params["seq"]
            if _is_end_of(event, root):
                del known.seen[root]
        time.sleep(INTERVAL)


def _is_end_of(event: Notification, run_id: str) -> bool:
    params = event.params
    return (event.method, params["runId"], params.get("kind")) == ("axe/agent", run_id, "end")


def _tell(event: Notification) -> None:
    line = describe(event)
    if line is not None:
        params = event.params
        begin = f"{local_time(params['time'])}  {params['rootRunId'][:ID_LENGTH]}  "
        print(begin + visible(line), flush=True)
