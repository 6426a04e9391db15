"""How changes on the disk become known: from the client if it can tell, else by looking."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.places import AGENT_FOLDERS, SUFFIX

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_log = logging.getLogger(__name__)

_CAPABILITY = "workspace.didChangeWatchedFiles"


async def watch(server: AxeServer) -> None:
    """Have the client watch the agent folders, if it offers to; else the daemon does."""
    if server.client.supports(f"{_CAPABILITY}.dynamicRegistration"):
        try:
            await _register(server)
        except JsonRpcException as error:
            _log.warning("the client does not watch files after all: %s", error.message)
        else:
            return
    server.daemon.watch_disk()


async def _register(server: AxeServer) -> None:
    registration = types.Registration(
        id="axe-agents",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options={"watchers": list(_watchers(server))},
    )
    await server.request(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams([registration]))


def _watchers(server: AxeServer) -> list[dict[str, Any]]:
    # A folder is watched beside its files: clients report a folder that goes away as one event.
    patterns = [
        pattern for each in AGENT_FOLDERS for pattern in (f"**{each}/*{SUFFIX}", f"**{each}")
    ]
    watchers: list[dict[str, Any]] = [{"globPattern": pattern} for pattern in patterns]
    outside = [server.daemon.user_folder, *map(Path, server.daemon.settings.agent_paths)]
    relative = server.client.supports(f"{_CAPABILITY}.relativePatternSupport")
    for folder in outside:
        if folder is None or not folder.is_absolute():
            continue
        if relative:
            pattern: Any = {"baseUri": uri_of(folder), "pattern": f"*{SUFFIX}"}
        else:
            pattern = f"{folder.as_posix()}/*{SUFFIX}"
        watchers.append({"globPattern": pattern})
    return watchers
