"""Runs that never took place, for a history: their events, and a history that holds them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from axe_lsp.hosting.history.database import open_history, transaction
from axe_lsp.hosting.history.rows import Batch, Bookkeeping, Origin, write
from axe_lsp.hosting.notifications import Notification

HERE = Origin("/work/here", 30)

_END = {"inputTokens": 10, "outputTokens": 5, "turns": 1, "toolCalls": 0, "contentLength": 4}


class Tale:
    """What happens in one tree, told event by event."""

    def __init__(self, root: str, day: str = "2026-05-01") -> None:
        self.events: list[Notification] = []
        self._root = root
        self._day = day
        self._known: dict[str, dict[str, Any]] = {}

    def begin(self, agent: str, run: str = "", parent: str = "", **params: Any) -> Tale:
        """Begin a run; without names it is the root."""
        run = run or self._root
        ids: dict[str, Any] = {"runId": run, "rootRunId": self._root, "agent": agent, "depth": 0}
        if parent:
            ids |= {"parentRunId": parent, "depth": self._known[parent]["depth"] + 1}
            params["parentAgent"] = self._known[parent]["agent"]
        self._known[run] = ids
        return self.tell(
            "axe/agent", run, kind="begin", **{"task": "go", "model": "ollama/m", **params}
        )

    def end(self, run: str = "", status: str = "completed", **params: Any) -> Tale:
        """End a run."""
        told = {**_END, "durationMs": 1500, **params}
        return self.tell("axe/agent", run, kind="end", status=status, **told)

    def text(self, delta: str, run: str = "") -> Tale:
        """Return a piece of an answer."""
        return self.tell("axe/text", run, turn=1, delta=delta)

    def thought(self, delta: str, run: str = "") -> Tale:
        """Return a piece of a thought."""
        return self.tell("axe/thought", run, turn=1, delta=delta)

    def turn(
        self, text: str, run: str = "", calls: Sequence[dict[str, Any]] = (), **more: Any
    ) -> Tale:
        """Return an answer."""
        params = {"stopReason": "stop", "text": text, "toolCalls": list(calls)}
        tokens = {"inputTokens": 10, "outputTokens": 5, "durationMs": 900}
        return self.tell("axe/turn", run, kind="end", turn=1, **params, **tokens, **more)

    def tell(self, method: str, run: str = "", **params: Any) -> Tale:
        """Anything else."""
        number = len(self.events) + 1
        time = f"{self._day}T10:00:{number:02}.000Z"
        ids = self._known[run or self._root]
        self.events.append(Notification(method, {**ids, "seq": number, "time": time, **params}))
        return self


def put(path: Path, *tales: Tale, origin: Origin = HERE, writer: str = "somebody") -> None:
    """Write tales into the history at `path`, as one process that is gone afterwards."""
    books = Bookkeeping(writer, str)
    with closing(open_history(path)) as connection:
        for tale in tales:
            batch = Batch()
            for event in tale.events:
                books.add(batch, event, origin)
            books.end_row(batch)
            with transaction(connection):
                write(connection, batch)


@contextmanager
def history(path: Path, *tales: Tale) -> Iterator[sqlite3.Connection]:
    """Provide a history that holds these tales."""
    put(path, *tales)
    with closing(open_history(path)) as connection:
        yield connection
