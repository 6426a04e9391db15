"""The documents that are agent files or config.toml, and the names under which agents are found.

Places are URIs. An agent is found by the stem of its file (never by its `name` key), in a folder of
agents: `…/axe/agents` or `…/.axe/agents`, the user's own folder, or one that the settings add. Files of other
dialects lie in layers, such as `…/.codex`. Only files
are agents by their place: what editors show at `git:` or `fugitive:` is an old state of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from functools import cached_property, lru_cache
from urllib.parse import quote, unquote

from msgspec import Struct

from axe_lsp.agentfile.dialects import (
    AGENT_TESTS,
    AXE,
    LAYERED,
    Dialect,
    FileKind,
    dialect_of,
)
from axe_lsp.agentfile.lookup_order import (
    AGENT_FOLDERS,
    SUFFIX,
    TEST_FOLDERS,
    AgentPlaces,
    Caller,
    is_reachable,
    precedence,
    root_of,
)
from axe_lsp.agentfile.other_programs import OPENCODE, SETTINGS_FILE, Program, stem_of

CONFIG_FILE = SETTINGS_FILE
_FILE = "file:"
_SUFFIXES = tuple({SUFFIX, *(each.suffix for each in LAYERED)})
_ENDINGS = tuple(f"/{each}" for each in AGENT_FOLDERS)
_TEST_ENDINGS = tuple(f"/{each}" for each in TEST_FOLDERS)


class Scope(IntEnum):
    """Where an agent lives. A smaller scope is looked in first."""

    WORKSPACE = 0
    USER = 1
    LOOSE = 2
    """In no folder of agents: checked like an agent, but nobody can call it."""


class Place(Struct, frozen=True):
    """The kind of a document by its URI: the agent in it, or config.toml.

    `layer` is the folder of its program that it lies in, for dialects with layers; of tests their own folder. Of the user's
    layers those with a `strength` win over a project, the strongest over the others.
    """

    uri: str
    folder: str
    stem: str
    scope: Scope
    kind: FileKind = AXE.agent
    layer: str = ""
    strength: int = 0

    @property
    def dialect(self) -> Dialect:
        """The dialect of the file."""
        return dialect_of(self.kind)

    @property
    def suffix(self) -> str:
        """The ending of the file's name."""
        program = self.dialect.program
        return program.suffix if program is not None else SUFFIX

    @property
    def unit(self) -> str:
        """The folder by which its project is known: the layer, or the folder of axe's agents."""
        return self.layer or self.folder

    @property
    def project(self) -> str:
        """The folder that holds the layer or the folder of axe's agents; "" for the user's own."""
        if self.scope is Scope.USER:
            return ""
        if self.layer:
            return self.layer.rpartition("/")[0]
        ending = next((each for each in _ENDINGS if self.folder.endswith(each)), "")
        return self.folder.removesuffix(ending)

    @property
    def name_by_path(self) -> str:
        """The name of an agent by the path of its file: `review`, or for opencode `team/review`."""
        program = self.dialect.program
        if program is not OPENCODE:
            return stem_of(f"{self.stem}.md")
        below = unquote(self.folder).removeprefix(f"{unquote(self.layer)}/")
        folders = program.folders if program is not None else ()
        inside = next(
            (below[len(each) + 1 :] for each in folders if f"{below}/".startswith(f"{each}/")), ""
        )
        return f"{inside}/{self.stem}" if inside else self.stem

    @property
    def holds_agent(self) -> bool:
        """Whether it is an agent that others can find: neither settings nor tests, and in a folder of agents."""
        return self.kind.is_agent and self.scope is not Scope.LOOSE


