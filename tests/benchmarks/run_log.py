"""The time until what the runs of agents were like is known: from logs, from the index, and if nothing is new."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from axe_lsp.hosting.history.database import history_file, open_history, transaction
from axe_lsp.hosting.history.rows import Batch, EventRow, RunRow, write
from benchmarks.contenders import OURS, PYTHON, scratch_folder
from benchmarks.results import Row, Table
from benchmarks.timing import Sample, elapsed_ms

_LOG_BYTES = 500_000
"""Bytes of a log of Claude Code, which has 50 turns."""

_TURNS = 50
_CALLS = 6
_SECONDS_APART = 200


@dataclass
class _Times:
    """Milliseconds of one round: until the first numbers, until all are there, from the index, and with nothing new."""

    first: float
    complete: float
    stored: float
    again: float


def measure(runs: int, megabytes: int, rounds: int) -> Table:
    """Return the times for `runs` in the history, and logs of Claude Code of so many `megabytes`."""
    with scratch_folder() as folder:
        home, project = folder / "home", folder / "project"
        environment = {**os.environ, "HOME": str(home)}
        for name in [each for each in environment if each.startswith("XDG_")]:
            del environment[name]
        environment.pop("CLAUDE_CONFIG_DIR", None)
        _write_agents(project)
        _write_history(history_file({"HOME": str(home)}), project, runs)
        _write_logs(home, project, megabytes * 1_000_000 // _LOG_BYTES)
        results = [_round(home, project, environment) for _ in range(rounds)]
    return Table(
        title="Runs of agents",
        note=f"The time until the process of the run log reports the runs of a workspace: {runs:,} in the history, and "
        f"{megabytes:,} MB of logs of Claude Code. The first numbers come while the index is made; the wanted times are "
        "3 s for them, 30 s for the whole index, and 1 s from the index of a former process. The process has a low "
        "priority, so that its times grow with the load of the machine.",
        unit="ms",
        contenders=[OURS],
        ratios=[],
        rows=[
            Row(what, {OURS: Sample(tuple(getattr(each, name) for each in results))})
            for what, name in (
                ("first numbers", "first"),
                ("whole index", "complete"),
                ("from the index", "stored"),
                ("nothing is new", "again"),
            )
        ],
    )


def _round(home: Path, project: Path, environment: dict[str, str]) -> _Times:
    (home / ".cache" / "axe" / "run-log.db").unlink(missing_ok=True)
    first = _reports(project, environment)
    second = _reports(project, environment)
    return _Times(first[0][0], first[0][-1], second[0][0], second[1][-1])


def _reports(project: Path, environment: dict[str, str]) -> list[list[float]]:
    """Return the milliseconds until each report of a process, for two orders."""
    order = {"roots": [str(project)], "sources": ["axe", "claude"], "days": 30}
    started = time.perf_counter()
    times: list[list[float]] = []
    with subprocess.Popen(
        [PYTHON, "-m", "axe_lsp.daemon.run_log_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            times.append([])
            for line in process.stdout:
                times[-1].append(elapsed_ms(started))
                if json.loads(line).get("is_last"):
                    break
            started = time.perf_counter()
        process.stdin.close()
    return times


def _write_agents(project: Path) -> None:
    for path, text in (
        ("axe/agents/a.toml", 'name = "a"\nmodel = "anthropic/m"\ntools = ["read_file"]\n'),
        (".claude/agents/reader.md", "---\nname: reader\ndescription: d\n---\nx\n"),
    ):
        (project / path).parent.mkdir(parents=True)
        (project / path).write_text(text)


def _write_history(path: Path, project: Path, runs: int) -> None:
    with closing(open_history(path)) as connection, transaction(connection):
        for number in range(runs):
            write(connection, _run(number, project))


def _run(number: int, project: Path) -> Batch:
    run = {"runId": f"r{number}", "rootRunId": f"r{number}", "agent": "a", "depth": 0}
    call = {"kind": "end", "name": "read_file", "isError": False, "content": "y" * 2_000}
    end = {"kind": "end", "status": "completed", "durationMs": 1_000 + number, "turns": 3}
    events = [
        ("axe/agent", {"kind": "begin", "model": "anthropic/m"}),
        *[("axe/tool", call)] * _CALLS,
        ("axe/agent", end),
    ]
    rows = [
        EventRow(run["rootRunId"], seq, run["runId"], method, json.dumps({**run, **params}))
        for seq, (method, params) in enumerate(events, 1)
    ]
    batch = Batch(events={(row.root_run_id, row.seq): row for row in rows})
    began = f"{_moment(number):%Y-%m-%dT%H:%M:%S}.000Z"
    batch.runs[run["runId"]] = RunRow(
        run["runId"],
        run["rootRunId"],
        None,
        "a",
        0,
        began,
        "completed",
        1,
        len(rows),
        str(project),
        "",
        "9999",
    )
    return batch


def _write_logs(home: Path, project: Path, count: int) -> None:
    for number in range(count):
        folder = home / ".claude" / "projects" / "p" / f"s{number}" / "subagents"
        folder.mkdir(parents=True)
        time_of_run = f"{_moment(number):%Y-%m-%dT%H:%M:%S}.000Z"
        lines = (_lines_of_turn(turn, project, time_of_run) for turn in range(_TURNS))
        (folder / f"agent-a{number}.jsonl").write_text("".join(lines))
        (folder / f"agent-a{number}.meta.json").write_text('{"agentType": "reader"}')


def _lines_of_turn(turn: int, project: Path, moment: str) -> str:
    common = {"timestamp": moment, "cwd": str(project), "isSidechain": True}
    size = _LOG_BYTES // _TURNS // 2
    call = {"type": "tool_use", "id": f"x{turn}", "name": "Read", "input": {"q": "z" * size}}
    result = {"type": "tool_result", "tool_use_id": f"x{turn}", "content": "w" * size}
    usage = {"input_tokens": 5, "output_tokens": 6}
    answer = {"id": f"m{turn}", "role": "assistant", "content": [call], "usage": usage}
    return (
        json.dumps({"type": "assistant", **common, "message": answer})
        + "\n"
        + json.dumps({"type": "user", **common, "message": {"role": "user", "content": [result]}})
        + "\n"
    )


def _moment(number: int) -> datetime:
    return datetime.now(timezone.utc) - timedelta(seconds=number * _SECONDS_APART)
