"""Past runs: a table of them; a run and its fork in two columns."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest

from axe_lsp.agentfile.text.amounts import duration
from axe_lsp.cli.streams import columns_of, is_coloured
from axe_lsp.cli.text_width import cells, cut, one_line, padded
from axe_lsp.hosting.history.tree_text import Drawing, local_time
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.runs import ID_LENGTH

_HEADER = ("RUN", "BEGAN", "STATUS", "TIME", "TOKENS", "COST", "AGENT", "TASK")

_NARROW = 120
"""Columns of a terminal that is too narrow for tokens, cost, years and seconds."""

_NARROWEST = 70
"""Columns of one that is too narrow for when a run began, too, and how long it took."""

_TWO_TREES = 100
"""Columns of a terminal that has room for two trees. In a narrower one, and in a file, they stand one below the
other, and nothing is cut off."""

_BETWEEN = " │ "

_RED = "\x1b[31m"
_PLAIN = "\x1b[0m"
_BAD = ("failed", "timeout", "killed")

_RESUMABLE = "\u21bb"
"""The mark of a run that `axe-lsp resume` can go on with."""

_UNSAID = ("final", "host", "server")
"""Reasons for programs, which tell a person no more than the status."""

_LIMIT = re.compile(r" of \d+ (tokens|turns|tool calls|seconds)")
"""The limit that a BudgetError names."""


def print_table(runs: Sequence[dict[str, Json]]) -> None:
    """Print a line for each run: on a terminal with a heading, and no wider than that is."""
    rows = [_row(run) for run in runs]
    is_terminal = sys.stdout.isatty()
    if is_terminal:
        rows.insert(0, _HEADER)
    statuses = [row[2] for row in rows]
    if is_terminal:
        if columns_of(sys.stdout) < _NARROW:
            rows = list(map(_narrow, rows))
        if columns_of(sys.stdout) < _NARROWEST:
            rows = [(run, status, agent, task) for run, _, status, _, agent, task in rows]
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row, status in zip(rows, statuses, strict=True):
        line = "  ".join([*map(padded, row, widths), row[-1]]).rstrip()
        line = cut(line, columns_of(sys.stdout)) if is_terminal else line
        print(_coloured(line, status))


def _row(run: dict[str, Json]) -> tuple[str, ...]:
    has_ended = "durationMs" in run
    used = run.get("tree") or run  # With what the agents used that it called.
    cost = used.get("cost")
    return (
        run["runId"][:ID_LENGTH],
        local_time(run["began"]),
        _status(run),
        duration(run["durationMs"]) if has_ended else "",
        f"{used['inputTokens']:,} + {used['outputTokens']:,}" if has_ended else "",
        f"${cost:.4f}" if cost else "",
        one_line(run["agent"]),
        one_line(run.get("task", "")),
    )


def _narrow(row: tuple[str, ...]) -> tuple[str, ...]:
    """The columns for a narrow terminal, chosen so that agent and task are visible."""
    run, began, status, time, _, _, agent, task = row
    if began != _HEADER[1]:
        is_of_this_year = began[:4] == f"{datetime.now().astimezone():%Y}"
        began = began[5:16] if is_of_this_year else began[:10]
    return run, began, status, time, agent, task


def _status(run: dict[str, Json]) -> str:
    """How it ended, and for which reason if there is a word for it: `killed: budget (tokens)`; or that it waits."""
    mark = f" {_RESUMABLE}" if run.get("resumable") else ""
    return f"{_ending(run)}{mark}"


def _ending(run: dict[str, Json]) -> str:
    if run.get("waits"):
        return f"{run['status']}: waiting"
    reason = run.get("reason")
    if not reason or reason in _UNSAID:
        return str(run["status"])
    limit = _LIMIT.search(run.get("error") or "")
    return f"{run['status']}: {reason}" + (f" ({limit[1]})" if limit else "")


def _coloured(line: str, status: str) -> str:
    """The error in red, where there are colours."""
    if status.partition(":")[0] not in _BAD or not is_coloured(sys.stdout, os.environ):
        return line
    return line.replace(status, f"{_RED}{status}{_PLAIN}", 1)


def side_by_side(former: Drawing, fork: Drawing, turn: int) -> str:
    """Both trees; in two columns, the first turn that they do not share is on the same line."""
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or width < _TWO_TREES:
        return f"{former.text}\n{fork.text}"
    room = (width - len(_BETWEEN)) // 2
    left, right = former.lines, list(fork.lines)
    begin, same = fork.turns.get(turn), former.turns.get(turn)
    if begin is not None and same is not None:
        right[begin:begin] = [""] * (same - begin)
    lines = zip_longest(
        [former.title, "", *left, "", former.total],
        [fork.title, "", *right, "", fork.total],
        fillvalue="",
    )
    columns = (
        f"{padded(cut(visible(one), room), room)}{_BETWEEN}{cut(visible(other), room)}".rstrip()
        for one, other in lines
    )
    answers = (
        f"\nAnswer of {each.title.split()[1]}:\n{each.answer}"
        for each in (former, fork)
        if each.answer
    )
    return "\n".join((*columns, *answers))
