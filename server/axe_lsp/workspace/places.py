"""Which documents are agent files or config.toml, and under which name agents are found.

Places are URIs. An agent is found by the stem of its file (never by its `name` key), in a folder of
agents: `…/axe/agents` or `…/.axe/agents`, the user's own folder, or one that the settings add. Only files
are agents by their place: what editors show at `git:` or `fugitive:` is an old state of one.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property
from urllib.parse import unquote

from msgspec import Struct

from axe_lsp.agentfile.agent_name import SUFFIX

AGENT_FOLDERS = ("/axe/agents", "/.axe/agents")
CONFIG_FILE = "config.toml"
_FILE = "file:"


class Scope(IntEnum):
    """Where an agent lives. A smaller scope is looked in first."""

    WORKSPACE = 0
    USER = 1
    LOOSE = 2
    """In no folder of agents: checked like an agent, but nobody can call it."""


class Place(Struct, frozen=True):
    """What the URI of a document says about the agent in it, or that it is config.toml."""

    uri: str
    folder: str
    stem: str
    scope: Scope
    is_config: bool = False


class Places(Struct, frozen=True, dict=True):
    """How to tell. Folders are URIs without a slash at the end."""

    user_folder: str = ""
    extra_folders: tuple[str, ...] = ()

    def locate(self, uri: str) -> Place:
        """The place of a document, whether or not it is an agent's."""
        folder, _, name = uri.rpartition("/")
        stem = unquote(name).removesuffix(SUFFIX)
        return Place(uri, folder, stem, self._scope(uri, folder, name), uri == self.config_file)

    def is_agent(self, uri: str) -> bool:
        """Whether the document is an agent file by its place alone."""
        folder, _, name = uri.rpartition("/")
        return self._scope(uri, folder, name) is not Scope.LOOSE

    def is_ours(self, uri: str) -> bool:
        """Whether there is something to say about the document, by its place alone."""
        return self.is_agent(uri) or uri == self.config_file

    @cached_property
    def config_file(self) -> str:
        """The user's settings for providers, beside the folder of agents; "" if there is none."""
        return f"{self.user_folder.rpartition('/')[0]}/{CONFIG_FILE}" if self.user_folder else ""

    def _scope(self, uri: str, folder: str, name: str) -> Scope:
        is_named = name.endswith(SUFFIX) and name != SUFFIX  # An agent needs a name.
        if not is_named or not uri.startswith(_FILE) or uri == self.config_file:
            return Scope.LOOSE
        if folder == self.user_folder:
            return Scope.USER
        if folder.endswith(AGENT_FOLDERS) or folder in self.extra_folders:
            return Scope.WORKSPACE
        return Scope.LOOSE
