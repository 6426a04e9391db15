"""`workspace/didChangeWatchedFiles`: changes on the disk.

The client watches the folders of agents if it can. Unless it is known to report what other programs change, the daemon
watches them, too.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.agentfile.dialects import agent_globs, markdown_globs, settings_globs, usual_folders
from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, SUFFIX
from axe_lsp.daemon.project_severities import CHECK_FILE
from axe_lsp.daemon.uris import canonical, uri_of
from axe_lsp.lsp.session import Session
from axe_lsp.workspace.places import CONFIG_FILE

_log = logging.getLogger(__name__)

_CAPABILITY = "workspace.didChangeWatchedFiles"
_SKILLS = "**/SKILL.md"
_CHECK_FILES = [f"**/{folder.rpartition('/')[0]}/{CHECK_FILE}" for folder in AGENT_FOLDERS]


_WATCHERS = (
    *("visual studio code", "code - oss", "vscodium", "code-server", "cursor", "windsurf"),
    *("zed", "neovim", "eglot", "emacs", "intellij", "lsp4ij"),
)
"""How the names of clients begin that report changes which other programs make.

opencode 1.x and Helix to 25.07 register for changes of files as these do, but only report files that they have written.
"""


class WatchedFiles:
    """The folders that one client watches for us. `severities_changed` is called when a project may have set others.

    A folder that the settings add is registered then. One that they remove stays watched: changes in
    it have no effect.
    """

    def __init__(self, session: Session, severities_changed: Callable[[], None]) -> None:
        self._session = session
        self._severities_changed = severities_changed
        self._folders: set[Path] = set()
        self._numbers = itertools.count(1)
        session.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(self._did_change)

    def begin(self) -> None:
        """Have the client watch the agent folders, in the background, or the daemon if it can't."""
        # A folder is watched beside its files: clients report a folder that goes as one event.
        folders = (f"**/{folder}" for folder in usual_folders())
        patterns: list[Any] = [*agent_globs(), *markdown_globs(), *settings_globs(), *folders]
        user_folder = self._session.view.user_folder
        if user_folder is not None:
            patterns += [*self._new([user_folder]), self._pattern(user_folder.parent, CONFIG_FILE)]
        self._start_watching([*patterns, _SKILLS, *_CHECK_FILES])

    def extend(self) -> None:
        """Have the folders watched too that have been added since."""
        if patterns := self._new(()):
            self._start_watching(patterns)

    def _did_change(self, params: types.DidChangeWatchedFilesParams) -> None:
        uris = [canonical(change.uri) for change in params.changes]
        self._session.view.changed_on_disk(uris)
        if any(uri.endswith(f"/{CHECK_FILE}") for uri in uris):
            self._severities_changed()

    def _start_watching(self, patterns: list[Any]) -> None:
        self._session.start(self._watch(patterns), name="registering for changes on the disk")

    def _new(self, folders: Iterable[Path]) -> list[Any]:
        """Return the patterns of `folders` and those of the settings that are not watched yet."""
        new = {*folders, *self._session.view.extra_folders} - self._folders
        self._folders |= new
        return [self._pattern(folder) for folder in sorted(new)]

    def _pattern(self, folder: Path, files: str = f"*{SUFFIX}") -> Any:
        if self._session.client.supports(f"{_CAPABILITY}.relativePatternSupport"):
            return {"baseUri": uri_of(folder), "pattern": files}
        return f"{folder.as_posix()}/{files}"

    async def _watch(self, patterns: list[Any]) -> None:
        if not (await self._is_registered(patterns) and self._reports_other_programs):
            self._session.view.watch_disk()

    @property
    def _reports_other_programs(self) -> bool:
        """Whether the client is known to report changes which other programs make."""
        return self._session.client.name.casefold().startswith(_WATCHERS)

    async def _is_registered(self, patterns: list[Any]) -> bool:
        """Register for changes of files; return whether the client takes the registration."""
        if not self._session.client.supports(f"{_CAPABILITY}.dynamicRegistration"):
            return False
        try:
            await self._register(patterns)
        except JsonRpcException as error:
            _log.warning("the client refused to watch files: %s", error.message)
            return False
        return True

    async def _register(self, patterns: list[Any]) -> None:
        registration = types.Registration(
            id=f"axe-agents-{next(self._numbers)}",
            method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            register_options={"watchers": [{"globPattern": each} for each in patterns]},
        )
        params = types.RegistrationParams([registration])
        await self._session.request(types.CLIENT_REGISTER_CAPABILITY, params)
