"""The params of `axe/run`: checked, and turned into a request to the runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.agentfile.other_programs import stem_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.hosting.protocol import Workplace
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.runs import RunRequest

_STRINGS = ("agent", "uri", "continue", "task", "model", "skill", "workdir")
_KNOWN = frozenset(
    {*_STRINGS, "input", "session", "timeoutMs", "workDoneToken", "partialResultToken"}
)


class RunOrder(Struct, frozen=True):
    """A run that a client wants; `token` is its `workDoneToken`, if it gave one.

    `continues` is the run whose conversation goes on; "" for none. In a `session` its agent is read again.
    """

    request: RunRequest
    workplace: Workplace
    token: int | str | None
    continues: str = ""
    session: bool = False


def read_run_order(session: Session, params: Any) -> RunOrder:
    """Return the order in `params`, with the texts that the client has open at this moment.

    Raises JsonRpcInvalidParams with the name of the member that is wrong.
    """
    members = _checked(params)
    warn_of_unknown(session, "axe/run", members, _KNOWN)
    uri = members.get("uri")
    if uri is not None:
        agent, file, buffers = _open_agent(session, uri)
    else:
        agent, file, buffers = members.get("agent") or "", None, {}
    timeout = members.get("timeoutMs")
    seconds = timeout / 1000 if timeout is not None else session.view.settings.run_timeout or None
    request = RunRequest(
        agent=agent,
        task=members.get("task"),
        input=members.get("input"),
        model=members.get("model") or "",
        skill=members.get("skill") or "",
        workdir=members.get("workdir") or "",
        timeout=seconds,
    )
    view = session.view
    workplace = Workplace(
        workspace=str(view.workspace_of(file.parent if file is not None else None)),
        agent_file=str(file) if file is not None else "",
        places=view.agent_places,
        others=tuple(folder.as_posix() for folder in view.folders),
        open_buffers={**_buffers(session), **buffers},
    )
    return RunOrder(
        request,
        workplace,
        members.get("workDoneToken"),
        members.get("continue") or "",
        members.get("session") or False,
    )


def _checked(params: Any) -> dict[str, Any]:
    if not isinstance(params, dict):
        raise JsonRpcInvalidParams('axe/run: params must be an object with "agent" or "uri"')
    for name in _STRINGS:
        if params.get(name) is not None and not isinstance(params[name], str):
            raise JsonRpcInvalidParams(f'axe/run: "{name}" must be a string')
    _check_who(params)
    check_number("axe/run", params, "timeoutMs")
    if params.get("input") is not None:
        if not isinstance(params["input"], dict):
            raise JsonRpcInvalidParams('axe/run: "input" must be an object')
        if params.get("task"):
            raise JsonRpcInvalidParams('axe/run: give either "task" or "input"')
    check_token("axe/run", params)
    return params


def _check_who(params: dict[str, Any]) -> None:
    session = params.get("session")
    if session is not None and not isinstance(session, bool):
        raise JsonRpcInvalidParams('axe/run: "session" must be true or false')
    if params.get("continue"):
        _check_continuation(params)
    elif session:
        raise JsonRpcInvalidParams('axe/run: "session" is for "continue"')
    elif (params.get("agent") is None) == (params.get("uri") is None):
        raise JsonRpcInvalidParams('axe/run: give either "agent" or "uri"')


def _check_continuation(params: dict[str, Any]) -> None:
    others = ("input", "skill", "workdir")
    for name in others if params.get("session") else ("uri", *others):
        if params.get(name) is not None:
            raise JsonRpcInvalidParams(f'axe/run: "{name}" can\'t be used with "continue"')
    if not (params.get("task") or "").strip():
        raise JsonRpcInvalidParams('axe/run: "continue" needs a message, the "task"')


def check_number(method: str, params: dict[str, Any], name: str) -> None:
    """Require a number above 0, if it is there. Raises JsonRpcInvalidParams."""
    value = params.get(name)
    if value is not None and (type(value) is not int or value <= 0):
        raise JsonRpcInvalidParams(f'{method}: "{name}" must be a whole number above 0')


def check_token(method: str, params: dict[str, Any]) -> None:
    """Require a valid token for the progress of a request, if it has one. Raises JsonRpcInvalidParams."""
    token = params.get("workDoneToken")
    if token is not None and type(token) not in (int, str):
        raise JsonRpcInvalidParams(f'{method}: "workDoneToken" must be a string or an integer')


def warn_of_unknown(
    session: Session, method: str, members: dict[str, Any], known: frozenset[str]
) -> None:
    """Warn the user of misspelt members, which have no effect."""
    for name in sorted(members.keys() - known):
        session.show_message(f"{method}: unknown parameter {quoted(name)}; it has no effect")


def _open_agent(session: Session, uri: str) -> tuple[str, Path, dict[str, str]]:
    """Return the name of the agent at `uri`, its path, and its text if it is open.

    A buffer that was never saved gets a path that exists for this run only.
    """
    ours = canonical(uri)
    place = session.view.snapshot.places.locate(ours)
    file = session.view.snapshot.file(ours)
    text = file.open.parse.text if file is not None and file.open is not None else None
    path = path_of(ours)
    if path is not None:
        return stem_of(path.name), path, {str(path): text} if text is not None else {}
    if text is None:
        raise JsonRpcInvalidParams(f"axe/run: {uri} is neither a file nor an open agent")
    name = place.stem.rpartition(":")[2] or "untitled"
    path = session.view.workspace_of(None) / ".unsaved" / f"{name}.toml"
    return name, path, {str(path): text}


def _buffers(session: Session) -> dict[str, str]:
    return {
        str(path): file.open.parse.text
        for uri, file in session.view.snapshot.buffers.items()
        if file.open is not None and (path := path_of(uri)) is not None
    }
