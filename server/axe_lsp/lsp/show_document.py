"""`window/showDocument`: shows files, and texts without a file, such as a preview.

Clients show files only, so texts are written to the cache, in a folder that only the user can read.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.daemon.uris import uri_of
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, cache_folder

_log = logging.getLogger(__name__)

_SUPPORT = "window.showDocument.support"


def can_show(session: Session) -> bool:
    """Return whether the client shows files when we ask it to."""
    return session.client.supports(_SUPPORT)


def show_file(session: Session, uri: str, selection: types.Range | None = None) -> None:
    """Show a file in an editor, in the background, if the client can do that."""
    if can_show(session):
        session.start(_show(session, uri, selection), name=f"showing {uri}")


def show_text(session: Session, name: str, text: str) -> None:
    """Show a text without a file likewise, in a file of this name."""
    if can_show(session):
        session.start(_show_text(session, name, text), name=f"showing {name}")


@asynccontextmanager
async def text_in_file(session: Session, name: str, text: str) -> AsyncIterator[Path]:
    """Provide a text in a file, for some time, and before the user if the client shows files.

    The focus stays where it is. Raises ConfigError or OSError if it cannot be written.
    """
    path = await asyncio.to_thread(_write, session.daemon.environment, name, text)
    try:
        if can_show(session):
            showing = _show(session, uri_of(path), take_focus=False)
            session.start(showing, name=f"showing {name}")
        yield path
    finally:
        with suppress(OSError):
            path.unlink()


async def _show(
    session: Session, uri: str, selection: types.Range | None = None, *, take_focus: bool = True
) -> None:
    try:
        params = types.ShowDocumentParams(uri, take_focus=take_focus, selection=selection)
        await session.request(types.WINDOW_SHOW_DOCUMENT, params)
    except JsonRpcException as error:
        _log.warning("%s could not be shown: %s", uri, error)


async def _show_text(session: Session, name: str, text: str) -> None:
    try:
        path = await asyncio.to_thread(_write, session.daemon.environment, name, text)
    except (ConfigError, OSError) as error:
        _log.warning("%s could not be shown: %s", name, error)
        return
    await _show(session, uri_of(path))


def _write(environment: Environment, name: str, text: str) -> Path:
    folder = cache_folder(environment) / "shown"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    with open(path, "w", encoding="utf-8", newline="", opener=_for_the_user) as file:
        file.write(text)
    return path


def _for_the_user(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
