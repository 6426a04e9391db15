"""`axe/changes` and `axe/undo`: the files that the tools of a run have changed, and putting them back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.hosting.history.dead_runs import sign_of_undo
from axe_lsp.hosting.history.former_runs import run_changes, undoable
from axe_lsp.lsp.runs import running
from axe_lsp.lsp.runs.run_params import warn_of_unknown
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.resuming.file_history import (
    ChangedFile,
    FileHistory,
    changed_files,
    digest_of_file,
    file_histories,
)
from axe_lsp.runtime.resuming.saved_files import FileUndo, plan_undo
from axe_lsp.runtime.resuming.saved_files import undo as put_back

_KNOWN_CHANGES = frozenset({"runId", "turn", "fromTurn", "texts"})
_KNOWN_UNDO = frozenset({"runId", "turn", "fromTurn", "agreed"})
_MAX_TURN = 2**31


class _Query(NamedTuple):
    run_id: str
    turns: range | None


def changes(session: Session, params: Any) -> Coroutine[Any, Any, Json]:
    """Return the files that a run or some of its turns have changed, also of a run at work, with the turns that did."""
    query = _query("axe/changes", params)
    warn_of_unknown(session, "axe/changes", params, _KNOWN_CHANGES)
    return _in_history(session, partial(_changes, query, has_texts=params.get("texts") is True))


def undo(session: Session, params: Any) -> Coroutine[Any, Any, Json]:
    """Return the files that undoing a run would change. With `agreed`, the files that a person has seen so are put back."""
    running.check_trust(session)
    query = _query("axe/undo", params)
    agreed = _agreed(params.get("agreed"))
    warn_of_unknown(session, "axe/undo", params, _KNOWN_UNDO)
    return _in_history(session, partial(_outcome, query, agreed))


async def _in_history(session: Session, work: Callable[[], Json]) -> Json:
    with running.reported_errors():
        await session.daemon.runs.archive.until_written()  # It may have ended a moment ago.
        return await asyncio.to_thread(work)


def _changes(query: _Query, *, has_texts: bool) -> Json:
    run = run_changes(query.run_id)
    with _readable(run.root):
        histories = file_histories(run.known.steps)
        files = changed_files(histories, run.selects(query.turns))
        unknown = [
            {"path": str(plan.path), "reason": plan.reason}
            for plan in plan_undo(run.known, run.selects(query.turns))
            if plan.reason
        ]
        turns = [
            {"runId": at[0], "turn": at[1], **_totals(histories, changing)}
            for at, changing in sorted(run.turns().items())
        ]
    return {
        "files": [_changed(file, has_texts=has_texts) for file in files],
        "left": unknown,
        "turns": turns,
        "hasCommands": run.has_commands,
        "isRunning": run.is_running,
    }


def _totals(
    histories: Sequence[FileHistory], changing: Collection[tuple[str, int]]
) -> dict[str, Json]:
    changed = changed_files(histories, lambda run_id, turn: (run_id, turn) in changing)
    files = [file for file in changed if not file.is_undone]
    counts = [file.counts for file in files]
    return {
        "files": len(files),
        "added": sum(each.added for each in counts if each is not None),
        "removed": sum(each.removed for each in counts if each is not None),
        "uncounted": counts.count(None),
    }


def _changed(file: ChangedFile, *, has_texts: bool) -> Json:
    counts = file.counts
    shown: dict[str, Json] = {
        "path": str(file.path),
        "uri": file.path.as_uri(),
        "kind": file.kind,
    }
    if counts is not None:
        shown |= {"added": counts.added, "removed": counts.removed}
    if file.is_undone:
        shown["isUndone"] = True
    if has_texts and file.is_comparable:
        shown["before"], shown["after"] = file.texts
    return shown


@contextmanager
def _readable(root: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"the steps of run {root[:8]} can't be read: {error}") from error


def _outcome(query: _Query, agreed: Mapping[str, str] | None) -> Json:
    run = undoable(query.run_id)
    with _readable(run.root):
        plans = plan_undo(run.known, run.selects(query.turns))
    if agreed is None:
        return {"files": [_shown(plan) for plan in plans], "hasCommands": run.has_commands}
    chosen = [plan for plan in plans if str(plan.path) in agreed]
    same = [
        plan for plan in chosen if plan.reason or digest_of_file(plan.now) == agreed[str(plan.path)]
    ]
    with sign_of_undo(run.root):
        done = list(put_back(same))
    left = [{"path": str(each.path), "reason": each.reason} for each in done if each.reason]
    others = [
        {"path": str(plan.path), "reason": "it has changed since"}
        for plan in chosen
        if plan not in same
    ]
    return {
        "undone": [str(each.path) for each in done if not each.reason],
        "left": [*left, *others],
    }


def _shown(plan: FileUndo) -> Json:
    told: dict[str, Json] = {"path": str(plan.path), "uri": plan.path.as_uri()}
    if plan.reason:
        return {**told, "reason": plan.reason}
    told["digest"] = digest_of_file(plan.now)
    if plan.is_comparable:
        now, before = plan.shown
        told["before"] = now if plan.now is not None else None
        told["after"] = before if plan.before is not None else None
    return told


def _query(method: str, params: Any) -> _Query:
    """Return the run and the turns that are meant: a `turn`, those `fromTurn` on, or all. Raises JsonRpcInvalidParams."""
    if not isinstance(params, dict) or not isinstance(params.get("runId"), str):
        raise JsonRpcInvalidParams(f'{method}: params must be {{"runId": string, …}}')
    turn, first = params.get("turn"), params.get("fromTurn")
    for number in (turn, first):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise JsonRpcInvalidParams(f'{method}: "turn" and "fromTurn" must be integers')
    if turn is not None:
        return _Query(params["runId"], range(turn, turn + 1))
    return _Query(params["runId"], None if first is None else range(first, _MAX_TURN))


def _agreed(agreed: Any) -> Mapping[str, str] | None:
    if agreed is None:
        return None
    if not isinstance(agreed, list) or not all(map(_is_agreement, agreed)):
        raise JsonRpcInvalidParams(
            'axe/undo: "agreed" must be [{"path": string, "digest": string}]'
        )
    return {each["path"]: each["digest"] for each in agreed}


def _is_agreement(given: Any) -> bool:
    return (
        isinstance(given, dict)
        and isinstance(given.get("path"), str)
        and isinstance(given.get("digest"), str)
    )
