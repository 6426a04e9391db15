"""`axe/runLog` and the command `axe.showRunLog`: what the runs of an agent were like."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.features.run_log import run_markdown
from axe_lsp.hosting.agent_runs.settings import keep_answer
from axe_lsp.lsp.hover import plain_text
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject

_SHOW, _NO = types.MessageActionItem("Show"), types.MessageActionItem("No")


def statistics(session: Session, params: Any) -> list[JsonObject]:
    """Return the statistics of the agent of a file, one object per program that has run it."""
    path = path_of(_uri(params, "axe/runLog"))
    session.view.run_log.want()
    return [
        dict(each)
        for each in session.view.run_log.agents
        if path is not None and each.get("file") == str(path)
    ]


async def show(session: Session, params: Any) -> JsonObject:
    """Show the text of the hover in a message, and return it; ask before runs of another program are read."""
    uri = _uri(params, "axe.showRunLog")
    snapshot = session.view.snapshot
    file, facts = snapshot.file(uri), snapshot.run_log.files.get(uri)
    if facts is not None:
        markdown = run_markdown(facts, time.time())
        session.show_message(plain_text(markdown).replace("  \n", "\n"), types.MessageType.Info)
        return {"markdown": markdown}
    program = file.program if file is not None else ""
    if program in snapshot.run_log.unasked:
        await _ask(session, program, snapshot.run_log.unasked[program])
    return {"markdown": ""}


async def _ask(session: Session, program: str, folder: str) -> None:
    text = (
        f"Show the runs of agents at their files? axe-lsp then reads {folder}, where your conversations are. "
        "It keeps names, numbers and times, and no text."
    )
    params = types.ShowMessageRequestParams(types.MessageType.Info, text, [_SHOW, _NO])
    try:
        answer = await session.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
    except JsonRpcException:  # The client can't ask.
        return
    title = getattr(answer, "title", "")
    if title in (_SHOW.title, _NO.title):
        is_allowed = title == _SHOW.title
        await asyncio.to_thread(
            keep_answer, program, session.daemon.environment, is_allowed=is_allowed
        )
        session.view.run_log.look_again()


def _uri(params: Any, method: str) -> str:
    uri = params.get("uri") if isinstance(params, dict) else None
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams(f"{method}: uri must be a string")
    return canonical(uri)
