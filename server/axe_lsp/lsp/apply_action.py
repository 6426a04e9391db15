"""`axe.applyAction`: code actions that the server carries out.

For clients that can't, and for edits with a key in them, which should reach no log of an editor.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from axe_lsp.agentfile.text.ranges import LineIndex
from axe_lsp.agentfile.text.splices import spliced
from axe_lsp.daemon import disk
from axe_lsp.daemon.config_file import key_change, key_place, put_key
from axe_lsp.daemon.uris import path_of
from axe_lsp.features.edit import CodeAction, NewFile, Secret, TextChange
from axe_lsp.lsp.code_action import APPLY, actions_at, lone_file
from axe_lsp.lsp.positions import Locations, lsp_range, open_file
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.show_document import show_file
from axe_lsp.lsp.workspace_edit import can_apply, workspace_edit
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.rpc.lsp_json import MisfitError, structured
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.serving.json_rpc import JsonObject


def apply(session: Session, params: Any) -> Coroutine[Any, Any, None]:
    """Carry out an action that is still offered. Raises RequestFailed."""
    locations = Locations(session)
    action = _action(session, params, locations)
    rest = action.edit
    new = lone_file(action)
    files: tuple[NewFile, ...] = ()
    if new is not None or not can_apply(session, rest):
        files = tuple(step for step in rest if isinstance(step, NewFile))
        rest = tuple(step for step in rest if not isinstance(step, NewFile))
    edit = workspace_edit(session, rest, locations) if rest else None
    shown = new.uri if new is not None else action.shows
    return _carry_out(session, action, files, edit, shown)


async def create_file(session: Session, new: NewFile) -> None:
    """Write a file that must not be there yet. Raises RequestFailed."""
    path = path_of(new.uri)
    if path is None:
        raise RequestFailed(f"{new.uri} can't hold a file")
    try:
        await asyncio.to_thread(disk.create, path, new.text)
    except FileExistsError:
        raise RequestFailed(f"{path} already exists") from None
    except OSError as error:
        raise RequestFailed(f"{path} could not be written: {error.strerror}") from error
    session.view.changed_on_disk([new.uri])


def _require_inside(session: Session, new: NewFile) -> None:
    """Refuse a path outside: a repository could bring a link to the user's own folder of agents, whose files are trusted. Raises RequestFailed."""
    path = path_of(new.uri)
    for root in filter(None, map(path_of, session.view.snapshot.places.roots)):
        if path is not None and path.is_relative_to(root):
            real = Path(os.path.realpath(path))
            if not real.is_relative_to(os.path.realpath(root)):
                raise RequestFailed(
                    f"{path} is not written: a link leads out of the workspace, to {real}"
                )


async def have_edited(session: Session, title: str, edit: JsonObject) -> None:
    """Have the client apply an edit. Raises RequestFailed."""
    params = {"label": title, "edit": edit}
    try:
        result = await session.request(types.WORKSPACE_APPLY_EDIT, params)
    except JsonRpcException as error:
        raise RequestFailed(f"the editor did not change the text: {error.message}") from error
    if not result.applied:
        reason = f": {result.failure_reason}" if result.failure_reason else ""
        raise RequestFailed(f"the editor did not change the text{reason}")


def _action(session: Session, params: Any, locations: Locations) -> CodeAction:
    """Return the action that a command names, computed for the current text."""
    document, selection, title = _read(params)
    opened = open_file(session, document)
    if opened is not None:
        where = opened.text_range(selection)
        for action in actions_at(session, opened.file, where, locations):
            is_there = action.finding is None or action.finding.range == where
            if action.title == title and is_there and not action.disabled:
                return action
    raise RequestFailed(f'"{title}" is no longer possible here; ask for code actions again')


def _read(params: Any) -> tuple[types.TextDocumentIdentifier, types.Range, str]:
    """Return the members of a command's argument. Raises JsonRpcInvalidParams."""
    members = params if isinstance(params, dict) else {}
    title = members.get("title")
    try:
        document = structured(
            members.get("textDocument"), types.TextDocumentIdentifier, "textDocument"
        )
        where = structured(members.get("range"), types.Range, "range")
    except MisfitError as error:
        raise JsonRpcInvalidParams(f"{APPLY}: {error}") from error
    if not isinstance(title, str):
        raise JsonRpcInvalidParams(f'{APPLY}: "title" must be a string')
    return document, where, title


async def _carry_out(
    session: Session,
    action: CodeAction,
    files: tuple[NewFile, ...],
    edit: JsonObject | None,
    shown: str,
) -> None:
    """Execute the action, the server's steps first: a text is cut only once it is written elsewhere."""
    for new in files:
        _require_inside(session, new)
        await create_file(session, new)
    if action.secret is not None and action.secret.key:
        await _put_away(session, action.secret)
    elif action.secret is not None:
        await _ask_for_key(session, action.title, action.secret.provider)
    if edit is not None:
        await have_edited(session, action.title, edit)
    if shown:
        show_file(session, shown)


async def _put_away(session: Session, secret: Secret) -> None:
    try:
        environment = session.daemon.environment
        path = await asyncio.to_thread(put_key, environment, secret.provider, secret.key)
    except ConfigError as error:
        raise RequestFailed(str(error)) from error
    message = f"The key of {secret.provider} is in {path} now."
    session.show_message(message, types.MessageType.Info)


async def _ask_for_key(session: Session, title: str, provider: str) -> None:
    """Put the user's cursor where the key belongs. If config.toml is open, its editor is asked to add the place."""
    uri = session.view.snapshot.places.config_file
    file = session.view.snapshot.buffers.get(uri)
    try:
        if file is not None and file.open is not None:
            text = await _edited_config(session, title, provider, file.open.parse.text)
        else:
            await asyncio.to_thread(put_key, session.daemon.environment, provider, "")
            text = session.view.lines(uri).text
    except ConfigError as error:
        raise RequestFailed(str(error)) from error
    place = key_place(text, provider)
    encoding = session.position_encoding
    cursor = lsp_range(place, LineIndex(text), encoding) if place is not None else None
    show_file(session, session.opened.name(uri), cursor)


async def _edited_config(session: Session, title: str, provider: str, before: str) -> str:
    """Return the text of an open config.toml after its editor has added a place for the key."""
    uri = session.view.snapshot.places.config_file
    change = key_change(before, path_of(uri) or Path(uri), provider, "")
    if change is None:
        return before
    await have_edited(session, title, workspace_edit(session, (TextChange(uri, *change),)))
    return spliced(before, [change])
