"""Where commands look for agents, and the workspace in which those work."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.lookup_order import AgentPlaces, Caller
from axe_lsp.agentfile.schema.agent_name import SUFFIX
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import AgentFolders, Lookup, agent_places
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.files.workspace_folders import (
    is_agents_folder,
    workplace,
    workspace_above,
)
from axe_lsp.runtime.safety.reach import is_users


class Whereabouts(Struct, frozen=True):
    """The current folder, the workspace that it belongs to, and the agents that are found from there."""

    folder: Path
    workspace: Path
    places: AgentPlaces
    lookup: Lookup

    @property
    def agents(self) -> AgentFolders:
        """The agents that somebody means who names one here."""
        return self.lookup.seen_from(Caller())

    def workspace_of(self, file: Path) -> Path:
        """The workspace in which an agent works that is run from here.

        That of its file, if it lies in a folder of agents of one. The user's own agents and those of other
        folders work in the current folder, as in axe.
        """
        is_named = file.parent.as_posix() in self.places.first
        folder = self.folder / file.parent
        if is_named or not is_agents_folder(folder) or is_users(file, os.environ):
            return self.folder
        return workplace(folder, (self.workspace,))


def whereabouts(agents_dir: Path | None = None) -> Whereabouts:
    """The whereabouts of this process; `agents_dir` is searched first. Raises ConfigError."""
    folder = working_folder()
    workspace = workspace_above(folder, os.environ)
    places = agent_places([workspace], os.environ, agents_dir)
    return Whereabouts(folder, workspace, places, Lookup(places))


def named_file(text: str, folder: Path) -> Path | None:
    """The agent file that somebody has named instead of an agent; None if it is a name.

    Raises ConfigError if there is no such file.
    """
    if not text.endswith(SUFFIX) or "\0" in text:
        return None
    path = Path(os.path.normpath(folder / text))
    if path.is_file():
        return path
    if os.sep in text or "/" in text:
        raise ConfigError(f"agent file not found: {text}")
    return None


def spellings(folder: str) -> tuple[str, ...]:
    """A folder as runs may have named it: as it is written here, and without links."""
    return tuple(dict.fromkeys(map(str, (Path(folder).absolute(), Path(folder).resolve()))))
