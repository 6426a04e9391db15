"""The conversion of events to rows, and writing many rows at a time.

A statement for each row would be slow in a thread: between two of them it would wait for its turn
while the event loop is busy. So a batch is a handful of statements.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import astuple

from axe_lsp.hosting.history import steps
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.run_steps import Step

_LONGEST_KEPT = 1_000_000
"""Days, which end before the calendar of Python does."""

_LONGEST_AGO = 700_000
"""The same for the past."""

_MOST_VALUES = 900
"""In one statement. Some builds of SQLite take no more than 999."""


MOST_KEPT = 64_000_000
"""Characters of events of a root run. Of what comes then, the begins and ends of runs are kept."""


IN_PIECES = ("axe/text", "axe/thought")
"""Methods of events that hold a piece of a text."""

_BESIDE_A_PIECE = 300
"""About how many characters the row of a piece has beside its text."""


class Origin(Struct, frozen=True):
    """Where a root run takes place, and for how many days it is remembered."""

    workspace: str
    keep_days: int


class RunRow(NamedTuple):
    """A run as it is found again; the events with the numbers `begin_seq` and `end_seq` tell more.

    `definition` is the digest of the agent's definition, `source` the path of its file.
    """

    run_id: str
    root_run_id: str
    parent_run_id: str | None
    agent: str
    depth: int
    began: str
    status: str
    begin_seq: int
    end_seq: int | None
    workspace: str
    writer: str
    forget_after: str
    definition: str | None = None
    source: str | None = None


class EventRow(NamedTuple):
    """An event; `params` is JSON."""

    root_run_id: str
    seq: int
    run_id: str
    method: str
    params: str


class Batch(Struct):
    """Rows that are written in one transaction.

    `ends` are of runs that began in another process; `superfluous` are numbers of events, by root.
    The trees of the roots that are `completed` need fewer steps from then on. Trees that have `lost` steps can't be
    resumed: a call whose `begun` is missing would be executed again.
    """

    events: dict[tuple[str, int], EventRow] = field(default_factory=dict)
    runs: dict[str, RunRow] = field(default_factory=dict)
    ends: list[tuple[str, int, str]] = field(default_factory=list)
    superfluous: dict[str, list[int]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        """How many characters its events have."""
        events = sum(len(row.params) for row in self.events.values())
        return events + sum(len(step.data) for step in self.steps)

    def begins_and_ends(self) -> Batch:
        """Return the part without which the runs themselves would get lost."""
        events = {key: row for key, row in self.events.items() if row.method == "axe/agent"}
        lost = self.lost | {step.root_run_id for step in self.steps}
        return Batch(events, self.runs, self.ends, lost=lost)


class _Joined(Struct):
    """Pieces of a text that follow each other without another event of the tree between them."""

    first: Notification
    deltas: list[str] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The number of the last of them."""
        number: int = self.first.params["seq"]
        return number + len(self.deltas) - 1

    def goes_on_with(self, event: Notification) -> bool:
        """Return whether an event holds the next piece."""
        own = {name: event.params.get(name) for name in ("delta", "time")}
        follows = {**self.first.params, **own, "seq": self.last + 1}
        return event.method == self.first.method and event.params == follows

    def row(self, clean: Callable[[str], str]) -> EventRow:
        """Return the pieces with the number of the last one and the time of the first; `pieces` are their lengths."""
        root, run_id = self.first.params["rootRunId"], self.first.params["runId"]
        params = {**self.first.params, "seq": self.last, "delta": "".join(self.deltas)}
        if len(self.deltas) > 1:
            params["pieces"] = list(map(len, self.deltas))
        joined = Notification(self.first.method, params)
        return EventRow(root, self.last, run_id, joined.method, clean(joined.text))


def events_in(method: str, params: dict[str, Any]) -> Iterator[Notification]:
    """Yield the events of a row."""
    lengths = params.pop("pieces", ())
    if not lengths or sum(lengths) != len(params["delta"]):  # A secret was made shorter.
        yield Notification(method, params)
        return
    end = 0
    for seq, length in enumerate(lengths, params["seq"] - len(lengths) + 1):
        start, end = end, end + length
        yield Notification(method, {**params, "seq": seq, "delta": params["delta"][start:end]})


