"""Former runs in the history: what is known of one for a process that goes on with it, and orders that resume, continue or fork it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.hosting import protocol
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.queries import named_or_newest, tree_events
from axe_lsp.hosting.history.run_claims import (
    NotResumableError,
    require_continuable,
    require_kept,
    require_resumable,
)
from axe_lsp.hosting.history.steps import SIZE, milliseconds
from axe_lsp.hosting.run_tree import Left
from axe_lsp.runtime.children.delegation import child_run_id
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import Fork, RunIds
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.prepare import root_order
from axe_lsp.runtime.resuming.file_history import Selects
from axe_lsp.runtime.resuming.previous_run import (
    before,
    continued,
    forked,
    side_runs_at_work,
)
from axe_lsp.runtime.resuming.saved_files import plan_undo
from axe_lsp.runtime.run_log import Begun, Known, Log, decoded, encoded
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import RunRequest, new_run_id
from axe_lsp.runtime.safety.redaction import REDACTED


def known_steps(connection: sqlite3.Connection, root: str) -> Known:
    """Return all that is known of a tree, for a process that goes on with it."""
    found = connection.execute(
        "SELECT run_id, turn, call, kind, data FROM steps WHERE root_run_id = ? AND kind <> ?",
        (root, SIZE),
    )
    steps = {(run_id, turn, call, kind): data for run_id, turn, call, kind, data in found}
    runs = connection.execute("SELECT run_id, began FROM runs WHERE root_run_id = ?", (root,))
    used, asked = _used_ms(connection, root), _asked_ms(connection, root)
    begun = {
        run_id: Begun(began, used.get(run_id, 0), asked.get(run_id, 0)) for run_id, began in runs
    }
    (after,) = connection.execute(
        "SELECT coalesce(max(seq), 0) FROM events WHERE root_run_id = ?", (root,)
    ).fetchone()
    return Known(steps, begun, after)


def _used_ms(connection: sqlite3.Connection, root: str) -> dict[str, int]:
    """Return the duration in ms of each run of a tree; an unfinished run counts until the last event of the tree."""
    time = connection.execute(
        "SELECT json_extract(params, '$.time') FROM events WHERE root_run_id = ? ORDER BY seq DESC LIMIT 1",
        (root,),
    ).fetchone()
    found = connection.execute(
        "SELECT run_id, json_extract(params, '$.kind'), json_extract(params, '$.time'), "
        "coalesce(json_extract(params, '$.durationMs'), json_extract(params, '$.saved.durationMs'), 0) "
        "FROM events WHERE root_run_id = ? AND method = 'axe/agent' ORDER BY seq",
        (root,),
    )
    return {  # The last of a run counts.
        run_id: known if kind == "end" else known + milliseconds(since, time[0])
        for run_id, kind, since, known in found
    }


def _asked_ms(connection: sqlite3.Connection, root: str) -> dict[str, int]:
    """Return for how many ms questions were open, by the run that has asked and those above it.

    One without an answer was open until the last event of its process.
    """
    questions = connection.execute(
        "SELECT run_id, call, json_extract(data, '$.until') FROM steps "
        "WHERE root_run_id = ? AND kind = 'asked' ORDER BY call",
        (root,),
    ).fetchall()
    if not questions:
        return {}
    parents = dict(
        connection.execute("SELECT run_id, parent_run_id FROM runs WHERE root_run_id = ?", (root,))
    )
    asked: dict[str, int] = {}
    counted: dict[str, str] = {}
    for run_id, since, until in questions:
        end = until or _end_of_process(connection, root, since)
        above: str | None = run_id
        while above is not None:
            begin = max(since, counted.get(above, since))
            asked[above] = asked.get(above, 0) + max(0, milliseconds(begin, end))
            counted[above] = max(begin, end)
            above = parents.get(above)
    return asked


def _end_of_process(connection: sqlite3.Connection, root: str, time: str) -> str:
    """Return the time of the last event of the process that executed a root run at that time."""
    (end,) = connection.execute(
        "SELECT json_extract(params, '$.time') FROM events WHERE root_run_id = :root AND seq < coalesce("
        "(SELECT min(seq) FROM events WHERE root_run_id = :root AND run_id = :root AND method = 'axe/agent' "
        "AND json_extract(params, '$.kind') = 'resume' AND json_extract(params, '$.time') >= :time), "
        "9223372036854775807) ORDER BY seq DESC LIMIT 1",
        {"root": root, "time": time},
    ).fetchone()
    return str(end)


def resumable(root: str) -> protocol.Start:
    """Return the order by which a root run goes on. Blocks. Raises RunError, a NotResumableError if nobody may."""
    with opened_history() as connection:
        require_resumable(connection, root)
        known = known_steps(connection, root)
    try:
        return replace(order_of(known, root), after=known.after)
    except ValueError as error:
        raise _unreadable(root, error) from error


def all_known(root: str) -> Known:
    """Return all that is known of a tree. Blocks. Raises RunError."""
    with opened_history() as connection:
        return known_steps(connection, root)


def left_by(root: str, after: int) -> Left:
    """Return the part of a root run in the history `after` the event of that number. Blocks. Raises RunError."""
    with opened_history() as connection:
        events = list(tree_events(connection, root, after))
        known = known_steps(connection, root)
    try:
        log = Log(known=known)
        return Left(events, {root, *(run.ids.run_id for run in log.unfinished(root))})
    except ValueError as error:
        raise _unreadable(root, error) from error


def order_of(known: Known, root: str) -> protocol.Start:
    """Return the order that a root run was made by. Raises ValueError, or ConfigError for one that had not begun."""
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


class TakenOver(NamedTuple):
    """The part of a former run that a new one takes over. `steps` are to be kept as its own; a `warning` may be ""."""

    known: Known
    steps: Sequence[Step]
    warning: str


async def taken_over(start: protocol.Start, environment: Environment) -> TakenOver:
    """Return the beginning of a run that `continues` a root run, or is `forked_from` one.

    Raises RunError, a NotResumableError if that is not possible.
    """
    fork, run_id, root = start.forked_from, start.run_id, start.former
    agent, is_any = start.request.agent, start.session or fork is not None
    former = await asyncio.to_thread(_known_of, root, agent, is_any=is_any)
    order = root_order(start.request, Path(start.workplace.workspace), environment, run_id)
    log = Log(known=former).of(RunIds(root, root, agent))
    key = (run_id, 0, "", "first")
    if start.session:
        said = await asyncio.to_thread(_said, root)
        return TakenOver(Known(before=await before(log, said)), (), "")
    if fork is None:
        first = await continued(log, replace(order, continues=root))
        return TakenOver(Known({key: encoded(first)}), (), "")
    first, steps = forked(log, replace(order, forked_from=fork), fork.turn)
    known = {(run_id, step.turn, step.call, str(step.kind)): step.data for step in steps}
    is_changed = await asyncio.to_thread(_is_left_changed, root, fork.turn)
    warnings = [f"the files that run {root[:8]} has changed stay as they are"] if is_changed else []
    if at_work := ", ".join(map(quoted, side_runs_at_work(log, fork.turn))):
        warnings.append(f"side runs of run {root[:8]} that have not ended are left out: {at_work}")
    return TakenOver(Known({key: encoded(first), **known}), steps, "; ".join(warnings))


def _is_left_changed(root: str, first: int) -> bool:
    """Return whether a file that the turns of a root run from `first` on have changed is not as before. Blocks."""
    run = run_changes(root)
    return bool(plan_undo(run.known, run.selects(range(first, sys.maxsize))))


def fork_of(root: str, turn: int, model: str = "") -> protocol.Start:
    """Return the order of a new run that has the turns of a root run before `turn`. Blocks. Raises RunError.

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
    """Return the order of a new run that goes on with a root run by a further message. Blocks. Raises RunError.

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


_COMMANDS = ("run_command",)
"""Tools whose changes of files are not known."""


class RunChanges(NamedTuple):
    """What the history has about the files that a tree has changed. `run_id` is the run that was asked for."""

    run_id: str
    root: str
    known: Known
    callers: Mapping[str, tuple[str, int]]
    """The run and the turn that has called a run, by its id; none of a root."""
    is_running: bool
    has_commands: bool

    def selects(self, turns: range | None = None) -> Selects | None:
        """Return the selection of the changes of the run and those it has called, in some of its turns.

        None selects the changes of the whole tree.
        """
        if turns is None and self.run_id == self.root:
            return None

        def is_below(changing_run: str, turn: int) -> bool:
            at: tuple[str, int] | None = changing_run, turn
            while at is not None and at[0] != self.run_id:
                at = self.callers.get(at[0])
            return at is not None and (turns is None or at[1] in turns)

        return is_below

    def turns(self) -> dict[tuple[str, int], set[tuple[str, int]]]:
        """Return the runs and turns with changes, those of called agents included, by the turn that they belong to."""
        turns: dict[tuple[str, int], set[tuple[str, int]]] = {}
        for run_id, turn, _, kind in self.known.steps:
            at: tuple[str, int] | None = (run_id, turn) if kind == "saved" else None
            while at is not None:
                turns.setdefault(at, set()).add((run_id, turn))
                at = self.callers.get(at[0])
        return turns


def run_changes(beginning: str | None, folders: tuple[str, ...] = ()) -> RunChanges:
    """Return the file changes of the run whose id begins so, or of the newest of `folders`, also of one at work.

    Blocks. Raises RunError.
    """
    with opened_history() as connection:
        run_id, root = named_or_newest(connection, beginning, folders)
        (status,) = connection.execute(
            "SELECT status FROM runs WHERE run_id = ?", (root,)
        ).fetchone()
        rows = connection.execute(
            "SELECT run_id, turn, call, kind, data FROM steps WHERE root_run_id = ? "
            "AND kind IN ('saved', 'left')",
            (root,),
        )
        known = Known({(run, turn, call, kind): data for run, turn, call, kind, data in rows})
        (has_commands,) = connection.execute(
            "SELECT EXISTS (SELECT 1 FROM events WHERE root_run_id = ? AND method = 'axe/tool' "
            "AND json_extract(params, '$.name') IN (SELECT value FROM json_each(?)))",
            (root, json.dumps(_COMMANDS)),
        ).fetchone()
        callers = _callers(connection, root)
        return RunChanges(run_id, root, known, callers, status == "running", bool(has_commands))


def _callers(connection: sqlite3.Connection, root: str) -> dict[str, tuple[str, int]]:
    """Return the run and the turn that has called a run, by its id, which follows from its call."""
    children = {
        run_id
        for (run_id,) in connection.execute(
            "SELECT run_id FROM runs WHERE root_run_id = ? AND depth > 0", (root,)
        )
    }
    if not children:
        return {}
    calls = connection.execute(
        "SELECT run_id, json_extract(params, '$.turn'), json_extract(params, '$.callId') FROM events "
        "WHERE root_run_id = ? AND method = 'axe/tool' AND json_extract(params, '$.kind') = 'begin'",
        (root,),
    )
    called = ((child_run_id(run, turn, call), run, turn) for run, turn, call in calls)
    return {child: (run, turn) for child, run, turn in called if child in children}


def undoable(beginning: str | None, folders: tuple[str, ...] = ()) -> RunChanges:
    """Return the file changes of a run as `run_changes` does. Blocks. Raises RunError for one that has not ended."""
    changes = run_changes(beginning, folders)
    if changes.is_running:
        raise NotResumableError(f"run {changes.root[:8]} has not ended; stop it first", "running")
    return changes


def _said(root: str) -> str:
    """Return the part of an interrupted answer of a root run's model that was published."""
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
    """Return the steps of a root run at rest, which must be completed and one of that agent, unless `is_any`."""
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
