"""Keeps the steps of a run in the history, and finds them there again when the run is resumed."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from msgspec.structs import replace

from axe_lsp.hosting import protocol
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.agent_files import Lookup, agent_places
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.prepare import root_order
from axe_lsp.runtime.resuming.log import Known, Log, Step, decoded, encoded
from axe_lsp.runtime.resuming.restore import continued
from axe_lsp.runtime.runs import Resolve, RunRequest
from axe_lsp.runtime.safety.approval import Approval

if TYPE_CHECKING:
    from axe_lsp.hosting.history.writer import HistoryWriter

_PATIENCE = 2.0
"""Seconds that a call waits for the disk."""


class KeptSteps:
    """The steps of the runs of this process on their way to the history. It is a `StepSink`."""

    def __init__(self, writer: HistoryWriter) -> None:
        self._writer = writer

    def keep(self, step: Step) -> None:
        """Keep a step, together with the next event."""
        self._writer.keep_step(step)

    async def committed(self, root: str) -> None:
        """Wait until all steps of a tree so far are on the disk."""
        await on_disk(self._writer, root)


async def on_disk(writer: HistoryWriter, root: str) -> None:
    """Wait until all steps of a tree are on the disk, but not for a history that can't be written."""
    if writer.is_failing:
        return
    loop, is_done = asyncio.get_running_loop(), asyncio.Event()

    def done() -> None:
        with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
            loop.call_soon_threadsafe(is_done.set)

    writer.commit(root, done)
    with anyio.move_on_after(_PATIENCE):
        await is_done.wait()


def resumable(root: str) -> protocol.Start:
    """The order by which a root run goes on. Blocks. Raises RunError, a NotResumableError if nobody may."""
    # Imported late, as hardly any run is resumed.
    from axe_lsp.hosting.history.lease import require_resumable  # noqa: PLC0415
    from axe_lsp.hosting.history.local import opened_history
    from axe_lsp.hosting.history.steps import known_steps  # noqa: PLC0415

    with opened_history() as connection:
        require_resumable(connection, root)
        known = known_steps(connection, root)
    try:
        return replace(order_of(known, root), after=known.after)
    except ValueError as error:
        raise ConfigError(f"the steps of run {root} can't be read: {error}") from error


def claimed(writer: HistoryWriter, root: str) -> Known:
    """Become the process that goes on with a run; returns what is known of it. Blocks. Raises RunError."""
    from axe_lsp.hosting.history.local import opened_history
    from axe_lsp.hosting.history.steps import known_steps  # noqa: PLC0415

    writer.claim(root)
    with opened_history() as connection:
        return known_steps(connection, root)


def order_step(start: protocol.Start, environment: Environment) -> Step:
    """The step with which a root run begins."""
    return Step(
        start.run_id, start.run_id, "order", data=encoded(start, known_secrets(environment))
    )


def order_of(known: Known, root: str) -> protocol.Start:
    """The order that a root run was made by. Raises ValueError."""
    return decoded(known.steps[root, 0, "", "order"], protocol.Start)


def allow_again(approval: Approval, known: Known, root: str) -> None:
    """Allow what was allowed "for this run" in a former process."""
    for _, _, call, kind in known.steps:
        if kind == "allow":
            approval.allow_for_run(root, *call.split(" ", 1))


def resolver(workplace: protocol.Workplace, environment: Environment) -> Resolve:
    """Finds agents as the client sees them, open texts included."""
    places = workplace.places
    if places is None:
        places = agent_places([Path(workplace.workspace)], environment)
    open_buffers = {Path(path): text for path, text in workplace.open_buffers.items()}
    lookup = Lookup(places, workplace.others, open_buffers)
    return lookup.resolver(Path(workplace.agent_file) if workplace.agent_file else None)


async def continuation(
    request: RunRequest, run_id: str, former: Known, root: str, workplace: protocol.Workplace
) -> Known:
    """What is known of a new run that goes on with the conversation of a completed root. Raises RunError."""
    order = root_order(request, Path(workplace.workspace), os.environ, run_id)
    log = Log(known=former).of(RunIds(root, root, request.agent))
    first = await continued(log, replace(order, continues=root))
    return Known({(run_id, 0, "", "first"): encoded(first)})
