"""What it costs to remember the events of a run, until they are in a file."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from axe_lsp.hosting.history.rows import Origin
from axe_lsp.hosting.history.writer import HistoryWriter
from axe_lsp.hosting.notifications import Notification
from benchmarks.contenders import OURS
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Sample, elapsed_ms, in_rounds, timed

LINES, COMMITS = "lines of a file", "sqlite3, a commit each"

_CHILDREN = 1_000
_WORKPLACE = Origin("/work", 30)

Remember = Callable[[Path, Sequence[Notification]], None]


def measure(rounds: int) -> Table:
    """Return a burst of events, as of many children at once."""
    with TemporaryDirectory() as name:
        os.environ["XDG_STATE_HOME"] = name
        folder = Path(name)
        total = {
            OURS: partial(_timed, _in_the_history, folder),
            LINES: partial(_timed, _in_lines, folder),
            COMMITS: partial(_timed, _in_commits, folder),
        }
        in_the_file = in_rounds(total, rounds, warm_up=1)
        handed_over = in_rounds({OURS: partial(_handed_over, folder)}, rounds, warm_up=1)
    waits: dict[str, Sample | None] = {**in_the_file, **handed_over}
    return Table(
        title="History",
        note=f"The time until the {len(_events()):,} events of an agent are in the history. The agent has "
        f"{_CHILDREN:,} children, which end at the same moment. For comparison, the events are written "
        "as JSON lines to a file, with a flush after each, and to sqlite3, with a transaction for "
        "each. The second row is the time for which the runs wait: they only pass the events to a "
        "thread.",
        unit="ms",
        contenders=(OURS, LINES, COMMITS),
        ratios=[Ratio(OURS, LINES), Ratio(OURS, COMMITS)],
        rows=[Row("all are in the file", {**in_the_file}), Row("runs wait", waits)],
    )


def _timed(remember: Remember, folder: Path) -> float:
    return timed(partial(remember, folder, _events()))


def _in_the_history(_folder: Path, events: Sequence[Notification]) -> None:
    writer = HistoryWriter(_tell)
    for event in events:
        writer.keep_event(event, _WORKPLACE)
    writer.close()


def _handed_over(_folder: Path) -> float:
    writer, events = HistoryWriter(_tell), _events()
    started = time.perf_counter()
    for event in events:
        writer.keep_event(event, _WORKPLACE)
    waited = elapsed_ms(started)
    writer.close()
    return waited


def _tell(_run_id: str, text: str) -> None:
    """A disk that is slow for some seconds is told of, and is in the times anyhow."""
    print(text, file=sys.stderr)


def _in_lines(folder: Path, events: Sequence[Notification]) -> None:
    with (folder / "lines").open("a", encoding="utf-8") as file:
        for event in events:
            file.write(json.dumps([event.method, event.params], ensure_ascii=False) + "\n")
            file.flush()


def _in_commits(folder: Path, events: Sequence[Notification]) -> None:
    with closing(sqlite3.connect(folder / "commits.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE IF NOT EXISTS events (root, seq, method, params)")
        for event in events:
            params = event.params
            row = params["rootRunId"], params["seq"], event.method, json.dumps(params)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)


def _events() -> list[Notification]:
    """Return a tree that nobody has seen before."""
    root = uuid.uuid4().hex
    events: list[Notification] = []

    def tell(method: str, run: str, **params: object) -> None:
        ids = {"runId": run, "rootRunId": root, "agent": "child", "depth": int(run != root)}
        when = {"seq": len(events) + 1, "time": "2026-11-21T10:00:00.000Z"}
        events.append(Notification(method, {**ids, **when, **params}))

    tell("axe/agent", root, kind="begin", task="Go on.", model="openai/m")
    children = [uuid.uuid4().hex for _ in range(_CHILDREN)]
    for child in children:
        tell("axe/tool", root, kind="begin", turn=1, callId=child, name="call_agent", arguments={})
        tell("axe/agent", child, kind="begin", task="Do it.", model="openai/m", parentRunId=root)
        tell("axe/turn", child, kind="begin", turn=1, messages=1, pendingToolCalls=0)
    for child in children:
        tell("axe/turn", child, kind="end", turn=1, text="It is done. " * 10, toolCalls=[])
        tell("axe/agent", child, kind="end", status="completed", durationMs=50)
        tell("axe/tool", root, kind="end", turn=1, callId=child, content="It is done. " * 10)
    tell("axe/agent", root, kind="end", status="completed", durationMs=600)
    return events