class Bookkeeping:
    """The rows of one process about active runs.

    The pieces in which a text arrives are kept until the event comes that holds the whole text; those that come
    together share a row, or the text would take up a hundred times its size. No event holds a
    whole thought, so its pieces become one, in the place of the first, when the turn is over.
    """

    def __init__(self, writer: str, clean: Callable[[str], str]) -> None:
        self._writer = writer
        self._clean = clean
        self._runs: dict[str, RunRow] = {}
        self._pieces: dict[str, list[int]] = {}
        self._thoughts: dict[str, list[Notification]] = {}
        self._joined: _Joined | None = None
        self._sizes: Counter[str] = Counter()
        self._sizes_of_pieces: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self.overfull: list[str] = []
        """Root runs of which something was left out for the first time, so that the user is warned."""

    @property
    def is_idle(self) -> bool:
        """Whether all runs are over."""
        return not self._runs

    def has_under_way(self, run_id: str) -> bool:
        """Return whether a run has begun and not ended."""
        return run_id in self._runs

    def add(self, batch: Batch, event: Notification, origin: Origin) -> None:
        """Put an event into a batch; a piece of a text when its row has ended."""
        if event.method in IN_PIECES:
            self._add_piece(batch, event)
            return
        self.end_row(batch)
        params = event.params
        run_id, root, seq = params["runId"], params["rootRunId"], params["seq"]
        if event.ends_tree and self._left_out[root]:
            event = Notification(event.method, {**params, "notStored": self._left_out[root]})
        text = event.text if _is_clean(event) else self._clean(event.text)
        if event.method == "axe/turn" and params["kind"] == "end":
            self._sizes[root] -= self._sizes_of_pieces.pop(run_id, 0)
        if event.method != "axe/agent" and not self._has_room(root, len(text)):
            return
        batch.events[root, seq] = EventRow(root, seq, run_id, event.method, text)
        match event.method, params.get("kind"):
            case "axe/agent", "begin" | "resume":
                row = _run_row(event, origin, self._writer)
                self._runs[run_id] = batch.runs[run_id] = row
            case "axe/agent", "end":
                self._join_thoughts(batch, root, run_id)
                self._end(batch, run_id, seq, params["status"])
                if run_id == root:
                    self._end_tree(batch, root, params["status"])
            case "axe/turn", "retry":  # What was thought of is thought of anew.
                thoughts = self._thoughts.pop(run_id, ())
                self._drop_pieces(batch, root, (each.params["seq"] for each in thoughts))
            case "axe/turn", "end":
                self._drop_pieces(batch, root, self._pieces.pop(run_id, ()))
                self._join_thoughts(batch, root, run_id)

    def _add_piece(self, batch: Batch, event: Notification) -> None:
        run_id, delta = event.params["runId"], event.params["delta"]
        size = len(delta)
        if self._joined is None or not self._joined.goes_on_with(event):
            self.end_row(batch)
            size += _BESIDE_A_PIECE
        if not self._has_room(event.params["rootRunId"], size):
            return
        if self._joined is None:
            self._joined = _Joined(event)
        self._joined.deltas.append(delta)
        if event.method == "axe/text":
            self._sizes_of_pieces[run_id] += size
        else:
            self._thoughts.setdefault(run_id, []).append(event)

    def end_row(self, batch: Batch) -> None:
        """Put the pieces that have come together into a batch."""
        joined, self._joined = self._joined, None
        if joined is None:
            return
        row = joined.row(self._clean)
        batch.events[row.root_run_id, row.seq] = row
        if row.method == "axe/text":
            self._pieces.setdefault(row.run_id, []).append(row.seq)

    def _has_room(self, root: str, size: int) -> bool:
        self._sizes[root] += size
        if self._sizes[root] <= MOST_KEPT:
            return True
        if not self._left_out[root]:
            self.overfull.append(root)
        self._left_out[root] += 1
        self._sizes[root] -= size
        return False

    def _end(self, batch: Batch, run_id: str, seq: int, status: str) -> None:
        self._pieces.pop(run_id, None)
        self._sizes_of_pieces.pop(run_id, None)
        row = self._runs.pop(run_id, None)
        if row is None:
            batch.ends.append((status, seq, run_id))
        else:
            batch.runs[run_id] = row._replace(status=status, end_seq=seq)

    def _end_tree(self, batch: Batch, root: str, status: str) -> None:
        if status == "completed":
            batch.completed.append(root)
        del self._sizes[root]
        del self._left_out[root]

    def _join_thoughts(self, batch: Batch, root: str, run_id: str) -> None:
        thoughts = self._thoughts.pop(run_id, [])
        if len(thoughts) < 2:
            return
        first = thoughts[0]
        seq, whole = first.params["seq"], "".join(each.params["delta"] for each in thoughts)
        text = self._clean(Notification(first.method, {**first.params, "delta": whole}).text)
        self._drop_pieces(batch, root, (each.params["seq"] for each in thoughts[1:]))
        batch.events[root, seq] = EventRow(root, seq, run_id, first.method, text)

    def _drop_pieces(self, batch: Batch, root: str, pieces: Iterable[int]) -> None:
        for seq in pieces:
            if batch.events.pop((root, seq), None) is None:
                batch.superfluous.setdefault(root, []).append(seq)


