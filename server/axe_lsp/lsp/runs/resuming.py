"""`axe/resume`: a run goes on that ended before it was completed, or a fork of a run begins."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.hosting.history.queries import Wanted
from axe_lsp.hosting.stored_steps import fork_of, resumable
from axe_lsp.hosting.supervisor.subscribers import Subscriber
from axe_lsp.lsp.runs import run_reports, running
from axe_lsp.lsp.runs.run_params import check_number, check_token, warn_of_unknown
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.json_data import Json

_KNOWN = frozenset(
    {"runId", "fromTurn", "model", "timeoutMs", "maxTokens", "workDoneToken", "partialResultToken"}
)

_SEARCHED = 1_000
"""The newest runs of a workspace, among which the one to resume is looked for."""


def resume(
    session: Session, params: Any, reporter: Subscriber | None = None
) -> Coroutine[Any, Any, Json]:
    """Go on with a run; answers as `axe/run`, and reports as it does."""
    running.check_trust(session)
    members = _checked(params)
    warn_of_unknown(session, "axe/resume", members, _KNOWN)
    return _resume(session, members, reporter or run_reports.Notifications(session))


async def resume_newest(session: Session, reporter: Subscriber) -> Json:
    """Go on with the newest run of this workspace that can be resumed."""
    running.check_trust(session)
    folder = str(session.view.workspace_of(None))
    wanted = Wanted(limit=_SEARCHED, folders=(folder,))
    with running.reported_errors():
        runs = await session.daemon.runs.archive.runs(wanted)
    found = next((run["runId"] for run in runs if run.get("resumable")), None)
    if found is None:
        raise RequestFailed("no run of this workspace can be resumed")
    return await _resume(session, {"runId": found}, reporter)


async def _resume(session: Session, members: dict[str, Any], reporter: Subscriber) -> Json:
    turn = members.get("fromTurn")
    with running.reported_errors():
        await session.daemon.runs.archive.until_written()  # The run may have ended a moment ago.
        if turn is None:
            start = await asyncio.to_thread(resumable, members["runId"])
        else:
            start = await asyncio.to_thread(
                fork_of, members["runId"], turn, members.get("model") or ""
            )
        timeout = members.get("timeoutMs")
        request = replace(
            start.request,
            timeout=start.request.timeout if timeout is None else timeout / 1000,
            max_tokens=members.get("maxTokens") or start.request.max_tokens,
        )
        going = running.begin_again(session, replace(start, request=request))
    return await running.follow(
        session, going, request.agent, members.get("workDoneToken"), reporter
    )


def _checked(params: Any) -> dict[str, Any]:
    if not isinstance(params, dict) or not isinstance(params.get("runId"), str):
        raise JsonRpcInvalidParams('axe/resume: params must be {"runId": string, …}')
    for name in ("fromTurn", "timeoutMs", "maxTokens"):
        check_number("axe/resume", params, name)
    if params.get("model") is not None:
        if not isinstance(params["model"], str):
            raise JsonRpcInvalidParams('axe/resume: "model" must be a string')
        if params.get("fromTurn") is None:
            raise JsonRpcInvalidParams(
                'axe/resume: "model" needs "fromTurn"; a run that is resumed keeps its model'
            )
    check_token("axe/resume", params)
    return params
