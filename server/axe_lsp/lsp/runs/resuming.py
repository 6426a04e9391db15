"""`axe/resume`: a run goes on that ended before it was completed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.hosting.history.queries import Wanted
from axe_lsp.hosting.resuming import resumable
from axe_lsp.hosting.supervisor.subscribers import Subscriber
from axe_lsp.lsp.runs import run_reports, running
from axe_lsp.lsp.runs.approving import asker
from axe_lsp.lsp.runs.run_params import check_number, check_token, warn_of_unknown
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.json_data import Json
from axe_lsp.settings import Settings

_KNOWN = frozenset({"runId", "timeoutMs", "maxTokens", "workDoneToken", "partialResultToken"})

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
    settings, runs = session.view.settings, session.daemon.runs
    with running.reported_errors():
        await runs.archive.until_written()  # The run may have ended a moment ago.
        start = await asyncio.to_thread(resumable, members["runId"])
        timeout = members.get("timeoutMs")
        request = replace(
            start.request,
            timeout=start.request.timeout if timeout is None else timeout / 1000,
            max_tokens=members.get("maxTokens") or start.request.max_tokens,
        )
        start = replace(
            start,
            request=request,
            stream=True,
            keep_days=start.keep_days or Settings().history_keep_days,
            allow=settings.tools_allow,
            traces=settings.open_telemetry,
            trusted=running.is_trusted(session),
        )
        going = runs.resume(
            start,
            ask=asker(session),
            client=session,
            limit=lambda: session.view.settings.run_max_concurrent,
        )
    agent, token = request.agent, members.get("workDoneToken")
    return await running.follow(session, going, agent, token, reporter)


def _checked(params: Any) -> dict[str, Any]:
    if not isinstance(params, dict) or not isinstance(params.get("runId"), str):
        raise JsonRpcInvalidParams('axe/resume: params must be {"runId": string, …}')
    check_number("axe/resume", params, "timeoutMs")
    check_number("axe/resume", params, "maxTokens")
    check_token("axe/resume", params)
    return params
