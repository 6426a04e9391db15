"""`axe/approve` and `axe/ask`: ask the user of an editor what agents want to change or to know.

docs/protocol.md describes both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.features.markdown import without_links
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.show_document import text_in_file
from axe_lsp.rpc.client import Client
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.json_data import to_json
from axe_lsp.runtime.safety.questions import (
    ASK_USER,
    DECISIONS,
    DISMISSED,
    Answer,
    Ask,
    Decision,
    Question,
    denial,
    refusing,
    reply,
)

_log = logging.getLogger(__name__)


def _actions(question: Question) -> dict[str, Decision]:
    """Return the titles of the buttons; that for the run says what it allows, and is missing if there is no such answer."""
    if question.is_protected:
        return {"Allow": "allow", "Deny": "deny"}
    words = (question.for_run or "").split()
    what = "".join(f" {word[0].upper()}{word[1:]}" for word in words)
    return {"Allow": "allow", f"Allow{what} for This Run": "allowForRun", "Deny": "deny"}


_MOST_IN_MESSAGE, _MOST_LINES = 2000, 40
"""Characters and lines of details in a message, which editors show in a small box."""

_ANSWER_MESSAGES = {"Eglot", "emacs"}
"""Clients that let the user answer `window/showMessageRequest` and don't say so in their capabilities."""

_NO_ANSWER = "No Answer"

_NOT_UNDERSTOOD = Answer("deny", "the editor's answer was not understood")

_ADVICE = (
    'this editor can\'t ask you; the setting axe.tools.allow, such as ["write_file"], allows tools'
)


def asker(session: Session) -> Ask:
    """Return a function that asks the user, by a request of ours or by a message, whichever the client supports."""
    refuse = refusing(session.show_message, _ADVICE)

    async def ask(question: Question) -> Answer:
        way = _way_to_ask(session.client, question)
        if way is None:
            return await refuse(question)
        seconds = session.view.settings.approval_timeout
        try:
            return await asyncio.wait_for(way(session, question), seconds or None)
        except asyncio.TimeoutError:
            return Answer("deny", f"the user did not answer within {seconds} s")
        except JsonRpcException as error:
            _log.warning("the client did not ask its user: %s", error.message)
            return Answer("deny", "the user could not be asked")

    return ask


_Way = Callable[["Session", Question], Awaitable[Answer]]


def _way_to_ask(client: Client, question: Question) -> _Way | None:
    is_of_model = question.tool == ASK_USER
    if client.supports("experimental.axe.ask" if is_of_model else "experimental.axe.approve"):
        return _ask if is_of_model else _approve
    if client.capability("window.showMessage") is None and client.name not in _ANSWER_MESSAGES:
        return None
    if is_of_model:  # A message has buttons, and no place to write.
        return _show_choices if question.choices else None
    return _show_message


async def _ask(session: Session, question: Question) -> Answer:
    params = {
        **to_json(question.run),
        "reason": question.reason,
        "question": question.details,
        **({"choices": list(question.choices)} if question.choices else {}),
        **({"callId": question.call_id} if question.call_id is not None else {}),
        **({"side": question.side} if question.side is not None else {}),
        **_patience(session),
    }
    result = await session.request("axe/ask", params)
    answer = result.get("answer") if isinstance(result, dict) else None
    if result is not None and not isinstance(answer, str):
        _log.warning("the client answered axe/ask with %r", result)
        return _NOT_UNDERSTOOD
    return reply(answer or "")


async def _show_choices(session: Session, question: Question) -> Answer:
    choices = question.choices or ()
    message = f"{question.reason}:\n{question.details}"
    # The first one is taken by some editors if the user only presses Enter.
    chosen = await _chosen(session, types.MessageType.Info, message, [_NO_ANSWER, *choices])
    return reply(chosen) if chosen in choices else DISMISSED


async def _chosen(
    session: Session, kind: types.MessageType, message: str, titles: Sequence[str]
) -> str:
    """Return the title of the button that the user has pressed, or an empty text."""
    actions = [types.MessageActionItem(title) for title in titles]
    params = types.ShowMessageRequestParams(kind, without_links(message), actions)
    chosen = await session.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
    return chosen.title if chosen is not None else ""


async def _approve(session: Session, question: Question) -> Answer:
    own = to_json(question)
    params = {**own.pop("run"), **own, **_patience(session)}
    return _answer(await session.request("axe/approve", params))


def _patience(session: Session) -> dict[str, int]:
    """Return the time after which the question is withdrawn, if there is a limit."""
    seconds = session.view.settings.approval_timeout
    return {"timeoutMs": 1000 * seconds} if seconds else {}


def _answer(result: Any) -> Answer:
    """Return the answer in a client's result, which is not trusted to be one."""
    members = result if isinstance(result, dict) else {}
    decision, note = members.get("decision"), members.get("note")
    if decision not in DECISIONS:
        _log.warning("the client answered axe/approve with %r", result)
        return _NOT_UNDERSTOOD
    return denial(note if isinstance(note, str) else "") if decision == "deny" else Answer(decision)


async def _show_message(session: Session, question: Question) -> Answer:
    decisions = _actions(question)
    titles = list(decisions)
    if session.client.name in _ANSWER_MESSAGES:
        titles.reverse()  # These take the first one if the user only presses Enter.
    try:
        async with _message(session, question) as message:
            kind = types.MessageType.Warning
            chosen = await _chosen(session, kind, message, titles)
    except (ConfigError, OSError) as error:
        _log.warning("a question that is too long for a message cannot be shown: %s", error)
        return Answer("deny", "the user could not be shown all of it")
    decision = decisions.get(chosen, "deny")
    return denial("") if decision == "deny" else Answer(decision)


@asynccontextmanager
async def _message(session: Session, question: Question) -> AsyncIterator[str]:
    """Provide the text of the message. What is too long for one is whole in a file until it is answered."""
    details, lines = question.details, question.details.split("\n")
    if len(details) <= _MOST_IN_MESSAGE and len(lines) <= _MOST_LINES:
        yield f"{question.reason}:\n{details}"
        return
    digest = sha256(details.encode("utf-8", "replace")).hexdigest()[:16]
    name = f"question-{question.run.run_id}-{digest}.{'diff' if question.change else 'txt'}"
    beginning = "\n".join(lines[:_MOST_LINES])[:_MOST_IN_MESSAGE]
    async with text_in_file(session, name, details) as path:
        hidden = f"{len(details) - len(beginning):,} more characters"
        yield f"{question.reason}:\n{beginning}\n... and {hidden}; all of it is in {path}"
