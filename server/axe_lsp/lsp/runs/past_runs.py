"""`axe/runs`, `axe/events`, `axe/subscribe` and `axe/unsubscribe`: stored runs, and those of others.

Functions that return a coroutine have subscribed by then, so that no event is missed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, get_args

from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.daemon.uris import path_of
from axe_lsp.hosting.history.queries import Wanted
from axe_lsp.hosting.history.tree_text import draw
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.supervisor.archive import Archive
from axe_lsp.hosting.supervisor.orders import News
from axe_lsp.lsp.runs.outliving import become_owner, until_adopted
from axe_lsp.lsp.runs.run_reports import Notifications
from axe_lsp.lsp.runs.running import reported_errors
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.events import Status
from axe_lsp.runtime.json_data import Json

_MOST = 2**31 - 1
"""The largest integer of LSP."""

_STATUSES = ("running", *get_args(Status))


def runs(session: Session, params: Any) -> Coroutine[Any, Any, list[Json]]:
    """Return the stored runs, newest first."""
    return _runs(session.daemon.runs.archive, _wanted(_members("axe/runs", params)))


def events(session: Session, params: Any) -> Coroutine[Any, Any, Json]:
    """Return the events of a run and its children, as a list or drawn as a tree."""
    members = _members("axe/events", params)
    run_id = _text("axe/events", members, "runId")
    if run_id is None:
        raise JsonRpcInvalidParams('axe/events: "runId" is missing')
    after = _number("axe/events", members, "after", 0)
    archive = session.daemon.runs.archive
    match members.get("format") or "json":
        case "json":
            return _events(archive, run_id, after or 0)
        case "text" if after is None:
            return _drawn(archive, run_id)
        case "text":
            raise JsonRpcInvalidParams('axe/events: "text" describes a whole run, without "after"')
    raise JsonRpcInvalidParams('axe/events: "format" is "json" or "text"')


def subscribe(session: Session, params: Any) -> Coroutine[Any, Any, Json] | Json:
    """Send the events of one run or of all from now on; first those that the client has missed."""
    members = _members("axe/subscribe", params)
    run_id = _text("axe/subscribe", members, "runId")
    after = _number("axe/subscribe", members, "after", 0)
    answer = members.get("answer")
    if answer is not None and not isinstance(answer, bool):
        raise JsonRpcInvalidParams('axe/subscribe: "answer" must be a boolean')
    if answer:
        if run_id is None:
            raise JsonRpcInvalidParams('axe/subscribe: "answer" needs a "runId"')
        return _subscribe_as_owner(session, run_id, after)
    if run_id is not None and after is not None:
        meanwhile: list[News] = []
        stop = session.daemon.runs.subscribe(meanwhile.append, run_id)
        return _catch_up(session, run_id, after, meanwhile, stop)
    if after is not None:
        raise JsonRpcInvalidParams('axe/subscribe: "after" needs a "runId"')
    if run_id is not None and not session.daemon.runs.is_going_on(run_id):
        raise RequestFailed(
            f"no run {run_id} is going on in this server; "
            '`"after": 0` tells what is remembered of it'
        )
    _follow(session, run_id)
    return {"live": True}


async def _subscribe_as_owner(session: Session, run_id: str, after: int | None) -> Json:
    """Subscribe to a run, and answer its questions if nobody does."""
    await until_adopted(session)
    told = subscribe(session, {"runId": run_id, "after": after})
    result = await told if isinstance(told, Coroutine) else told
    return {**result, "answers": become_owner(session, run_id)}


def unsubscribe(session: Session, params: Any) -> dict[str, Json]:
    """End the last subscription to one run, or to all."""
    run_id = _text("axe/unsubscribe", _members("axe/unsubscribe", params), "runId")
    ends = session.subscriptions.get(run_id, [])
    if not ends:
        return {"unsubscribed": False}
    ends.pop()()
    return {"unsubscribed": True}


async def _runs(archive: Archive, wanted: Wanted) -> list[Json]:
    with reported_errors():
        return list(await archive.runs(wanted))


async def _events(archive: Archive, run_id: str, after: int) -> list[Json]:
    with reported_errors():
        return [event.members for event in await archive.events(run_id, after)]


async def _drawn(archive: Archive, run_id: str) -> Json:
    with reported_errors():
        happened = await archive.events(run_id)
    return {"text": await asyncio.to_thread(draw, happened)}


async def _catch_up(
    session: Session, run_id: str, after: int, meanwhile: list[News], stop: Callable[[], None]
) -> Json:
    """Send the stored events; new ones wait in `meanwhile` until then."""
    try:
        await until_adopted(session)
        with reported_errors():
            missed = await session.daemon.runs.archive.events(run_id, after)
    finally:
        stop()
    tell = Notifications(session)
    for event in missed:
        tell(event)
    last = missed[-1].params["seq"] if missed else after
    for news in meanwhile:
        if isinstance(news, Notification) and news.params["seq"] > last:
            tell(news)
    is_live = session.daemon.runs.is_going_on(run_id)
    if is_live:
        _follow(session, run_id)
    return {"live": is_live}


def _follow(session: Session, run_id: str | None) -> None:
    end = session.daemon.runs.subscribe(Notifications(session), run_id)
    session.subscriptions.setdefault(run_id, []).append(end)


def _wanted(members: Mapping[str, Any]) -> Wanted:
    method = "axe/runs"
    status = _text(method, members, "status")
    if status is not None and status not in _STATUSES:
        raise JsonRpcInvalidParams(f'{method}: "status" is one of {", ".join(_STATUSES)}')
    return Wanted(
        agent=_text(method, members, "agent"),
        status=status,
        before=_text(method, members, "before"),
        limit=_number(method, members, "limit", 1) or Wanted().limit,
        folders=_folders(method, members),
    )


def _folders(method: str, members: Mapping[str, Any]) -> tuple[str, ...]:
    given = members.get("folders")
    if given is None:
        return ()
    paths = [path_of(uri) if isinstance(uri, str) else None for uri in _listed(given)]
    if not paths or None in paths:
        raise JsonRpcInvalidParams(f'{method}: "folders" must be an array of "file:" URIs')
    return tuple(map(str, paths))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _members(method: str, params: Any) -> Mapping[str, Any]:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise JsonRpcInvalidParams(f"{method}: params must be an object")
    return params


def _text(method: str, members: Mapping[str, Any], name: str) -> str | None:
    value = members.get(name)
    if value is None or isinstance(value, str):
        return value
    raise JsonRpcInvalidParams(f'{method}: "{name}" must be a string')


def _number(method: str, members: Mapping[str, Any], name: str, least: int) -> int | None:
    value = members.get(name)
    if value is None or (type(value) is int and least <= value <= _MOST):
        return value
    raise JsonRpcInvalidParams(f'{method}: "{name}" must be a whole number from {least}')
