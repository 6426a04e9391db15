"""`axe-lsp agents stats`: what the runs of the agents of a workspace were like."""

from __future__ import annotations

import argparse
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from axe_lsp.cli.text_width import shown_cells
from axe_lsp.daemon.run_statistics import agent_statistics, workspace_runs
from axe_lsp.features.run_log import money
from axe_lsp.hosting.agent_runs.index import RunIndex, index_file, opened_index, remove_index
from axe_lsp.hosting.agent_runs.runs import ReadLog
from axe_lsp.hosting.agent_runs.settings import MOST_DAYS, run_log_settings
from axe_lsp.hosting.agent_runs.sources import SOURCES, TRIED, read_source
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.files.workspace_folders import workspace_above
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import shown_path, visible

_DAY = 86_400


def stats(options: argparse.Namespace) -> int:
    """Print the statistics as a table or as JSON."""
    folder = options.folder if options.folder is not None else working_folder()
    if not Path(folder).is_dir():
        raise ConfigError(f"no such folder: {folder}")
    root = workspace_above(Path(os.path.normpath(Path(folder).absolute())), os.environ)
    settings = run_log_settings(os.environ)
    days = min(settings.days if options.days is None else options.days, MOST_DAYS)
    chosen = tuple(dict.fromkeys(options.source)) or settings.sources
    sources = SOURCES if "all" in chosen else chosen
    path = index_file(os.environ)
    if options.rebuild:
        remove_index(path)
    since = time.time() - days * _DAY
    # What the settings do not allow is read for this output alone.
    lasting = [each for each in sources if each in settings.sources]
    passing = [each for each in sources if each not in settings.sources]
    with opened_index(path if lasting else None) as index, opened_index(None) as memory:
        read = {each: _log(each, since, index) for each in lasting}
        read.update((each, _log(each, since, memory)) for each in passing)
        logs = [read[each] for each in sources]
        report = agent_statistics(workspace_runs(root, logs, index, os.environ), options.agents)
    if options.json:
        print(msgspec.json.format(msgspec.json.encode({"days": days, **report}), indent=2).decode())
    else:
        print("\n".join(_text(report, logs)))
    return 0


def _log(program: str, since: float, index: RunIndex) -> ReadLog:
    log = ReadLog(program)
    try:
        read_source(log, os.environ, since, index)
    except sqlite3.Error:  # Another process writes the index for long, or its disk is full.
        log = ReadLog(program)
        with opened_index(None) as memory:
            read_source(log, os.environ, since, memory)
    return log


# -- the table


def _text(report: Mapping[str, Json], logs: Iterable[ReadLog]) -> Iterator[str]:
    rows = report["agents"]
    assert isinstance(rows, list)
    table = [
        (
            "agent",
            "program",
            "runs",
            "failed",
            "cost",
            "median s",
            "tokens in + out",
            "last",
            "file",
        ),
        *(_row(row) for row in rows if isinstance(row, dict)),
    ]
    widths = [max(shown_cells(row[column]) for row in table) for column in range(len(table[0]))]
    if len(table) > 1:
        for row in table:
            yield "  ".join(
                f"{cell}{' ' * (width - shown_cells(cell))}"
                for cell, width in zip(row, widths, strict=True)
            ).rstrip()
    else:
        yield "No agents and no runs in this workspace."
    for row in rows:
        if isinstance(row, dict):
            yield from _changes(row)
    unknown = report["unknownAgents"]
    assert isinstance(unknown, list)
    for each in unknown:
        assert isinstance(each, dict)
        calls = f"{each['calls']} call{'' if each['calls'] == 1 else 's'}"
        yield f"unknown agent {visible(str(each['agent']))} ({each['program']}): {calls}"
    for log in logs:
        for reason, count in log.skipped.items():
            yield f"{log.program}: {log.files:,} files, {count:,} skipped ({reason})"
        tried = TRIED.get(log.program, log.version)
        if log.version and log.version != tried:
            yield f"{log.program}: logs of version {log.version}; axe-lsp was tried with {tried}, so numbers may be missing"


_UNITS: Mapping[str, Callable[[float], str]] = {
    "failures": lambda share: f"{100 * share:.0f} % failed",
    "seconds": lambda seconds: f"median {seconds:.0f} s",
    "outputTokens": lambda tokens: f"median {tokens:,.0f} tokens",
    "cost": lambda dollars: f"median ${dollars:.4f}",
}


def _changes(row: Mapping[str, Json]) -> Iterator[str]:
    """Yield a sentence for each change since the last edit, with both numbers and both numbers of runs."""
    versions, found = row["versions"], row["changes"]
    assert isinstance(found, list)
    for each in found:
        assert isinstance(each, dict)
        assert isinstance(versions, list)
        assert isinstance(versions[0], dict)
        day = str(versions[0]["since"])[:10]
        name = f"{visible(str(row['agent']))} ({row['program']})"
        unit = _UNITS.get(str(each["measure"]))
        before, after = each["before"], each["after"]
        if (
            unit is None
            or not isinstance(before, (int, float))
            or not isinstance(after, (int, float))
        ):
            yield f"{name}: {each['text']} since the edit of {day}"
            continue
        yield (
            f"{name}: since the edit of {day} ({each['runs']} runs): {each['text']}, "
            f"{unit(after)}, before {unit(before).removeprefix('median ')} ({each['runsBefore']} runs)"
        )


def _row(row: Mapping[str, Json]) -> tuple[str, ...]:
    cost, milliseconds, last = row["cost"], row["medianMs"], row["last"]
    return (
        visible(str(row["agent"])),
        str(row["program"]),
        str(row["runs"]),
        str(row["failed"]),
        money(cost, is_part=row["costOf"] != row["runs"]) if isinstance(cost, float) else "",
        f"{milliseconds / 1000:.1f}" if isinstance(milliseconds, (int, float)) else "",
        f"{row['inputTokens']:,} + {row['outputTokens']:,}" if row["runs"] else "",
        str(last)[:16].replace("T", " ") if last else "",
        visible(shown_path(str(row["file"]))) if row["file"] else "",
    )
