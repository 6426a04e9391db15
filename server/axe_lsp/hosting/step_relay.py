"""Steps of runs in processes of their own: on their way out of a host, to the process that keeps them.

A step is kept together with the next event of its host, so what a run has done and what was told of it are the
same if the host dies.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import cast

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.run_log import Known, Log
from axe_lsp.runtime.run_steps import Step, StepKind
from axe_lsp.tasks import Tasks

Send = Callable[[Message], None]

_PATIENCE = 3.0
"""Seconds that a call waits for the process above, which itself waits for the disk, but not as long."""


class OutgoingSteps:
    """A host's: sent to the process above. It is a `StepSink`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[None]] = {}

    def keep(self, step: Step) -> None:
        """Send a step, which is kept with the next event."""
        self._send(protocol.Stepped(step))

    async def committed(self, root: str) -> None:
        """Wait until all steps so far are on the disk."""
        number = next(self._numbers)
        is_done = self._open[number] = asyncio.get_running_loop().create_future()
        self._send(protocol.Committing(root, number))
        try:
            await asyncio.wait({is_done}, timeout=_PATIENCE)
        finally:
            del self._open[number]

    def hear(self, committed: protocol.Committed) -> None:
        """The steps are on the disk; ignored if nobody waits any more."""
        is_done = self._open.get(committed.number)
        if is_done is not None:
            is_done.set_result(None)


class IncomingSteps:
    """Those of a host below this process, which keeps them in `log`. `known` are all that are kept by now."""

    def __init__(self, log: Log, known: Known, tasks: Tasks) -> None:
        self._log = log
        self._tasks = tasks
        self._new: list[Step] = []
        self.known = dict(known.steps)

    def take(self, step: Step) -> None:
        """A step has come, and its event will."""
        self._new.append(step)

    def keep(self) -> None:
        """The next event is there."""
        for step in self._new:
            self.known[step.run_id, step.turn, step.call, step.kind] = step.data
            self._log.keep(step)
        self._new.clear()

    def forget(self) -> None:
        """The next event will never come."""
        self._new.clear()

    def commit(self, committing: protocol.Committing, send: Send) -> None:
        """Answer when all that has come is on the disk."""
        self.keep()
        name = f"commit {committing.number} of {committing.root_run_id}"
        self._tasks.start_unattended(self._commit(committing, send), name)

    async def _commit(self, committing: protocol.Committing, send: Send) -> None:
        await self._log.committed(committing.root_run_id)
        send(protocol.Committed(committing.number))


def as_steps(known: Known, root: str) -> tuple[Step, ...]:
    """The steps of a part of a tree, as messages have them."""
    return tuple(
        Step(root, run_id, cast(StepKind, kind), turn, call, data)
        for (run_id, turn, call, kind), data in known.steps.items()
    )


def known_of(start: protocol.StartChild) -> Known:
    """The steps of the run that a host is to make."""
    steps = {(each.run_id, each.turn, each.call, str(each.kind)): each.data for each in start.known}
    return Known(steps, start.begun)
