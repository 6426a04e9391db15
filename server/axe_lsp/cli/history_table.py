"""Past runs: a table of them; a run and its fork in two columns."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import zip_longest
from types import MappingProxyType

from axe_lsp.agentfile.text.amounts import counted, duration
from axe_lsp.cli.streams import columns_of, is_coloured
from axe_lsp.cli.text_width import cells, cut, one_line, padded
from axe_lsp.hosting.history.tree_text import Drawing, local_time
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.runs import ID_LENGTH

_AMOUNTS = ("TIME", "TOKENS", "COST")
_HEADER = ("RUN", "BEGAN", "STATUS", *_AMOUNTS, "PROCESS", "PROJECT", "AGENT", "TASK")

_FIRST_TO_GO = (_TOKENS, _PROJECT, _BEGAN, _TIME, _COST, _PROCESS) = (4, 7, 1, 3, 5, 6)
"""Columns that a narrow terminal leaves out, until `_TASK_ROOM` is left for the task."""

_TASK_ROOM = 20

_LONGEST_PROJECT = 16

_NO_COST = MappingProxyType(
    {"runs": 0, "inputTokens": 0, "outputTokens": 0, "cost": 0.0, "unpriced": 0}
)

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


def print_table(runs: Sequence[dict[str, Json]], *, has_processes: bool = False) -> None:
    """Print a line for each run: on a terminal with a heading, and no wider than that is.

    `has_processes` adds the process that executes a run that is going on.
    """
    rows = [_row(run) for run in runs]
    statuses = [row[2] for row in rows]
    is_terminal = sys.stdout.isatty()
    out = set[int]() if has_processes else {_PROCESS}
    if is_terminal:
        rows = _fitting(rows, columns_of(sys.stdout), out)
        statuses.insert(0, _HEADER[2])
    else:
        rows = [_without(row, out) for row in rows]
    widths = _widths(rows)
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
        str(run.get("pid", "")),
        cut(one_line(os.path.basename(run.get("workspace") or "")), _LONGEST_PROJECT),  # noqa: PTH119
        one_line(run["agent"]),
        one_line(run.get("task", "")),
    )


def _short(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row with the time without seconds, and without the year if it is this one."""
    began = row[_BEGAN]
    is_of_this_year = began[:4] == f"{datetime.now().astimezone():%Y}"
    return (*row[:_BEGAN], began[5:16] if is_of_this_year else began[:10], *row[_BEGAN + 1 :])


def _fitting(
    rows: Sequence[tuple[str, ...]], columns: int, without: Collection[int]
) -> list[tuple[str, ...]]:
    """Add a heading, and shorten times and leave out columns until the task has room.

    A project that all runs have goes at once, as do processes that none has, and the columns of `without`.
    """
    out = set(without)
    if len({row[_PROJECT] for row in rows}) < 2:
        out.add(_PROJECT)
    if not any(row[_PROCESS] for row in rows):
        out.add(_PROCESS)
    kept = [_without(row, out) for row in (_HEADER, *rows)]
    for column in (None, *_FIRST_TO_GO):
        if sum(_widths(kept)) + 2 * (len(kept[0]) - 1) + _TASK_ROOM <= columns:
            break
        out |= set() if column is None else {column}
        kept = [_without(row, out) for row in (_HEADER, *map(_short, rows))]
    return kept


def _without(row: tuple[str, ...], columns: Collection[int]) -> tuple[str, ...]:
    return tuple(cell for number, cell in enumerate(row) if number not in columns)


def _widths(rows: Sequence[tuple[str, ...]]) -> list[int]:
    """Return the widths of all columns but the last."""
    return [max(cells(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]


def costs_by_agent(runs: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Return the sums of runs, in all and by agent, the dearest first. `unpriced` counts runs whose cost is not known."""
    sums: dict[str, dict[str, Json]] = {}
    for run in runs:
        used = run.get("tree") or run
        for each in (
            sums.setdefault("", dict(_NO_COST)),
            sums.setdefault(run["agent"], dict(_NO_COST)),
        ):
            each["runs"] += 1
            each["inputTokens"] += used.get("inputTokens", 0)
            each["outputTokens"] += used.get("outputTokens", 0)
            each["cost"] += used.get("cost") or 0
            each["unpriced"] += used.get("cost") is None
    total = sums.pop("", dict(_NO_COST))
    order = sorted(sums, key=lambda agent: (-sums[agent]["cost"], agent))
    return {**total, "agents": {agent: sums[agent] for agent in order}}


def print_costs(sums: dict[str, Json], since: str) -> None:
    """Print the sums of `costs_by_agent` as a table whose last line is the total."""
    agents: dict[str, Json] = sums["agents"]
    rows = [(*_cost_cells(each), one_line(name)) for name, each in agents.items()]
    rows.append((*_cost_cells(sums), f"in all since {since}"))
    widths = _widths(rows)
    for row in rows:
        print(
            "  ".join(
                [*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]
            )
        )
    if sums["unpriced"]:
        print(
            f"The cost of {counted(sums['unpriced'], 'run')} is not known: no price of the model, or not ended."
        )


def _cost_cells(sums: dict[str, Json]) -> tuple[str, ...]:
    tokens = f"{sums['inputTokens']:,} + {sums['outputTokens']:,} tokens"
    return f"${sums['cost']:.4f}", counted(sums["runs"], "run"), tokens


def _status(run: dict[str, Json]) -> str:
    """Return how it ended, and for which reason if there is a word for it: `killed: budget (tokens)`; or that it waits."""
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
    """Return the error in red, where there are colours."""
    if status.partition(":")[0] not in _BAD or not is_coloured(sys.stdout, os.environ):
        return line
    return line.replace(status, f"{_RED}{status}{_PLAIN}", 1)


def side_by_side(former: Drawing, fork: Drawing, turn: int) -> str:
    """Return both trees, in two columns where the terminal is wide; the first turn that differs is on one line."""
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
