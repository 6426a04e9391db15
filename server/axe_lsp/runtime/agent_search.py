"""The folders in which agents are searched from a folder, and the workspace in which they work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, SUFFIX, AgentPlaces, Caller
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import AgentFolders, Lookup, agent_places
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.files.workspace_folders import (
    is_agents_folder,
    workplace,
    workspace_above,
)
from axe_lsp.runtime.plain_text import shown_path
from axe_lsp.runtime.safety.reach import is_users


class AgentSearch(Struct, frozen=True):
    """The current folder, its workspace, and the agents that are found from there."""

    folder: Path
    workspace: Path
    places: AgentPlaces
    lookup: Lookup

    @property
    def agents(self) -> AgentFolders:
        """The agents that can be named here."""
        return self.lookup.seen_from(Caller())

    def workspace_of(self, file: Path) -> Path:
        """Return the workspace in which an agent works that is run from here.

        That of its file, if it lies in a folder of agents of one. The user's own agents and those of other
        folders work in the folder, as in axe.
        """
        is_named = file.parent.as_posix() in self.places.first
        folder = self.folder / file.parent
        if is_named or not is_agents_folder(folder) or is_users(file, os.environ):
            return self.folder
        return workplace(folder, (self.workspace,))


def agent_search_in(folder: Path, agents_dir: Path | None = None) -> AgentSearch:
    """Return the search for agents from `folder`; `agents_dir` is searched first. Raises ConfigError."""
    workspace = workspace_above(folder, os.environ)
    places = agent_places([workspace], os.environ, agents_dir)
    return AgentSearch(folder, workspace, places, Lookup(places))


def agent_search(agents_dir: Path | None = None) -> AgentSearch:
    """Return the search for agents from the folder of this process; `agents_dir` is searched first. Raises ConfigError."""
    return agent_search_in(working_folder(), agents_dir)


def project_agents_folder() -> Path | None:
    """Return the folder of agents of the current project, if it has one."""
    workspace = workspace_above(working_folder(), os.environ)
    return next((folder for each in AGENT_FOLDERS if (folder := workspace / each).is_dir()), None)


def named_file(text: str, folder: Path) -> Path | None:
    """Return the agent file whose path was given instead of a name; None if it is a name.

    Raises ConfigError if there is no such file.
    """
    if not text.endswith((SUFFIX, ".md")) or "\0" in text:
        return None
    path = Path(os.path.normpath(folder / text))
    if path.is_file():
        return path
    if os.sep in text or "/" in text:
        raise ConfigError(f"agent file not found: {text}")
    return None


def ways_to_agents(folders: Iterable[Path]) -> str:
    """Return what to do in folders without agents: convert those of other programs in Markdown, or create one."""
    import shlex

    from axe_lsp.agentfile.convert.conversion import FORMATS

    markdown = [each.folder for each in FORMATS.values() if each.is_markdown]
    found = dict.fromkeys(
        top / each for top in folders for each in markdown if (top / each).is_dir()
    )
    if found:
        named = shlex.join(map(shown_path, found))
        return f"`axe-lsp import {named}` converts the agents there."
    return "`axe-lsp init` creates an agent."


def spellings(folder: str) -> tuple[str, ...]:
    """Return a folder as runs may have named it: as it is written here, and without links."""
    return tuple(dict.fromkeys(map(str, (Path(folder).absolute(), Path(folder).resolve()))))
