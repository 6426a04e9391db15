"""Which documents are agent files or config.toml, and under which name agents are found.

Places are URIs. An agent is found by the stem of its file (never by its `name` key), in a folder of
agents: `…/axe/agents` or `…/.axe/agents`, the user's own folder, or one that the settings add. Only files
are agents by their place: what editors show at `git:` or `fugitive:` is an old state of one.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property
from urllib.parse import quote, unquote

from msgspec import Struct

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, AgentPlaces, Caller, precedence, root_of
from axe_lsp.agentfile.schema.agent_name import SUFFIX

CONFIG_FILE = "config.toml"
_FILE = "file:"
_ENDINGS = tuple(f"/{each}" for each in AGENT_FOLDERS)


class Scope(IntEnum):
    """Where an agent lives. A smaller scope is looked in first."""

    WORKSPACE = 0
    USER = 1
    LOOSE = 2
    """In no folder of agents: checked like an agent, but nobody can call it."""


class Place(Struct, frozen=True):
    """The kind of a document by its URI: the agent in it, or config.toml."""

    uri: str
    folder: str
    stem: str
    scope: Scope
    is_config: bool = False


class Places(Struct, frozen=True, dict=True):
    """How to tell. Folders are URIs without a slash at the end."""

    user_folder: str = ""
    extra_folders: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()

    @cached_property
    def known(self) -> AgentPlaces:
        """The folders that determine the lookup order of names."""
        return AgentPlaces((), self.roots, self.extra_folders, self.user_folder)

    def caller(self, place: Place, workdir: str) -> Caller:
        """An agent file that names others, and its own `workdir`.

        A `~` or a variable in it is not followed here, since that needs the environment.
        """
        if not workdir or "$" in workdir or workdir.startswith("~"):
            return Caller(place.folder)
        root = root_of(place.folder, self.roots) or next(iter(self.roots), "")
        return Caller(place.folder, _joined(root, workdir))

    def precedence(self, place: Place, caller: Caller) -> tuple[object, ...]:
        """The sort key of files of one name; the smallest is used."""
        return (*precedence(place.folder, caller, self.known), place.uri)

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
        if folder.endswith(_ENDINGS) or folder in self.extra_folders:
            return Scope.WORKSPACE
        return Scope.LOOSE


def _joined(root: str, path: str) -> str:
    """The URI of a path that starts at a folder, `..` worked out; "" if the folder is not known."""
    start = "file://" if path.startswith("/") else root
    if not start:
        return ""
    scheme, _, rest = start.partition("://")
    parts: list[str] = []
    for part in [*rest.split("/"), *map(quote, path.split("/"))]:
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return f"{scheme}:///{'/'.join(parts)}"
