"""The folders in which agents are searched from a folder, and the workspace in which they work."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.lookup_order import AgentPlaces, Caller
from axe_lsp.runtime.files.agent_files import AgentFolders, Lookup, agent_places
from axe_lsp.runtime.files.workspace_folders import (
    is_agents_folder,
    workplace,
    workspace_above,
)
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
        """The workspace in which an agent works that is run from here.

        That of its file, if it lies in a folder of agents of one. The user's own agents and those of other
        folders work in the folder, as in axe.
        """
        is_named = file.parent.as_posix() in self.places.first
        folder = self.folder / file.parent
        if is_named or not is_agents_folder(folder) or is_users(file, os.environ):
            return self.folder
        return workplace(folder, (self.workspace,))


def agent_search_in(folder: Path, agents_dir: Path | None = None) -> AgentSearch:
    """The search for agents from `folder`; `agents_dir` is searched first. Raises ConfigError."""
    workspace = workspace_above(folder, os.environ)
    places = agent_places([workspace], os.environ, agents_dir)
    return AgentSearch(folder, workspace, places, Lookup(places))
