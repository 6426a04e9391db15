"""Files, and texts that are in no file of the user's, such as a preview, in front of the user.

Texts are written to the cache, in a folder that only the user may look into, since clients show files.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.daemon.uris import uri_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, cache_folder

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_log = logging.getLogger(__name__)

_SUPPORT = "window.showDocument.support"


def can_show(server: AxeServer) -> bool:
    """Whether the client shows files when we ask it to."""
    return server.client.supports(_SUPPORT)


def show_file(server: AxeServer, uri: str, selection: types.Range | None = None) -> None:
    """Show a file in an editor, in the background, if the client can do that."""
    if can_show(server):
        server.start(_show(server, uri, selection), name=f"showing {uri}")


def show_text(server: AxeServer, name: str, text: str) -> None:
    """The same for a text that is in no file, under a file's name."""
    if can_show(server):
        server.start(_show_text(server, name, text), name=f"showing {name}")


async def _show(server: AxeServer, uri: str, selection: types.Range | None = None) -> None:
    try:
        params = types.ShowDocumentParams(uri, take_focus=True, selection=selection)
        await server.request(types.WINDOW_SHOW_DOCUMENT, params)
    except JsonRpcException as error:
        _log.warning("%s could not be shown: %s", uri, error)


async def _show_text(server: AxeServer, name: str, text: str) -> None:
    try:
        path = await asyncio.to_thread(_write, server.daemon.environment, name, text)
    except (ConfigError, OSError) as error:
        _log.warning("%s could not be shown: %s", name, error)
        return
    await _show(server, uri_of(path))


def _write(environment: Environment, name: str, text: str) -> Path:
    folder = cache_folder(environment) / "shown"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path
