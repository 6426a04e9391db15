"""Which documents are agent files, and under which name they are found.

Places are URIs. An agent is found by the stem of its file (never by its `name` key), in a folder of
agents: `…/axe/agents` or `…/.axe/agents`, the user's own folder, or one that the settings add.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import unquote

from axe_lsp.agentfile.agent_name import SUFFIX

AGENT_FOLDERS = ("/axe/agents", "/.axe/agents")
BUILT_IN_TYPES = ("explore", "plan", "code")
"""Agents that need no file, as targets of the `Task` tool."""


class Scope(IntEnum):
    """Where an agent lives. A smaller scope is looked in first."""

    WORKSPACE = 0
    USER = 1
    LOOSE = 2
    """In no folder of agents: checked like an agent, but nobody can call it."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the URI of a document says about the agent in it."""

    uri: str
    folder: str
    stem: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Places:
    """How to tell. Folders are URIs without a slash at the end."""

    user_folder: str = ""
    extra_folders: tuple[str, ...] = ()

    def locate(self, uri: str) -> Place:
        """The place of a document, whether or not it is an agent's."""
        folder, _, name = uri.rpartition("/")
        stem = unquote(name).removesuffix(SUFFIX)
        return Place(uri, folder, stem, self._scope(folder, name))

    def is_agent(self, uri: str) -> bool:
        """Whether the document is an agent file by its place alone."""
        return self.locate(uri).scope is not Scope.LOOSE

    def _scope(self, folder: str, name: str) -> Scope:
        if not name.endswith(SUFFIX) or name == SUFFIX:  # An agent needs a name.
            return Scope.LOOSE
        if folder == self.user_folder:
            return Scope.USER
        if folder.endswith(AGENT_FOLDERS) or folder in self.extra_folders:
            return Scope.WORKSPACE
        return Scope.LOOSE
