"""`axe/message`, `axe/messages` and `axe/changeMessage`: messages of a person to runs that work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.inbox import MessageEdit, MessageRefusedError, NewMessage
from axe_lsp.runtime.json_data import Json, from_json

_MODES = ("next", "after", "now")


async def message(session: Session, params: Any) -> dict[str, Json]:
    """Queue a message to a run of any client."""
    members = _checked("axe/message", params, "runId", "text")
    if not members["text"].strip():
        raise JsonRpcInvalidParams('axe/message: "text" is empty')
    new = from_json(
        NewMessage,
        {key: members[key] for key in ("text", "mode", "messageId") if key in members},
    )
    with _reported_refusal():
        answer = await session.daemon.runs.request_messages(members["runId"], new)
    return {"messageId": answer.message_id, "state": "queued"}


async def messages(session: Session, params: Any) -> list[dict[str, Json]]:
    """Return the messages of a run that wait."""
    members = _checked("axe/messages", params, "runId")
    with _reported_refusal():
        answer = await session.daemon.runs.request_messages(members["runId"])
    return [
        {
            "messageId": each.message_id,
            "mode": each.mode,
            "text": each.text,
            "from": each.sender,
            "time": each.time,
        }
        for each in answer.messages
    ]


async def change_message(session: Session, params: Any) -> dict[str, Json]:
    """Change a message that waits, or remove it."""
    members = _checked("axe/changeMessage", params, "runId", "messageId")
    text, removes = members.get("text"), "text" in members and members["text"] is None
    if isinstance(text, str) and not text.strip():
        raise JsonRpcInvalidParams('axe/changeMessage: "text" is empty; null removes the message')
    edit = MessageEdit(members["messageId"], text, members.get("mode"), removes)
    with _reported_refusal():
        answer = await session.daemon.runs.request_messages(members["runId"], edit=edit)
    return {"changed": answer.has_changed}


def _checked(method: str, params: Any, *required: str) -> dict[str, Any]:
    """Return the params, of which the required members are texts. Raises JsonRpcInvalidParams."""
    members = params if isinstance(params, dict) else {}
    for name in required:
        if not isinstance(members.get(name), str):
            raise JsonRpcInvalidParams(f'{method}: "{name}" must be a string')
    for name in ("text", "messageId"):
        if members.get(name) is not None and not isinstance(members[name], str):
            raise JsonRpcInvalidParams(f'{method}: "{name}" must be a string')
    members = {key: value for key, value in members.items() if value is not None or key == "text"}
    if members.get("mode", "next") not in _MODES:
        raise JsonRpcInvalidParams(f'{method}: "mode" must be one of: {", ".join(_MODES)}')
    return members


@contextmanager
def _reported_refusal() -> Iterator[None]:
    try:
        yield
    except MessageRefusedError as error:
        raise RequestFailed(str(error), data={"reason": error.reason}) from error
