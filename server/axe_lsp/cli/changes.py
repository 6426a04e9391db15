"""`axe-lsp changes`: lists the files that the tools of a run have changed."""

from __future__ import annotations

import argparse
import difflib
import json
import os
from collections.abc import Sequence

from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import complain
from axe_lsp.hosting.history.database import HistoryError
from axe_lsp.hosting.history.former_runs import RunChanges, run_changes
from axe_lsp.runtime.agent_search import spellings
from axe_lsp.runtime.errors import ExitCode, RunError
from axe_lsp.runtime.plain_text import shown_path, visible
from axe_lsp.runtime.resuming.file_history import ChangedFile, changed_files, file_histories
from axe_lsp.runtime.resuming.saved_files import plan_undo
from axe_lsp.runtime.runs import ID_LENGTH


def main(arguments: Sequence[str]) -> int:
    """List the changed files of a run; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        _list(run_changes(options.run, spellings(".")), options)
    except (RunError, ValueError) as error:
        complain(error if isinstance(error, RunError) else HistoryError(f"its steps: {error}"))
        return int(ExitCode.CONFIG)
    return 0


def _list(run: RunChanges, options: argparse.Namespace) -> None:
    turns = None if options.turn is None else range(options.turn, options.turn + 1)
    selects = run.selects(turns)
    files = changed_files(file_histories(run.known.steps), selects)
    reasons = {str(each.path): each.reason for each in plan_undo(run.known, selects) if each.reason}
    if options.json:
        print(json.dumps(_as_json(run, files, reasons), indent=2))
        return
    for file in files:
        reason = reasons.get(str(file.path), "")
        remark = "(put back)" if file.is_undone else f"(undo leaves it: {reason})" if reason else ""
        print(" ".join(filter(None, [_line(file), remark])))
    if options.diff:
        print("\n".join(line for file in files for line in _diff(file)))
    print(_summary(run, files))


def _line(file: ChangedFile) -> str:
    letter = {"added": "A", "deleted": "D", "modified": "M"}[file.kind]
    counts = file.counts
    size = "lines not known" if counts is None else f"+{counts.added} -{counts.removed}"
    return f"{letter} {_path(file)} {size}"


def _summary(run: RunChanges, files: Sequence[ChangedFile]) -> str:
    counts = [each for file in files if (each := file.counts) is not None]
    added, removed = sum(each.added for each in counts), sum(each.removed for each in counts)
    size = f" +{added} -{removed}" if files else ""
    state = ", which has not ended" if run.is_running else ""
    text = f"{counted(len(files), 'file')}{size} by run {run.run_id[:ID_LENGTH]}{state}."
    return f"{text} Changes by commands are not known." if run.has_commands else text


def _diff(file: ChangedFile) -> list[str]:
    if not file.is_comparable:
        return [f"{_path(file)}: no differences to show: it is too large, or a state is not known"]
    before, after = file.texts
    names = (
        "/dev/null" if before is None else _path(file),
        "/dev/null" if after is None else _path(file),
    )
    lines = difflib.unified_diff(
        (before or "").splitlines(), (after or "").splitlines(), *names, lineterm=""
    )
    return [visible(line) for line in lines]


def _as_json(
    run: RunChanges, files: Sequence[ChangedFile], reasons: dict[str, str]
) -> dict[str, object]:
    shown: list[dict[str, object]] = []
    for file in files:
        counts = file.counts
        shown.append(
            {
                "path": str(file.path),
                "kind": file.kind,
                "added": None if counts is None else counts.added,
                "removed": None if counts is None else counts.removed,
                "is_undone": file.is_undone,
            }
        )
    left = [{"path": path, "reason": reason} for path, reason in reasons.items()]
    return {
        "run_id": run.run_id,
        "files": shown,
        "left": left,
        "has_commands": run.has_commands,
        "is_running": run.is_running,
    }


def _path(file: ChangedFile) -> str:
    return visible(os.path.relpath(shown_path(file.path)))


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp changes",
        description="List the files that write_file and edit_file have changed in a run and its sub-agents, also while "
        "it is at work. The effects of commands are not known. `axe-lsp undo` puts the files back.",
    )
    add = parser.add_argument
    add(
        "run",
        metavar="RUN",
        nargs="?",
        help="the id of a run, or its beginning (default: the newest of this folder)",
    )
    add("--turn", type=int, metavar="N", help="only what turn N has changed")
    add("--diff", action="store_true", help="print the differences, too")
    add("--json", action="store_true", help="print JSON")
    return parser
