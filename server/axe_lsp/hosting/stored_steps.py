"""Keeps the steps of a run in the history, and finds them there again when the run is resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio
from msgspec.structs import replace

from axe_lsp.hosting import protocol
from axe_lsp.hosting.run_tree import Left
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.events import Fork, RunIds
from axe_lsp.runtime.files.agent_files import Lookup, agent_places
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.prepare import root_order
from axe_lsp.runtime.resuming.previous_run import before, continued, forked
from axe_lsp.runtime.run_log import Known, Log, decoded, encoded
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import Resolve, RunRequest, new_run_id
from axe_lsp.runtime.safety.approval import Approval
from axe_lsp.runtime.safety.redaction import REDACTED

if TYPE_CHECKING:
    from axe_lsp.hosting.history.writer import HistoryWriter

_PATIENCE = 2.0
"""Seconds that a call waits for the disk."""


class StoredSteps:
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
    from axe_lsp.hosting.history.known_steps import known_steps
    from axe_lsp.hosting.history.local import opened_history
    from axe_lsp.hosting.history.run_claims import require_resumable

    with opened_history() as connection:
        require_resumable(connection, root)
        known = known_steps(connection, root)
    try:
        return replace(order_of(known, root), after=known.after)
    except ValueError as error:
        raise _unreadable(root, error) from error


def claimed(writer: HistoryWriter, root: str, adopter: str = "") -> Known:
    """Become the process that goes on with a run; returns what is known of it. Blocks. Raises RunError.

    A `adopter` is the writer that has adopted the run for this process.
    """
    from axe_lsp.hosting.history.known_steps import known_steps
    from axe_lsp.hosting.history.local import opened_history

    writer.claim(root, adopter)
    with opened_history() as connection:
        return known_steps(connection, root)


async def written(writer: HistoryWriter, root: str) -> None:
    """Wait until all events and steps of a tree are in the history. Raises RunError if they don't get there."""
    await on_disk(writer, root)
    if writer.is_failing:
        raise RunError("the history can't be written")


def left_by(root: str, after: int) -> Left:
    """The part of a root run in the history `after` the event of that number. Blocks. Raises RunError."""
    from axe_lsp.hosting.history.known_steps import known_steps
    from axe_lsp.hosting.history.local import opened_history
    from axe_lsp.hosting.history.queries import tree_events

    with opened_history() as connection:
        events = list(tree_events(connection, root, after))
        known = known_steps(connection, root)
    try:
        log = Log(known=known)
        return Left(events, {root, *(run.ids.run_id for run in log.unfinished(root))})
    except ValueError as error:
        raise _unreadable(root, error) from error


def order_step(start: protocol.Start, environment: Environment) -> Step:
    """The step with which a root run begins, without what its client has for it."""
    start = replace(start, servers=(), editor=())
    return Step(
        start.run_id, start.run_id, "order", data=encoded(start, known_secrets(environment))
    )


def order_of(known: Known, root: str) -> protocol.Start:
    """The order that a root run was made by. Raises ValueError, or ConfigError for one that had not begun."""
    start = decoded(known.steps[root, 0, "", "order"], protocol.Start)
    if start.former and (root, 0, "", "first") not in known.steps:
        raise ConfigError(
            f"run {root[:8]} was to go on from run {start.former[:8]} and had not begun to; do that again"
        )
    if REDACTED in start.workplace.workspace:
        raise ConfigError(
            f"run {root[:8]} can't go on: the name of its folder looks like a key, which is not kept"
        )
    return start


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


class TakenOver(NamedTuple):
    """The part of a former run that a new one takes over. `steps` are to be kept as its own; a `warning` may be ""."""

    known: Known
    steps: Sequence[Step]
    warning: str


class FormerRun(NamedTuple):
    """The steps of a run at rest. Its model has `said` so much of an answer that was broken off."""

    known: Known
    said: str = ""