def write(connection: sqlite3.Connection, batch: Batch) -> None:
    """Write a batch; inside of a transaction."""
    _insert(
        connection,
        f"INSERT OR REPLACE INTO events ({', '.join(EventRow._fields)}) VALUES",
        list(batch.events.values()),
    )
    _insert(
        connection,
        f"INSERT INTO runs ({', '.join(RunRow._fields)}) VALUES",
        list(batch.runs.values()),
        "ON CONFLICT (run_id) DO UPDATE SET status = excluded.status, end_seq = excluded.end_seq, "
        "writer = excluded.writer",  # Of a resumed run, which has another one.
    )
    _insert(connection, steps.INSERT, list(map(astuple, batch.steps)))
    connection.executemany("UPDATE runs SET status = ?, end_seq = ? WHERE run_id = ?", batch.ends)
    for root, numbers in batch.superfluous.items():
        connection.execute(
            "DELETE FROM events WHERE root_run_id = ? AND seq IN (SELECT value FROM json_each(?))",
            (root, json.dumps(numbers)),
        )
    for root in batch.completed:
        steps.settle(connection, root)
    for root in batch.lost:
        steps.make_final(connection, root)


def _insert(
    connection: sqlite3.Connection, insert: str, rows: Sequence[tuple[Any, ...]], end: str = ""
) -> None:
    if not rows:
        return
    marks = f"({', '.join('?' * len(rows[0]))})"
    most = _MOST_VALUES // len(rows[0])
    for some in (rows[start : start + most] for start in range(0, len(rows), most)):
        statement = f"{insert} {', '.join([marks] * len(some))} {end}"
        connection.execute(statement, [storable(value) for row in some for value in row])


def storable(value: Any) -> Any:
    """Return a value as it is kept and looked for. Names of files need not be UTF-8, and SQLite takes nothing else."""
    return valid_text(value) if isinstance(value, str) else value


def _run_row(event: Notification, origin: Origin, writer: str) -> RunRow:
    params = event.params
    return RunRow(
        run_id=params["runId"],
        root_run_id=params["rootRunId"],
        parent_run_id=params.get("parentRunId"),
        agent=params["agent"],
        depth=params["depth"],
        began=params["time"],
        status="running",
        begin_seq=params["seq"],
        end_seq=None,
        workspace=origin.workspace,
        writer=writer,
        forget_after=""
        if params["depth"]
        else date_in(origin.keep_days),  # A tree goes with its root.
        definition=params.get("definition"),
        source=params.get("source"),
    )


def date_in(days: int) -> str:
    """Return the moment so many days from now, written as the times of events are."""
    days = max(-_LONGEST_AGO, min(days, _LONGEST_KEPT))
    moment = datetime.now(timezone.utc) + timedelta(days=days)
    # Unlike `strftime`, it writes every year with four digits: times are compared as texts.
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")


def _is_clean(event: Notification) -> bool:
    """Return whether an event holds no text, or one that the run has cleaned, as of tools."""
    match event.method, event.params.get("kind"):
        case ("axe/tool", _) | ("axe/turn", "begin"):
            return True
        case "axe/agent", "end":
            return not event.params.get("error")
    return False
