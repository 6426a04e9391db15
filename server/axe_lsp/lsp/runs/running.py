"""`axe/run`, `axe/resume`, `axe/preview` and `axe/stop`: runs that a client starts, resumes or forks, with their reports.

Functions that return a coroutine have read what is open by then: what is run is what was open when
the client asked, not what it has typed since.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from pygls.exceptions import JsonRpcInvalidParams, JsonRpcRequestCancelled

from axe_lsp.hosting.event_text import describe
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.protocol import Start
from axe_lsp.hosting.supervisor.orders import Run, Subscriber
from axe_lsp.lsp.editor_abilities import abilities
from axe_lsp.lsp.runs import run_reports
from axe_lsp.lsp.runs.approving import asker
from axe_lsp.lsp.runs.code_requests import code_requests
from axe_lsp.lsp.runs.outliving import grace_of
from axe_lsp.lsp.runs.run_params import (
    RunOrder,
    check_number,
    check_token,
    read_run_order,
    warn_of_unknown,
)
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.errors import ErrorKind, ExitCode, RunCancelledError, RunError
from axe_lsp.runtime.files.user_config import usable_config
from axe_lsp.runtime.json_data import Json, to_json
from axe_lsp.runtime.runs import new_run_id
from axe_lsp.settings import Settings

_OF_RESUME = frozenset(
    {"runId", "fromTurn", "model", "timeoutMs", "maxTokens", "workDoneToken", "partialResultToken"}
)

_SEARCHED = 1_000
"""The newest runs of a workspace, among which the one to resume is looked for."""


def run(
    session: Session, params: Any, reporter: Subscriber | None = None
) -> Coroutine[Any, Any, Json]:
    """Run an agent; `reporter`, by default `axe/…` notifications, gets all events before the answer."""
    check_trust(session)
    reporter = reporter or run_reports.Notifications(session)
    return _run(session, _order(session, params), reporter)


def preview(session: Session, params: Any) -> Coroutine[Any, Any, Json]:
    """Return the first request that a run would send to its provider."""
    order = _order(session, params)
    if order.continues:
        raise JsonRpcInvalidParams('axe/preview: "continue" is for axe/run')
    return _preview(session, order)


def stop(session: Session, params: Any) -> dict[str, Json]:
    """Stop a run of any client, or one child of it."""
    run_id = params.get("runId") if isinstance(params, dict) else None
    if not isinstance(run_id, str):
        raise JsonRpcInvalidParams('axe/stop: params must be {"runId": string}')
    return {"stopped": session.daemon.runs.cancel(run_id)}


def stop_own(session: Session) -> dict[str, Json]:
    """Stop all runs that this client has started."""
    stopped = [session.daemon.runs.cancel(run_id) for run_id in list(session.own_runs)]
    return {"stopped": any(stopped)}


def _order(session: Session, params: Any) -> RunOrder:
    with reported_errors():
        return read_run_order(session, params)


async def _run(session: Session, order: RunOrder, reporter: Subscriber) -> Json:
    with reported_errors():
        if order.continues:
            from axe_lsp.hosting.history.former_runs import continuation_of

            await session.daemon.runs.archive.until_written()  # It may have ended a moment ago.
            start = await asyncio.to_thread(
                continuation_of,
                order.continues,
                order.request,
                order.workplace,
                session=order.session,
            )
            going = begin_again(session, start)
        else:
            start = Start(new_run_id(), order.request, order.workplace)
            going = _begin(session, start, is_own=True)
    return await follow(session, going, start.request.agent, order.token, reporter)


def begin_again(session: Session, start: Start) -> Run:
    """Have a run made by an order that the history has kept.

    Trust and what is allowed are for the folders of this client, and the run may be one of another folder.
    """
    workspace, view = Path(start.workplace.workspace), session.view
    is_own = workspace in view.roots or workspace == view.workspace_of(None)
    return _begin(session, start, is_own=is_own)


def _begin(session: Session, start: Start, *, is_own: bool) -> Run:
    """Have a run made with the settings of this client, and with its rights if it `is_own`."""
    view = session.view
    start = replace(
        start,
        stream=True,
        keep_days=(start.keep_days or Settings().history_keep_days)
        if start.after
        else view.settings.history_keep_days,
        allow=(*view.settings.tools_allow, *usable_config(os.environ).allow) if is_own else (),
        traces=view.settings.open_telemetry,
        on=start.on or view.settings.execution_engine,
        trusted=is_own and is_trusted(session),
        editor=abilities(session),
        grace=grace_of(session),
    )
    return session.daemon.runs.start(
        start,
        ask=asker(session),
        editor=code_requests(session),
        client=session,
        limit=lambda: session.view.settings.run_max_concurrent,
        go_on=session.view.settings.run_go_on,
    )


async def follow(
    session: Session, going: Run, agent: str, token: int | str | None, reporter: Subscriber
) -> Json:
    """Return the answer to a request that has started a run: its result, after all its events."""
    runs = session.daemon.runs
    progress = run_reports.RunProgress(session, f"axe: {agent}", lambda: runs.cancel(going.id))
    if going.waits:
        progress.report("waits until another run has ended")
    progress.begin(token)
    session.own_runs.add(going.id)
    for subscriber in (reporter, run_reports.warnings(session), _progress_of(progress, agent)):
        runs.subscribe(subscriber, going.id)
    try:
        with reported_errors():
            result = await going.result()
    except asyncio.CancelledError:
        if not session.ends_with_server:  # Else the daemon ends the run, which can be resumed then.
            runs.cancel(going.id)
            with suppress(RunError):  # Its last events come before the answer.
                await going.result()
        raise
    finally:
        session.own_runs.discard(going.id)
        progress.end()
    return to_json(result)


async def _preview(session: Session, order: RunOrder) -> Json:
    with reported_errors():
        runs, editor = session.daemon.runs, abilities(session)
        return dict(await runs.preview(order.request, order.workplace, editor))


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn the failure of a run into the error that clients get."""
    try:
        yield
    except RunCancelledError as error:
        raise JsonRpcRequestCancelled("the run was stopped") from error
    except RunError as error:
        data = _error_data(error.kind, error.exit_code, error.run_id)
        if error.reason:
            data["reason"] = error.reason
        if error.partial is not None:
            data["partial"] = to_json(error.partial)
        message = f"{error}. {error.hint}" if error.hint else str(error)
        raise RequestFailed(message, data=data) from error