async def taken_over(
    start: protocol.Start, former_run: FormerRun, environment: Environment
) -> TakenOver:
    """The beginning of a run that `continues` a root run, or is `forked_from` one. Raises RunError.

    `former_run` is that one.
    """
    fork, run_id, root = start.forked_from, start.run_id, start.former
    former = former_run.known
    order = root_order(start.request, Path(start.workplace.workspace), environment, run_id)
    log = Log(known=former).of(RunIds(root, root, start.request.agent))
    key = (run_id, 0, "", "first")
    if start.session:
        return TakenOver(Known(before=await before(log, former_run.said)), (), "")
    if fork is None:
        first = await continued(log, replace(order, continues=root))
        return TakenOver(Known({key: encoded(first)}), (), "")
    first, steps = forked(log, replace(order, forked_from=fork), fork.turn)
    known = {(run_id, step.turn, step.call, str(step.kind)): step.data for step in steps}
    has_changed = any(kind in ("begun", "left") for *_, kind in former.steps)
    warning = f"the files that run {root[:8]} has changed stay as they are" if has_changed else ""
    return TakenOver(Known({key: encoded(first), **known}), steps, warning)


def former_of(start: protocol.Start) -> FormerRun:
    """The steps of the run that a new one takes something over from. Blocks.

    Raises RunError, a NotResumableError if that is not possible.
    """
    if start.session:
        return FormerRun(_known_of(start.former, is_any=True), _said(start.former))
    is_fork = start.forked_from is not None
    return FormerRun(_known_of(start.former, start.request.agent, is_any=is_fork))


def fork_of(root: str, turn: int, model: str = "") -> protocol.Start:
    """The order of a new run that has the turns of a root run before `turn`. Blocks. Raises RunError.

    Another `model` goes on, if it is named.
    """
    former = _former_order(root, _known_of(root, is_any=True))
    request = replace(former.request, model=model or former.request.model)
    fork = Fork(root, turn)
    return replace(
        former, run_id=new_run_id(), request=request, continues="", session=False, forked_from=fork
    )


def continuation_of(
    root: str, request: RunRequest, workplace: protocol.Workplace, *, session: bool
) -> protocol.Start:
    """The order of a new run that goes on with a root run by a further message. Blocks. Raises RunError.

    The agent of the request may be "". Agents are those of the former run's workplace, some of which are open in an
    editor, unless a `session` goes on with an agent that is named.
    """
    known = _known_of(root, "" if session else request.agent, is_any=session)
    former = _former_order(root, known)
    if not (session and request.agent):
        request = replace(request, agent=former.request.agent)
        workplace = replace(former.workplace, open_buffers=workplace.open_buffers)
    return replace(
        former,
        run_id=new_run_id(),
        request=request,
        workplace=workplace,
        continues=root,
        session=session,
        forked_from=None,
    )


def undoable(beginning: str) -> tuple[str, Known]:
    """The root of the run whose id begins so, and what is known of it. Blocks. Raises RunError for one that has not ended."""
    from axe_lsp.hosting.history.known_steps import known_steps
    from axe_lsp.hosting.history.local import opened_history
    from axe_lsp.hosting.history.queries import find_run
    from axe_lsp.hosting.history.run_claims import NotResumableError

    with opened_history() as connection:
        _, root = find_run(connection, beginning)
        (status,) = connection.execute(
            "SELECT status FROM runs WHERE run_id = ?", (root,)
        ).fetchone()
        if status == "running":
            raise NotResumableError(f"run {root[:8]} has not ended; stop it first", "running")
        return root, known_steps(connection, root)


def _said(root: str) -> str:
    """The part of an interrupted answer of a root run's model that was published."""
    from axe_lsp.hosting.history.local import opened_history
    from axe_lsp.hosting.history.queries import tree_events

    pieces: list[str] = []
    with opened_history() as connection:
        for event in tree_events(connection, root):
            if event.params["runId"] != root:
                continue
            if event.method == "axe/text":
                pieces.append(event.params["delta"])
            elif event.method in ("axe/turn", "axe/wait"):
                pieces.clear()
    return "".join(pieces)


def _known_of(root: str, agent: str = "", *, is_any: bool = False) -> Known:
    """The steps of a root run at rest, which must be completed and one of that agent, unless `is_any`."""
    from axe_lsp.hosting.history.known_steps import known_steps
    from axe_lsp.hosting.history.local import opened_history
    from axe_lsp.hosting.history.run_claims import require_continuable, require_kept

    with opened_history() as connection:
        if is_any:
            require_kept(connection, root)
        else:
            require_continuable(connection, root, agent)
        return known_steps(connection, root)


def _former_order(root: str, known: Known) -> protocol.Start:
    try:
        return order_of(known, root)
    except (KeyError, ValueError) as error:
        raise _unreadable(root, error) from error


def _unreadable(root: str, error: Exception) -> ConfigError:
    return ConfigError(f"the steps of run {root} can't be read: {error}")
