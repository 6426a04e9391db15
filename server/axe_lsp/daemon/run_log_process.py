"""The process that keeps the index of runs: it reads an order per line, and writes what the runs were like.

It has a low priority, and ends when its input does or nobody has asked for a while.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from axe_lsp.daemon.run_log_facts import Window, facts_of_files
from axe_lsp.daemon.run_log_messages import RunLogOrder, RunLogReport
from axe_lsp.daemon.run_statistics import agent_statistics, workspace_runs
from axe_lsp.hosting.agent_runs.index import RunIndex, index_file, opened_index
from axe_lsp.hosting.agent_runs.runs import ReadLog
from axe_lsp.hosting.agent_runs.settings import unanswered
from axe_lsp.hosting.agent_runs.sources import log_folder, read_source
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import shown_path
from axe_lsp.workspace.run_facts import RunFacts

_LASTING = 60.0
"""Seconds without an order after which the process ends."""

_FIRST_NUMBERS, _NEXT_NUMBERS = 1.0, 5.0
"""Seconds until what was counted so far is told while the first index is made."""

_DAY = 86_400


Write = Callable[[RunLogReport], None]


class RunLogPass:
    """One pass over the logs. What the last one has found is told first, if nothing was told before."""

    def __init__(self, order: RunLogOrder, write: Write, *, is_first: bool) -> None:
        self._order, self._write, self._is_first = order, write, is_first
        self._logs: list[ReadLog] = []
        self._index: RunIndex | None = None
        self._due: float | None = None

    def run(self) -> None:
        """Read what is new, and report."""
        order, since = self._order, time.time() - self._order.days * _DAY
        path = index_file(os.environ)
        if not order.sources and not path.exists():
            self._write(RunLogReport(is_last=True))
            return
        with opened_index(path, self._tick) as self._index:
            self._index.forget_all_but(order.sources)
            if not all(self._index.has_pass(each, since) for each in order.sources):
                self._due = time.monotonic() + _FIRST_NUMBERS
            elif self._is_first and order.sources:
                stored = (self._index.stored(each, since) for each in order.sources)
                self._report([log for log in stored if log is not None])
            for program in order.sources:
                log = ReadLog(program)
                self._logs.append(log)
                with suppress(RunError):  # The history can't be read; others can.
                    read_source(log, os.environ, since, self._index)
            self._due = None
            self._report(self._logs, is_last=True)

    def _tick(self) -> None:
        if self._due is not None and time.monotonic() >= self._due:
            self._report(self._logs, is_partial=True)
            self._due = time.monotonic() + _NEXT_NUMBERS

    def _report(
        self, logs: Sequence[ReadLog], *, is_partial: bool = False, is_last: bool = False
    ) -> None:
        assert self._index is not None
        facts: dict[str, RunFacts] = {}
        agents: list[Json] = []
        window = Window(self._order.days, time.time(), is_partial)
        for root in self._order.roots if self._order.sources else ():
            found = workspace_runs(Path(root), logs, self._index, os.environ)
            facts.update(facts_of_files(found, window))
            rows = agent_statistics(found)["agents"]
            assert isinstance(rows, list)
            agents += (row for row in rows if row not in agents)
        self._write(RunLogReport(facts, agents, self._unasked(), is_last))

    def _unasked(self) -> dict[str, str]:
        programs = unanswered(os.environ) if self._order.asks else ()
        folders = {each: log_folder(each, os.environ) for each in programs}
        return {each: _short(path) for each, path in folders.items() if path.is_dir()}


def _short(path: Path) -> str:
    """Return a path as people write it, with `~` for the home folder."""
    with suppress(ValueError, RuntimeError):
        return str("~" / path.relative_to(Path.home()))
    return shown_path(str(path))


def main() -> None:
    """Follow the orders of standard input."""
    _step_back()
    orders: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    is_first = True
    with suppress(queue.Empty, BrokenPipeError):
        while line := orders.get(timeout=_LASTING):
            RunLogPass(msgspec.json.decode(line, type=RunLogOrder), _print, is_first=is_first).run()
            is_first = False


def _read(orders: queue.Queue[bytes]) -> None:
    for line in sys.stdin.buffer:
        orders.put(line)
    orders.put(b"")


def _print(report: RunLogReport) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()


def _step_back() -> None:
    """Let everything else go first, where the system knows that."""
    if sys.platform != "win32":
        os.nice(10)


if __name__ == "__main__":
    main()