class Places(Struct, frozen=True, dict=True):
    """How to tell. Folders are URIs without a slash at the end.

    `homes` are the user's own layers, each with the name of its program (`AgentPlaces.homes`), `declared` the files outside the usual
    folders that a program's settings name as agents, each with the layer of these settings.
    """

    user_folder: str = ""
    extra_folders: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    homes: tuple[tuple[str, str], ...] = ()
    declared: Mapping[str, str] = {}

    @cached_property
    def _users(self) -> Mapping[Program, tuple[str, ...]]:
        """The user's own layers of each program, the weakest first."""
        return {each: each.homes_in(self.homes) for each in LAYERED}

    @cached_property
    def users(self) -> frozenset[str]:
        """The user's own layers of all programs."""
        return frozenset(layer for _, layer in self.homes)

    @cached_property
    def known(self) -> AgentPlaces:
        """The folders that determine the lookup order of names."""
        return AgentPlaces((), self.roots, self.extra_folders, self.user_folder, self.homes)

    def caller(self, place: Place, workdir: str) -> Caller:
        """Return an agent file that names others, and its own `workdir`.

        A `~` or a variable in it is not followed here, since that needs the environment.
        """
        if place.dialect is AGENT_TESTS:  # Tests mean the agents of their project.
            return Caller(base=place.folder.rpartition("/")[0].rpartition("/")[0])
        if not workdir or "$" in workdir or workdir.startswith("~"):
            return Caller(place.folder)
        root = root_of(place.folder, self.roots) or next(iter(self.roots), "")
        return Caller(place.folder, joined(root, workdir))

    def is_reachable(
        self, place: Place, caller: Caller, repository_of: Callable[[str], str]
    ) -> bool:
        """Return whether a caller's file may name the agent at a place, which may lie in another repository."""
        return is_reachable(place.folder, caller, self.known, repository_of)

    def precedence(self, place: Place, caller: Caller) -> tuple[object, ...]:
        """Return the sort key of files of one name; the smallest is used."""
        return (*precedence(place.folder, caller, self.known), place.uri)

    def locate(self, uri: str) -> Place:
        """Return the place of a document, whether or not it is an agent's."""
        folder, _, name = uri.rpartition("/")
        stem = unquote(name).removesuffix(SUFFIX)
        scope = self._scope(uri, folder, name)
        if uri == self.config_file:
            return Place(uri, folder, stem, scope, AXE.config)
        if scope is Scope.LOOSE:
            return self._in_layer(uri, folder, name, stem) or Place(uri, folder, stem, scope)
        return Place(uri, folder, stem, scope)

    def is_agent(self, uri: str) -> bool:
        """Return whether the document is an agent file by its place alone, or the settings of a layer."""
        folder, _, name = uri.rpartition("/")
        is_axe = self._scope(uri, folder, name) is not Scope.LOOSE
        return is_axe or self._in_layer(uri, folder, name, "") is not None

    def is_ours(self, uri: str) -> bool:
        """Return whether there is something to say about the document, by its place alone."""
        return self.is_agent(uri) or uri == self.config_file

    def is_in_layer(self, folder: str) -> bool:
        """Return whether a folder is a layer of another dialect, or in one, or holds tests."""
        if folder.endswith(_TEST_ENDINGS):
            return True
        return any(layer_of(f"{folder}/", each, self._users[each]) for each in LAYERED)

    def _in_layer(self, uri: str, folder: str, name: str, stem: str) -> Place | None:
        """Return the place of a file of a dialect with layers."""
        if not name.endswith(_SUFFIXES) or not uri.startswith(_FILE):
            return None
        if folder.endswith(_TEST_ENDINGS) and name.endswith(SUFFIX):
            return Place(uri, folder, stem, Scope.WORKSPACE, AGENT_TESTS.agent, folder)
        for program, dialect in LAYERED.items():
            users = self._users[program]
            named_by = self.declared.get(uri, "")
            is_declared = bool(named_by) and (
                named_by.endswith(f"/{program.layer}") or named_by in users
            )
            layer = named_by if is_declared else layer_of(uri, program, users)
            if not layer:
                continue
            scope = Scope.USER if layer in users else Scope.WORKSPACE
            below = folder.removeprefix(layer).removeprefix("/")
            if program.settings and name == program.settings and folder == layer:
                users_own = dialect.user_config if scope is Scope.USER else None
                return Place(uri, folder, stem, scope, users_own or dialect.config, layer)
            if not program.is_agent_file(name):
                continue
            if is_declared or program.has_agents_in(below):
                stem = unquote(name).removesuffix(program.suffix)
                strength = users.index(layer) if layer in users else 0
                return Place(uri, folder, stem, scope, dialect.agent, layer, strength)
        return None

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
        is_added = folder in self.extra_folders and uri not in self.declared
        if folder.endswith(_ENDINGS) or is_added:
            return Scope.WORKSPACE
        return Scope.LOOSE


def layer_of(uri: str, program: Program, users: Iterable[str] = ()) -> str:
    """Return the folder of a program that a file lies in, one of the `users` or the outermost one; "" if it lies in none."""
    for home in users:
        if uri.startswith(f"{home}/"):
            return home
    found = uri.find(f"/{program.layer}/")
    return uri[: found + len(program.layer) + 1] if found >= 0 else ""


@lru_cache(maxsize=4096)  # Each keystroke asks for all that a file of settings names.
def joined(root: str, path: str) -> str:
    """Return the URI of a path that starts at a folder, `..` worked out; "" if the folder is not known."""
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
