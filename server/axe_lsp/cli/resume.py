"""`axe-lsp resume`: goes on with a run that has ended before it was completed, or with a fork of a run."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.cli.arguments import Parser, add_json, add_permissions, seconds, tokens, turn
from axe_lsp.cli.live_run import LiveRun, run_live
from axe_lsp.cli.run_report import CallDetails, report_failure
from axe_lsp.cli.streams import compact, complain
from axe_lsp.hosting.history.database import HistoryError
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.former_runs import (
    fork_of,
    known_steps,
    order_of,
    taken_over,
)
from axe_lsp.hosting.history.queries import named_or_newest
from axe_lsp.hosting.history.run_claims import require_resumable
from axe_lsp.hosting.protocol import Start
from axe_lsp.hosting.stored_steps import resolver
from axe_lsp.runtime.agent_search import spellings
from axe_lsp.runtime.errors import ConfigError, ExitCode, RunError
from axe_lsp.runtime.files.agent_files import agent_places
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.run_log import Known, Log
from axe_lsp.runtime.runs import ID_LENGTH


def main(arguments: Sequence[str]) -> int:
    """Resume a run, or fork one; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.model and options.from_turn is None:
            raise ConfigError("--model needs --from-turn: a run that is resumed keeps its model")
        start, known = _found(options.run) if options.from_turn is None else _forked(options)
    except (RunError, ValueError) as error:
        complain(error if isinstance(error, RunError) else HistoryError(f"its steps: {error}"))
        return int(ExitCode.CONFIG)
    if options.dry_run:
        told = _outlook(start, known)
        if options.from_turn is not None and start.forked_from is not None:  # It has no id yet.
            told |= {"runId": start.forked_from.run_id, "fromTurn": start.forked_from.turn}
        members = {key: value for key, value in told.items() if value is not None}
        print(compact(members) if options.json else _as_text(told))
        return 0
    calls = CallDetails()
    try:
        return _resume(start, options, calls)
    except RunError as error:
        return report_failure(error, options, calls)


def _resume(start: Start, options: argparse.Namespace, calls: CallDetails) -> int:
    place, options.on = start.workplace, start.on
    request = replace(
        start.request,
        timeout=start.request.timeout if options.timeout is None else options.timeout,
        max_tokens=options.max_tokens or start.request.max_tokens,
    )
    fork = start.forked_from if options.from_turn is not None else None
    live = LiveRun(
        request,
        Path(place.workspace),
        resolver(place, os.environ),
        place.places or agent_places([Path(place.workspace)], os.environ),
        options,
        Path(place.agent_file) if place.agent_file else None,
        run_id="" if fork is not None else start.run_id,
        resumes=fork is None,
        forked_from=fork,
    )
    return run_live(live, calls)


def _found(beginning: str | None) -> tuple[Start, Known]:
    """Return the order of the run to resume, and what is known of it. Raises RunError."""
    with opened_history() as connection:
        _, root = named_or_newest(connection, beginning, spellings("."), "resumable")
        require_resumable(connection, root)
        known = known_steps(connection, root)
    return order_of(known, root), known


def _forked(options: argparse.Namespace) -> tuple[Start, Known]:
    """Return the order of the fork of a run, and what is known of it. Raises RunError."""
    with opened_history() as connection:
        _, root = named_or_newest(connection, options.run, spellings("."), "kept")
    start = fork_of(root, options.from_turn, options.model)
    taken = asyncio.run(taken_over(start, os.environ))
    return start, taken.known


def _as_text(told: dict[str, Json]) -> str:
    """Return the stored work, the calls with unknown results, and the next step, in words."""
    kept = (
        counted(told["answers"], "answer"),
        counted(told["results"], "result"),
        counted(told["finishedAgents"], "finished agent"),
        *([f"${told['cost']:.4f}"] if told.get("cost") else []),
    )
    unknown = (
        f"not known: whether {each['agent']}'s {each['tool']} took effect, {compact(each['arguments'])}"
        for each in told["unknown"]
    )
    coming = (f"next: {each['agent']}, turn {each['turn']}" for each in told["next"])
    head = f"run {told['runId'][:ID_LENGTH]} of {told['agent']}"
    if "fromTurn" in told:
        head = f"fork of {head} at turn {told['fromTurn']}"
    return "\n".join((head, f"kept: {', '.join(kept)}", *unknown, *coming))


def _outlook(start: Start, known: Known) -> dict[str, Json]:
    log, root = Log(known=known), start.run_id
    kinds = [kind for *_, kind in known.steps]
    runs = list(log.unfinished(root))
    return {
        "runId": root,
        "agent": start.request.agent,
        "answers": kinds.count("answer"),
        "results": kinds.count("result"),
        "finishedAgents": log.finished_runs,
        "cost": log.spent(root).used.cost,
        "unknown": [
            {
                "runId": run.ids.run_id,
                "agent": run.ids.agent,
                "tool": call.name,
                "arguments": call.arguments,
            }
            for run in runs
            for call in run.unknown_calls()
        ],
        "next": [
            {"runId": run.ids.run_id, "agent": run.ids.agent, "turn": run.saved.turns + 1}
            for run in runs
        ]
        or [{"runId": root, "agent": start.request.agent, "turn": 1}],
    }


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp resume",
        description="Go on with a run that was interrupted. Answers and results that are known are not requested or executed again.",
    )
    add = parser.add_argument
    add(
        "run",
        metavar="RUN",
        nargs="?",
        help="the id of a run, or the beginning of it (default: the newest of this folder)",
    )
    add(
        "--from-turn",
        metavar="N",
        type=turn,
        help="fork the run instead: a new run that has its turns before turn N, and goes on from there",
    )
    add(
        "--model",
        metavar="PROVIDER/NAME",
        default="",
        help="another model for the fork",
    )
    add(
        "--dry-run", action="store_true", help="show what is kept and what comes next; send nothing"
    )
    add_json(parser, "print the answer and its cost as JSON")
    add(
        "--stream",
        action="store_true",
        help="print text as it streams; for agents with tools, of every turn",
    )
    add(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        help="timeout from now on (default: what is left of the run's timeout)",
    )
    add(
        "--max-tokens",
        metavar="N",
        type=tokens,
        default=0,
        help="token limit of the whole run, including tokens already used (0: its former limit)",
    )
    add_permissions(parser, go_on="axe-lsp resume")
    return parser
