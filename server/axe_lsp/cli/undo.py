"""`axe-lsp undo`: puts back the files that the tools of a run have changed."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import agrees, complain
from axe_lsp.hosting.history.database import HistoryError
from axe_lsp.hosting.history.dead_runs import sign_of_undo
from axe_lsp.hosting.history.former_runs import RunChanges, undoable
from axe_lsp.runtime.agent_search import spellings
from axe_lsp.runtime.errors import ExitCode, RunError
from axe_lsp.runtime.plain_text import shown_path, visible
from axe_lsp.runtime.resuming.saved_files import FileUndo, plan_undo, undo
from axe_lsp.runtime.runs import ID_LENGTH

LEFT = 1
"""Exit code when a file was left as it is."""


def main(arguments: Sequence[str]) -> int:
    """Undo the changes of a run; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _undo(undoable(options.run, spellings(".")), options)
    except (RunError, ValueError) as error:
        complain(error if isinstance(error, RunError) else HistoryError(f"its steps: {error}"))
        return int(ExitCode.CONFIG)


def _undo(run: RunChanges, options: argparse.Namespace) -> int:
    turns = None if options.turn is None else range(options.turn, options.turn + 1)
    plans = plan_undo(run.known, run.selects(turns))
    if options.file:
        chosen = {Path(each).resolve() for each in options.file}
        plans = [each for each in plans if each.path in chosen]
    if not plans:
        part = f"turn {options.turn} of " if turns is not None else ""
        named = "of these files " if options.file else ""
        print(
            f"No file {named}is different from what it was before {part}run {run.run_id[:ID_LENGTH]}."
        )
    for each in plans:
        print(_shown(each))
    if run.has_commands:
        print("The effects of commands are not known, and are not undone.")
    wanted = [each for each in plans if not each.reason]
    if not wanted or options.dry_run:
        return LEFT if len(wanted) < len(plans) else 0
    question = f"Put back {counted(len(wanted), 'file')}"
    if not options.yes and not agrees(question, "--yes puts the files back without a question"):
        return LEFT
    with sign_of_undo(run.root):
        done = list(undo(wanted))
    failed = [each for each in done if each.reason]
    for each in failed:
        print(f"left {_path(each)}: {each.reason}")
    print(f"Put back: {counted(len(done) - len(failed), 'file')}.")
    return LEFT if failed or len(wanted) < len(plans) else 0


def _shown(plan: FileUndo) -> str:
    if plan.reason:
        return f"left {_path(plan)}: {plan.reason}"
    if not plan.is_comparable:
        return f"put back {_path(plan)} (too large to compare)"
    now, before = (text.splitlines() for text in plan.shown)
    path = _path(plan)
    after = path if plan.before is not None else "/dev/null"
    lines = difflib.unified_diff(now, before, path, after, lineterm="")
    return "\n".join(map(visible, lines)) or f"put back {path}"


def _path(plan: FileUndo) -> str:
    return visible(os.path.relpath(shown_path(plan.path)))


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp undo",
        description="Put back the files that write_file and edit_file have changed in a run. A file that has "
        "changed since is left. The effects of commands are not undone.",
    )
    add = parser.add_argument
    add(
        "run",
        metavar="RUN",
        nargs="?",
        help="the id of a run, or its beginning (default: the newest of this folder)",
    )
    add("--turn", type=int, metavar="N", help="undo only what turn N has changed")
    add(
        "--file",
        action="append",
        metavar="PATH",
        help="put back only this file; may be repeated",
    )
    add("--dry-run", action="store_true", help="show the changes, and change nothing")
    add("--yes", action="store_true", help="put the files back without asking")
    return parser
