"""How changes on the disk become known: from the client if it can tell, else by looking."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.agentfile.agent_name import SUFFIX
from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.places import AGENT_FOLDERS, CONFIG_FILE

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_log = logging.getLogger(__name__)

_CAPABILITY = "workspace.didChangeWatchedFiles"
_SKILLS = "**/SKILL.md"


class Watching:
    """What one client watches for us.

    A folder that the settings add is registered when they do. One that they take away goes on being
    watched, since what happens in it is nobody's news.
    """

    def __init__(self, server: AxeServer) -> None:
        self._server = server
        self._folders: set[Path] = set()
        self._numbers = itertools.count(1)

    async def begin(self) -> None:
        """Have the client watch the agent folders, if it offers to; else the daemon does."""
        # A folder is watched beside its files: clients report a folder that goes as one event.
        patterns = [
            pattern for each in AGENT_FOLDERS for pattern in (f"**{each}/*{SUFFIX}", f"**{each}")
        ]
        user_folder = self._server.view.user_folder
        if user_folder is not None:
            patterns += [*self._new([user_folder]), self._pattern(user_folder.parent, CONFIG_FILE)]
        await self._watch([*patterns, _SKILLS])

    async def extend(self) -> None:
        """Have it watch the folders that have been added since, too."""
        if patterns := self._new(()):
            await self._watch(patterns)

    def _new(self, folders: Iterable[Path]) -> list[Any]:
        """The patterns of `folders` and those of the settings that are not watched yet."""
        new = {*folders, *self._server.view.extra_folders} - self._folders
        self._folders |= new
        return [self._pattern(folder) for folder in sorted(new)]

    def _pattern(self, folder: Path, files: str = f"*{SUFFIX}") -> Any:
        if self._server.client.supports(f"{_CAPABILITY}.relativePatternSupport"):
            return {"baseUri": uri_of(folder), "pattern": files}
        return f"{folder.as_posix()}/{files}"

    async def _watch(self, patterns: list[Any]) -> None:
        if self._server.client.supports(f"{_CAPABILITY}.dynamicRegistration"):
            try:
                await self._register(patterns)
            except JsonRpcException as error:
                _log.warning("the client does not watch files after all: %s", error.message)
            else:
                return
        self._server.view.watch_disk()

    async def _register(self, patterns: list[Any]) -> None:
        registration = types.Registration(
            id=f"axe-agents-{next(self._numbers)}",
            method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            register_options={"watchers": [{"globPattern": each} for each in patterns]},
        )
        params = types.RegistrationParams([registration])
        await self._server.request(types.CLIENT_REGISTER_CAPABILITY, params)
