"""How changes on the disk become known: from the client if it can tell, else by looking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.places import AGENT_FOLDERS, SUFFIX

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_CAPABILITY = "workspace.didChangeWatchedFiles"


async def watch(server: AxeServer) -> None:
    """Have the client watch the agent folders, if it offers to; else the daemon does."""
    if not server.client.supports(f"{_CAPABILITY}.dynamicRegistration"):
        server.daemon.watch_disk()
        return
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
