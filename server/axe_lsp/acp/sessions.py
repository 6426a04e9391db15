"""The sessions of a client, and what they share: the runs, and a look at the agent files now and then."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from msgspec.structs import replace

from axe_lsp.acp.client_connection import (
    INVALID_PARAMS,
    NOT_FOUND,
    Cancelling,
    Connection,
    RequestError,
)
from axe_lsp.acp.client_editor import ClientEditor
from axe_lsp.acp.content_blocks import read_prompt
from axe_lsp.acp.offers import COMMANDS, Offers, answer_to, command_in, no_agent, offers_in
from axe_lsp.acp.permissions import Permissions
from axe_lsp.acp.session import Session, former_messages, request_error
from axe_lsp.acp.subagents import SubagentUpdates
from axe_lsp.acp.update_queue import UpdateQueue
from axe_lsp.acp.updates import Updates
from axe_lsp.daemon.watch import watch
from axe_lsp.hosting.history import stored_sessions
from axe_lsp.hosting.history.database import history_file, written_history
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.stored_sessions import StoredSession
from axe_lsp.hosting.supervisor.supervisor import Runs
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.processes import forbid_inspection
from axe_lsp.tasks import Tasks

_PAGE = 50
"""Sessions that are listed at once."""

_LONGEST_CURSOR = 19
"""Digits. SQLite takes no more."""

_LAST_SECONDS = 1.0

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")


class Sessions:
    """The open sessions. Those that agents work for live on one event loop."""

    def __init__(
        self,
        client: Connection,
        capabilities: dict[str, Any],
        first_agent: str = "",
        allow: tuple[str, ...] = (),
    ) -> None:
        forbid_inspection()
        self._client = client
        self._first_agent = first_agent
        self._allow = allow
        self._has_forms = _declares(capabilities, "elicitation", "form")
        self._has_notices = _declares(capabilities, "session", "notices")
        self._has_compactions = _declares(capabilities, "session", "compaction")
        self._has_subagents = _declares(capabilities, "subagents")
        self._children: set[str] = set()
        self._sessions: dict[str, Session] = {}
        self._runs = Runs()
        self._queue = UpdateQueue(client.notify, self.warn)
        self._editor = ClientEditor(client, capabilities)
        self._tasks = Tasks()
        self._watched: dict[Path, asyncio.Task[None]] = {}
        self._offers: dict[Path, Offers] = {}

    async def close(self) -> None:
        """Stop all runs and whatever else is going on."""
        await self._tasks.stop(within=_LAST_SECONDS)
        await self._runs.close()

    # Sessions.

    async def begin(self, folder: Path) -> Session:
        """Return a new session. Raises RequestError if no agent can be run in the folder."""
        offers = await _in_thread(offers_in, folder)
        if not offers.agents:
            raise request_error(no_agent(folder))
        first = self._first_agent if self._first_agent in offers.names else offers.agents[0][0]
        session = self._session(StoredSession(str(uuid4()), str(folder), first), offers)
        await session.keep()
        return session

    async def open(self, session_id: str, folder: Path, *, tells: bool) -> Session:
        """Return a session that was begun before, here or in another process; the client may be told of all its messages."""
        stored = await _in_thread(_found, session_id)
        if stored is None:
            raise self._unknown(session_id)
        offers = await _in_thread(offers_in, folder)
        former = self._sessions.get(session_id)
        if former is not None and former.is_busy:
            raise RequestError(
                INVALID_PARAMS, f"a message of session {session_id!r} is still being answered"
            )
        if tells:
            await self._runs.archive.until_written()
        session = self._session(replace(stored, folder=str(folder)), offers)
        if tells:
            session.replay(await _in_thread(former_messages, session_id))
        return session

    def session(self, session_id: str) -> Session:
        """Return an open session. Raises RequestError."""
        found = self._sessions.get(session_id)
        if found is None:
            raise self._unknown(session_id)
        return found

    async def listed(self, folder: str | None, cursor: str | None) -> dict[str, Any]:
        """Return a page of the sessions that have a message, newest first. Raises RequestError for an invalid cursor."""
        if cursor is not None and not (cursor.isdecimal() and len(cursor) < _LONGEST_CURSOR):
            raise RequestError(INVALID_PARAMS, f"invalid params: cursor {cursor!r} is none of ours")
        before = int(cursor) if cursor is not None else None
        found, rest, more = await _in_thread(_page, folder, before)
        listed = [
            {
                "sessionId": each.session_id,
                "cwd": each.folder,
                "title": each.title,
                "updatedAt": f"{each.updated}Z",
                "additionalDirectories": more[each.session_id],
            }
            for each in found
        ]
        return {"sessions": listed, **({"nextCursor": str(rest)} if rest is not None else {})}

    async def close_session(self, session_id: str) -> None:
        """Stop what a session does, and forget what was allowed in it."""
        session = self._sessions.pop(session_id, None)
        if session is None:
            raise self._unknown(session_id)
        session.cancel()
        self._stop_watching(session.folder)

    async def delete(self, session_id: str) -> None:
        """Forget a session. One that is not known is no error."""
        if session_id in self._sessions:
            await self.close_session(session_id)
        await _in_thread(_forget, session_id)

    def cancel(self, session_id: str) -> None:
        """Stop the answer to a message."""
        if session_id in self._sessions:
            self._sessions[session_id].cancel()
        elif session_id in self._children:  # The session of a called agent has the id of its run.
            self._runs.cancel(session_id)

    async def prompt(self, session: Session, blocks: list[Any], cancelling: Cancelling) -> str:
        """Send a message; returns the StopReason. Raises RequestError."""
        prompt = read_prompt(blocks, session.folder)
        command = command_in(prompt.task)
        if command:
            text = await _in_thread(answer_to, command, session.stored, session.more_folders)
            self._queue.say(session.id, "agent_message_chunk", str(uuid4()), text)
            self._queue.flush()
            return "end_turn"
        cancelling.act = session.cancel
        try:
            return await session.prompt(prompt)
        except asyncio.CancelledError:
            session.cancel()
            raise
        finally:
            cancelling.act = bool  # The session may have another message by now.
            await self._client.settle()

    # What the client is told of its own accord.

    def tell_commands(self, session: Session) -> None:
        """Tell the client what can be typed besides messages."""
        commands = [{"name": name, "description": text} for name, text in COMMANDS.items()]
        self._queue.send(
            session.id,
            {"sessionUpdate": "available_commands_update", "availableCommands": commands},
        )

    def warn(self, session: str, text: str) -> None:
        """Tell a client that shows notices of something that its user should know."""
        if self._has_notices:
            update = {"sessionUpdate": "notice", "severity": "warning", "title": text}
            self._queue.send(session, update)
        else:
            _log.warning("%s", text)

    # Inside.

    def _session(self, stored: StoredSession, offers: Offers) -> Session:
        permissions = Permissions(self._client, has_forms=self._has_forms)
        make: Callable[..., Updates] = Updates
        if self._has_subagents:
            make = partial(SubagentUpdates, children=self._children)
        make = partial(make, has_compactions=self._has_compactions)
        session = Session(
            stored,
            offers,
            self._runs,
            self._queue,
            permissions,
            editor=self._editor,
            make_updates=make,
            allow=self._allow,
        )
        self._sessions[session.id] = session
        self._watch(session.folder, offers)
        return session

    def _unknown(self, session_id: str) -> RequestError:
        if session_id in self._children:
            return RequestError(
                INVALID_PARAMS,
                f"session {session_id!r} is one of a called agent; it can be cancelled only",
            )
        return RequestError(NOT_FOUND, f"session {session_id!r} is not known")

    def _watch(self, folder: Path, offers: Offers) -> None:
        """Look at the agent files of a folder now and then."""
        self._offers[folder] = offers
        if folder not in self._watched:
            look = watch(lambda: self._offers[folder].folders, lambda _: self._look_again(folder))
            self._watched[folder] = self._tasks.start_unattended(look, name=f"agents in {folder}")

    def _stop_watching(self, folder: Path) -> None:
        if not any(each.folder == folder for each in self._sessions.values()):
            watching = self._watched.pop(folder, None)
            if watching is not None:
                watching.cancel()

    def _look_again(self, folder: Path) -> None:
        self._tasks.start_unattended(self._offer(folder), name=f"offers in {folder}")

    async def _offer(self, folder: Path) -> None:
        self._offers[folder] = offers = await _in_thread(offers_in, folder)
        for session in self._sessions.values():
            if session.folder == folder:
                session.offer(offers)


async def _in_thread(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Return the result of what blocks. Raises RequestError."""
    try:
        return await asyncio.to_thread(partial(function, *arguments))
    except RunError as error:
        raise request_error(error) from error


def _found(session_id: str) -> StoredSession | None:
    with opened_history() as connection:
        return stored_sessions.find(connection, session_id)


def _page(
    folder: str | None, before: int | None
) -> tuple[list[StoredSession], int | None, dict[str, list[str]]]:
    with opened_history() as connection:
        found, rest = stored_sessions.page(connection, folder, before, _PAGE)
        more = {
            each.session_id: stored_sessions.more_folders(connection, each.session_id)
            for each in found
        }
        return found, rest, more


def _forget(session_id: str) -> None:
    path = history_file(os.environ)
    if path.exists():
        with written_history(path) as connection:
            stored_sessions.forget(connection, session_id)


def _declares(capabilities: dict[str, Any], *path: str) -> bool:
    """Return whether the client has declared a capability: an object, or true."""
    found: Any = capabilities
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return isinstance(found, dict) or found is True