def _error_data(kind: ErrorKind, exit_code: ExitCode, run_id: str = "") -> dict[str, Json]:
    data: dict[str, Json] = {"kind": kind, "exitCode": int(exit_code)}
    return {**data, "runId": run_id} if run_id else data


def _progress_of(progress: run_reports.RunProgress, agent: str) -> Subscriber:
    """Return what happens, without the name of the root, which the title has; lines about others are indented."""

    def report(news: object) -> None:
        line = describe(news) if isinstance(news, Notification) else None
        if line is not None:
            progress.report(line.removeprefix(f"{agent}: ").strip())

    return report


def is_trusted(session: Session) -> bool:
    """Return whether the user has told the client that they trust the workspace."""
    return session.client.options.get("trusted") is True


def check_trust(session: Session) -> None:
    """Refuse to run anything in a workspace that the user does not trust."""
    if session.client.options.get("trusted") is False:
        raise RequestFailed(
            "agents do not run in an untrusted workspace; trust it in your editor first",
            data=_error_data("config", ExitCode.CONFIG),
        )


def resume(
    session: Session, params: Any, reporter: Subscriber | None = None
) -> Coroutine[Any, Any, Json]:
    """Go on with a run; answers as `axe/run`, and reports as it does."""
    check_trust(session)
    members = _checked_resume(params)
    warn_of_unknown(session, "axe/resume", members, _OF_RESUME)
    return _resume(session, members, reporter or run_reports.Notifications(session))


async def resume_newest(session: Session, reporter: Subscriber) -> Json:
    """Go on with the newest run of this workspace that can be resumed."""
    from axe_lsp.hosting.history.queries import Wanted

    check_trust(session)
    folder = str(session.view.workspace_of(None))
    wanted = Wanted(limit=_SEARCHED, folders=(folder,))
    with reported_errors():
        runs = await session.daemon.runs.archive.runs(wanted)
    found = next((run["runId"] for run in runs if run.get("resumable")), None)
    if found is None:
        raise RequestFailed("no run of this workspace can be resumed")
    return await _resume(session, {"runId": found}, reporter)


async def _resume(session: Session, members: dict[str, Any], reporter: Subscriber) -> Json:
    # Imported late, as hardly any run is resumed.
    from axe_lsp.hosting.history.former_runs import fork_of, resumable

    turn = members.get("fromTurn")
    with reported_errors():
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
        going = begin_again(session, replace(start, request=request))
    return await follow(session, going, request.agent, members.get("workDoneToken"), reporter)


def _checked_resume(params: Any) -> dict[str, Any]:
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
