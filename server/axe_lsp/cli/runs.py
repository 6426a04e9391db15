"""`axe-lsp runs`: the runs that are going on in all processes of the user, and those of the last hour."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from axe_lsp.cli.active_runs import pids_of_active_roots, unstored_runs
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.history_table import print_table
from axe_lsp.cli.streams import compact, tell_person
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.queries import Wanted, past_runs
from axe_lsp.runtime.agent_search import spellings
from axe_lsp.runtime.json_data import Json

_MAX_ACTIVE = 10_000
_MAX_ENDED = 1_000


def main(arguments: Sequence[str]) -> int:
    """List runs; returns the exit code."""
    options = _parser().parse_args(arguments)
    rows = _rows(options)
    if options.json:
        print(compact(rows))
    elif rows:
        print_table(rows, has_processes=True)
    else:
        tell_person("No run is going on. `axe-lsp history list` lists the runs of the past.")
    return 0


def _rows(options: argparse.Namespace) -> list[dict[str, Json]]:
    """Return active runs, newest first, and then those that have ended."""
    folders = spellings(options.in_) if options.in_ else ()
    with opened_history() as connection:
        active = past_runs(connection, Wanted(None, "running", None, _MAX_ACTIVE, folders))
        newest = past_runs(connection, Wanted(limit=_MAX_ENDED, folders=folders))
    pids = pids_of_active_roots()
    for each in active:
        if each["runId"] in pids:
            each["pid"] = pids[each["runId"]]
    stored = {each["runId"] for each in (*active, *newest)}
    unstored = [each for each in unstored_runs(stored) if _is_in(each["workspace"], folders)]
    hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
    ended = [
        each
        for each in newest
        if each["status"] != "running" and (options.all or _time(each["ended"]) > hour_ago)
    ]
    return [*unstored, *active, *ended]


def _is_in(workspace: str, folders: Sequence[str]) -> bool:
    return not folders or any(
        workspace == each or workspace.startswith(f"{each.rstrip('/')}/") for each in folders
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp runs",
        description="List the runs that are going on in all processes of the user, "
        "and those that have ended within the last hour.",
    )
    add = parser.add_argument
    add("--all", action="store_true", help="list runs that have ended earlier, too")
    add(
        "--in", metavar="DIR", dest="in_", help="runs of a project: in DIR (such as .) and below it"
    )
    add("--json", action="store_true", help="print them as JSON")
    return parser
