"""The history as the supervisor knows it: what hosts have yet to write, and what can be read.

A host writes about its own runs. When it dies, what had arrived from it and is not in the history
yet is written here, together with the ends of its runs: what was once seen is remembered.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from axe_lsp.hosting import protocol
from axe_lsp.hosting.history.rows import Origin
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.run_tree import Left, RunTree
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.json_data import Json

if TYPE_CHECKING:
    from axe_lsp.hosting.history.queries import Wanted
    from axe_lsp.hosting.history.writer import HistoryWriter

_PATIENCE = 2.0
"""Seconds for which a reader waits until what it may know of is written."""


class Archive:
    """The history of a server's runs, and of all other runs of its user."""

    def __init__(self, warn: Callable[[str, str], None]) -> None:
        self._warn = warn
        self._origins: dict[str, Origin] = {}
        self._unwritten: dict[str, deque[Notification]] = {}
        self._unheard: set[str] = set()
        self._incomplete: set[str] = set()
        self._progress = asyncio.Event()
        self._writer: HistoryWriter | None = None

    def expect(self, run_id: str, origin: Origin) -> None:
        """Take note that a root run begins that is to be remembered."""
        self._origins[run_id] = origin
        self._unwritten[run_id] = deque()
        self._unheard.add(run_id)

    def expect_more(self, run_id: str, origin: Origin) -> None:
        """Take note that a root run goes on whose events by now are in the history."""
        self.expect(run_id, origin)
        self._no_longer_unheard(run_id)

    def leave(self, run_id: str) -> None:
        """Take note that the host of a root run goes on without this server, and writes all that it has sent."""
        if run_id in self._origins:
            self._forget(run_id)

    def hear(self, event: Notification) -> None:
        """Take an event that has arrived from a host, which writes it as well."""
        run_id = event.params["rootRunId"]
        unwritten = self._unwritten.get(run_id)
        if unwritten is not None:
            unwritten.append(event)
            self._no_longer_unheard(run_id)

    def stored(self, run_id: str, seq: int, *, is_failing: bool = False) -> None:
        """Take note that the events of a root run up to that number need no more care, as they are in the history or can't get there."""
        if is_failing:
            self._incomplete.add(run_id)
        unwritten = self._unwritten.get(run_id)
        while unwritten and unwritten[0].params["seq"] <= seq:
            if unwritten.popleft().ends_tree:
                self._forget(run_id)
        self._progress.set()

    def over(self, run_id: str) -> None:
        """Take note that a root run has ended. If nothing was ever heard of it, nothing will be."""
        if self._unwritten.get(run_id) == deque():
            self._forget(run_id)
        if self._writer is not None:
            self._writer.handed_over(run_id)

    def take_over(self, run_id: str, ends: Iterable[Notification]) -> None:
        """Write the events that the host of a root run won't write any more, and these."""
        for event in ends:
            self.hear(event)
        for event in self._unwritten.get(run_id, ()):
            self._writer_here().keep_event(event, self._origins[run_id])

    async def adopt(self, start: protocol.Start, after: int) -> tuple[str, Left]:
        """Answer for a root run until another host goes on with it, and write what its dead host has not.

        `after` is the number of the last event that has arrived. Returns the `adopter` for the next host, and what
        the dead one has left. Raises RunError if the history can't be relied on.
        """
        # Imported late, with what it takes to read steps: hosts hardly ever die.
        from axe_lsp.hosting.history.former_runs import left_by
        from axe_lsp.hosting.stored_steps import order_step

        root, writer = start.run_id, self._writer_here()
        if root in self._incomplete:
            raise RunError("the history could not be written while this run was executed")
        self.stored(root, await asyncio.to_thread(writer.adopt, root))
        try:
            # Events may have arrived before the host has kept its order.
            if after and not start.after:
                writer.keep(order_step(start, os.environ))
            self.take_over(root, ())
            await writer.written(root)
            left = await asyncio.to_thread(left_by, root, after)
        except BaseException:
            writer.handed_over(root)
            raise
        return writer.name, left

    def take_over_finished(self, going_on: Container[str]) -> None:
        """Do the same for the runs that are over."""
        for run_id in self._unwritten:
            if run_id not in going_on:
                self.take_over(run_id, ())

    async def close(self) -> None:
        """Wait until everything is written."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)

    async def runs(self, wanted: Wanted) -> list[dict[str, Json]]:
        """Return the current result of `past_runs`. Raises RunError."""
        await self.until_written()
        return await asyncio.to_thread(_runs, wanted)

    async def events(self, run_id: str, after: int = 0) -> list[Notification]:
        """Return the events of a run and its sub-agents until now. Raises RunError."""
        await self.until_written()
        return await asyncio.to_thread(_events, run_id, after)

    async def tree(self, run_id: str) -> RunTree:
        """Return the state of a root run and those below it. One of which nothing is stored is empty. Raises RunError."""
        return await asyncio.to_thread(_tree, run_id)

    async def has(self, run_id: str) -> bool:
        """Return whether the history has a run. Raises RunError."""
        await self.until_written()
        return await asyncio.to_thread(_has, run_id)

    async def until_written(self) -> None:
        """Wait until all runs started by now have begun, and all events that have arrived are stored.

        Give up after a while if the disk, or the start of a run, is too slow.
        """
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._written(), _PATIENCE)

    async def _written(self) -> None:
        started = frozenset(self._unheard)
        await self._until(lambda: started.isdisjoint(self._unheard))
        marks = {run_id: events[-1] for run_id, events in self._unwritten.items() if events}
        await self._until(
            lambda: all(
                mark not in self._unwritten.get(run_id, ()) for run_id, mark in marks.items()
            )
        )

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._progress.clear()
            await self._progress.wait()

    def _no_longer_unheard(self, run_id: str) -> None:
        if run_id in self._unheard:
            self._unheard.remove(run_id)
            self._progress.set()

    def _forget(self, run_id: str) -> None:
        del self._origins[run_id], self._unwritten[run_id]
        self._incomplete.discard(run_id)
        self._no_longer_unheard(run_id)

    def _writer_here(self) -> HistoryWriter:
        """Import the writer when it is needed: most servers never do."""
        if self._writer is None:
            from axe_lsp.hosting.history.writer import HistoryWriter

            loop = asyncio.get_running_loop()

            def warn(run_id: str, text: str) -> None:
                loop.call_soon_threadsafe(self._warn, run_id, text)

            def stored(run_id: str, seq: int) -> None:
                loop.call_soon_threadsafe(self.stored, run_id, seq)

            self._writer = HistoryWriter(warn, stored)
        return self._writer


def _runs(wanted: Wanted) -> list[dict[str, Json]]:
    from axe_lsp.hosting.history.dead_runs import opened_history
    from axe_lsp.hosting.history.queries import past_runs

    with opened_history() as connection:
        return past_runs(connection, wanted)


def _has(run_id: str) -> bool:
    from axe_lsp.hosting.history.dead_runs import opened_history

    with opened_history() as connection:
        found = connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,))
        return found.fetchone() is not None


def _tree(run_id: str) -> RunTree:
    from axe_lsp.hosting.history.dead_runs import opened_history, tree_of

    with opened_history() as connection:
        return tree_of(connection, run_id)


def _events(run_id: str, after: int) -> list[Notification]:
    from axe_lsp.hosting.history.dead_runs import opened_history
    from axe_lsp.hosting.history.queries import events_below, find_run

    with opened_history() as connection:
        return list(events_below(connection, *find_run(connection, run_id), after))
