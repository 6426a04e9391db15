"""The file that the name of an agent means: the order in which folders are searched for `<name>.toml`.

The editor, `check`, the command line, the run host and the graph all use this order. Axe's own rule is
part of it: `--agents-dir`, then `axe/agents` of the working directory, then the user's folder. What is
added to it never hides what axe finds, except agents beside the calling file. A file in a repository of its own
below a workspace folder (a submodule, a clone, a worktree) does not name the agents of other repositories, nor do
files of those name its agents.

A folder is a text without a slash at its end, with `/` between its parts: a path, or a `file:` URI.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import unquote

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted

SUFFIX = ".toml"
"""The suffix of an agent's file. The rest of the file's name is the name by which the agent is found."""

AGENT_FOLDERS = ("axe/agents", ".axe/agents")
"""Where a workspace keeps its agents."""

TEST_FOLDERS = ("axe/tests", ".axe/tests")
"""Where a workspace keeps the tests of its agents."""


def objection(name: str) -> str | None:
    """Return why no agent can have this name: it is blank, or would leave the folder of agents. The texts are axe's own."""
    if not name.strip():
        return "agent name must not be empty"
    if "/" in name or "\\" in name or ".." in name or "\0" in name:
        return f"agent name {quoted(name)} must not contain path separators or traversal sequences"
    return None


class Caller(Struct, frozen=True):
    """The file that names an agent.

    `folder` holds the file that names it, and is "" for a name that a person gives. `base` is the
    working directory that the file or the command line names, and is "" if neither names one.
    `dialect` is that of the file, "" for axe's own. A file of another dialect names agents of its dialect only.
    """

    folder: str = ""
    base: str = ""
    dialect: str = ""


class AgentPlaces(Struct, frozen=True):
    """The folders of agents that are known without a search.

    `first` are searched before all others (`--agents-dir`). `roots` are the workspace folders, `extra`
    the folders of the setting `axe.agentPaths`, and `user` is the user's own folder, or "".
    `homes` are the folders of the user's configuration of other dialects, each with the dialect's name. Of several of one
    dialect all but the first win over a project, the last one over the others.
    """

    first: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    user: str = ""
    homes: tuple[tuple[str, str], ...] = ()

    def users(self, dialect: str) -> tuple[str, ...]:
        """Return all folders of the user's configuration of a dialect, those that win over a project last."""
        return tuple(folder for name, folder in self.homes if name == dialect)


@lru_cache(maxsize=256)
def near_folders(caller: Caller, places: AgentPlaces) -> tuple[str, ...]:
    """Return the folders that are searched first, in their order. Not all of them need exist.

    Other folders of agents come after them, as `by_distance` orders them.
    """
    bases = [caller.base] if caller.base else []
    own = [caller.folder] if caller.folder not in ("", places.user) else []
    home = root_of(caller.folder, places.roots)
    roots = sorted(places.roots, key=lambda root: root != home)
    user = [places.user] if places.user else []
    folders = (*_below(bases), *own, *_below(roots), *places.extra)
    others = (each for each in folders if each != places.user)
    return tuple(dict.fromkeys((*places.first, *others, *user)))


def is_reachable(
    folder: str, caller: Caller, places: AgentPlaces, repository_of: Callable[[str], str]
) -> bool:
    """Return whether a caller's file may name the agents in `folder`.

    `repository_of` gives the nested repository of a folder (`nested_repository`). Folders that settings, options
    or a working directory name are reachable from everywhere.
    """
    named = {*places.first, *places.extra, places.user}
    if not caller.folder or folder in named or (caller.base and folder in _below([caller.base])):
        return True
    own = "" if caller.folder in named else repository_of(caller.folder)
    return repository_of(folder) == own


def nested_repository(repository: str, roots: Sequence[str]) -> str:
    """Return a repository if it lies below or beside the workspace folders, "" if it holds one of them or is one."""
    return "" if any(root_of(root, [repository]) for root in roots) else repository


def by_distance(folder: str) -> tuple[int, list[str], str]:
    """Return the sort key of all other agent folders: folders near the top first, then by name."""
    kind = next((each for each in AGENT_FOLDERS if folder.endswith(f"/{each}")), "")
    parent = folder.removesuffix(kind).rstrip("/")
    parts = (
        [unquote(part) for part in parent.split("/")]
        if parent.startswith("file:")
        else parent.split("/")
    )
    return len(parts), parts, "" if kind == AGENT_FOLDERS[0] else folder


def precedence(folder: str, caller: Caller, places: AgentPlaces) -> tuple[int, tuple[object, ...]]:
    """Return the sort key of the folders that define a name; the smallest is used."""
    near = near_folders(caller, places)
    if folder in near:
        return near.index(folder), ()
    return len(near), by_distance(folder)


def layers_of(
    caller: Caller, places: AgentPlaces, inside: str, *, is_recursive: bool
) -> tuple[str, ...]:
    """Return the folders named `inside` (`.codex`) that count for a caller, the one that wins last.

    The user's own come first, then that of the folder in which the caller works. With `is_recursive` those
    of the workspace folder and of each folder between the two count as well.
    """
    users = places.users(caller.dialect)
    is_users = any(_is_in(caller.folder, each) for each in users)
    above = _project_of(caller.folder, inside, places) if not is_users else ""
    start = caller.base or above or next(iter(places.roots), "")
    folders = [start]
    if is_recursive:
        root = root_of(start, places.roots) or start
        folders = [root]
        for part in start[len(root) :].split("/")[1:]:
            folders.append(f"{folders[-1]}/{part}")
    # The strongest of the user's stands next to the weakest, as the outermost folder of a project would.
    return tuple(
        dict.fromkeys(
            (*users[:1], *users[:0:-1], *(f"{each}/{inside}" for each in folders if each))
        )
    )


def layers_for_axe(
    caller: Caller,
    places: AgentPlaces,
    inside: str,
    repository_of: Callable[[str], str],
    *,
    is_recursive: bool,
) -> tuple[str, ...]:
    """Return the `layers_of` a program, the dialect of `caller`, whose agents a file of axe may name."""
    start = f"{caller.base}/{inside}" if caller.base else ""
    always = (*places.users(caller.dialect), start)
    named = {*places.first, *places.extra, places.user}
    own = "" if caller.folder in named else repository_of(caller.folder)
    layers = layers_of(caller, places, inside, is_recursive=is_recursive)
    return tuple(each for each in layers if each in always or repository_of(each) == own)


def _project_of(folder: str, inside: str, places: AgentPlaces) -> str:
    """Return the folder with the layer, or with the agents of axe, in which a file lies; "" for those that settings name."""
    if folder in (*places.first, *places.extra, places.user):
        return ""
    above = folder.partition(f"/{inside}/")[0]
    ending = next((f"/{each}" for each in AGENT_FOLDERS if above.endswith(f"/{each}")), "")
    return above.removesuffix(ending)


def _is_in(folder: str, outer: str) -> bool:
    return bool(outer) and (folder == outer or folder.startswith(f"{outer}/"))


def root_of(folder: str, roots: Sequence[str]) -> str:
    """Return the first workspace folder that holds a folder, or ""."""
    return next((root for root in roots if folder == root or folder.startswith(f"{root}/")), "")


def _below(bases: Sequence[str]) -> list[str]:
    return [f"{base}/{each}" for base in bases for each in AGENT_FOLDERS]
