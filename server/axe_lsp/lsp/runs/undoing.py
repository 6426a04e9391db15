"""`axe/undo`: the files that the tools of a run have changed are shown as they were, and put back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.hosting.history.dead_runs import sign_of_undo
from axe_lsp.hosting.history.former_runs import undoable
from axe_lsp.lsp.runs import running
from axe_lsp.lsp.runs.run_params import warn_of_unknown
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.resuming.saved_files import FileUndo, digest_of_file, has_commands, plan_undo
from axe_lsp.runtime.resuming.saved_files import undo as put_back

_KNOWN = frozenset({"runId", "agreed"})


def undo(session: Session, params: Any) -> Coroutine[Any, Any, Json]:
    """Return the files that undoing a run would change. With `agreed`, the files that a person has seen so are put back."""
    running.check_trust(session)
    run_id, agreed = _checked(params)
    warn_of_unknown(session, "axe/undo", params, _KNOWN)
    return _undo(session, run_id, agreed)


async def _undo(session: Session, run_id: str, agreed: Mapping[str, str] | None) -> Json:
    with running.reported_errors():
        await session.daemon.runs.archive.until_written()  # It may have ended a moment ago.
        return await asyncio.to_thread(_outcome, run_id, agreed)


def _outcome(run_id: str, agreed: Mapping[str, str] | None) -> Json:
    root, known = undoable(run_id)
    try:
        plans = plan_undo(known)
    except ValueError as error:
        raise ConfigError(f"the steps of run {run_id[:8]} can't be read: {error}") from error
    if agreed is None:
        return {"files": [_shown(plan) for plan in plans], "hasCommands": has_commands(known)}
    chosen = [plan for plan in plans if str(plan.path) in agreed]
    same = [
        plan for plan in chosen if plan.reason or digest_of_file(plan.now) == agreed[str(plan.path)]
    ]
    with sign_of_undo(root):
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


def _checked(params: Any) -> tuple[str, Mapping[str, str] | None]:
    if not isinstance(params, dict) or not isinstance(params.get("runId"), str):
        raise JsonRpcInvalidParams('axe/undo: params must be {"runId": string, …}')
    agreed = params.get("agreed")
    if agreed is None:
        return params["runId"], None
    if not isinstance(agreed, list) or not all(map(_is_agreement, agreed)):
        raise JsonRpcInvalidParams(
            'axe/undo: "agreed" must be [{"path": string, "digest": string}]'
        )
    return params["runId"], {each["path"]: each["digest"] for each in agreed}


def _is_agreement(given: Any) -> bool:
    return (
        isinstance(given, dict)
        and isinstance(given.get("path"), str)
        and isinstance(given.get("digest"), str)
    )
