"""The workspace of an agent file, and the folders of agents in it. Everything here may block."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import islice
from pathlib import Path

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, TEST_FOLDERS
from axe_lsp.agentfile.other_programs import AGENTS, PROGRAMS, Program
from axe_lsp.agentfile.other_programs import project_of as project_of_program
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import (
    Environment,
    config_folder,
    homes_of_dialects,
    working_folder,
)
from axe_lsp.runtime.files.regular_files import is_folder

GIT = ".git"
"""The marker of a repository: a folder, or in submodules and worktrees a file."""

MOST_FOLDERS = 100_000
"""Folders that a search for agents looks into; it ends after them. Nearer ones come first."""

_ENDINGS = tuple(f"/{each}" for each in AGENT_FOLDERS)
_ALL_FOLDERS = (*AGENT_FOLDERS, *(folder for each in PROGRAMS for folder in each.agents))
_MAX_DEPTH = 12
_NEVER_ENTERED = frozenset(
    ["node_modules", "__pycache__", "site-packages", "target", "dist", "build", "venv"]
)


def workplace(
    folder: Path | None, roots: Sequence[Path], user_folders: Sequence[Path] = ()
) -> Path:
    """Return the workspace of the agents in `folder`: the root that holds it, else its project.

    The user's own agents, and those without a folder, belong to the first root, else to the current
    folder. Raises ConfigError if that has been deleted.
    """
    for root in roots:
        if folder is not None and (root == folder or root in folder.parents):
            return root
    if folder is not None and not any(each in (folder, *folder.parents) for each in user_folders):
        return project_of(folder)
    return next(iter(roots), None) or working_folder()


def workspace_above(folder: Path, environment: Environment) -> Path:
    """Return the workspace of a process in `folder`: the nearest folder from there upwards with agents.

    If there is none, `folder` itself. The search ends at the top of a repository, below the home folder,
    and where agents belong to another user of the machine, who could put them there for others.
    """
    home = environment.get("HOME") or environment.get("USERPROFILE")
    for each in (folder, *folder.parents):
        if each != folder and (str(each) == home or each == each.parent):
            break
        if _holds_agents(each, environment, is_own=each == folder):
            return each
        if os.path.lexists(each / GIT):
            break
    return folder


def is_agents_folder(folder: Path) -> bool:
    """Return whether agents are found in a folder of this name."""
    name = folder.as_posix()
    return name.endswith(_ENDINGS) or project_of_program(name) is not None


def project_of_tests(folder: Path) -> Path | None:
    """Return the project whose tests a folder holds, None if its name is not that of a folder of tests."""
    is_one = folder.as_posix().endswith(tuple(f"/{each}" for each in TEST_FOLDERS))
    return folder.parent.parent if is_one else None


def project_of(folder: Path) -> Path:
    """Return the project whose agents a folder holds; the folder itself if its name is not that of one."""
    name = folder.as_posix()
    if name.endswith(_ENDINGS):
        return folder.parent.parent
    project = project_of_program(name)
    return Path(project or "/") if project is not None else folder


def project_root(folder: Path, markers: Sequence[str] = (GIT,)) -> Path | None:
    """Return the nearest folder from `folder` upwards that has a marker, None if none has.

    A `.git` folder counts with its `HEAD` only, while a `.git` file, as in submodules and worktrees, always does (Codex
    0.171).
    """
    for each in (folder, *folder.parents):
        if any(is_marked(each, marker) for marker in markers):
            return each
    return None


def is_marked(folder: Path, marker: str = GIT) -> bool:
    """Return whether a folder has a marker of the root of a project."""
    path = folder / marker
    if marker != GIT:
        return os.path.lexists(path)
    return path.is_file() or (path / "HEAD").is_file()


def agent_folders_below(root: Path, others: Sequence[Program] = ()) -> Iterator[Path]:
    """Yield the folders of axe's agents in a workspace folder, near ones first, and those of `others`.

    Hidden folders other than `.axe` and the layers of `others`, folders of dependencies and linked folders
    are not entered. The root of a file system is not searched below its own agent folders, which would take minutes.
    """
    layers: dict[str, list[Program]] = {}
    for program in others:
        layers.setdefault(program.layer, []).append(program)
    level, looked_into = [root], 0
    for _ in range(1 if root == root.parent else _MAX_DEPTH):
        below: list[Path] = []
        for folder in level:
            looked_into += 1
            if looked_into > MOST_FOLDERS:
                return
            yield from (found for each in AGENT_FOLDERS if is_folder(found := folder / each))
            for each in _folders_in(folder, layers):
                if each.name in layers:
                    found_in = (folders_of_layer(each, program) for program in layers[each.name])
                    yield from dict.fromkeys(folder for folders in found_in for folder in folders)
                else:
                    below.append(each)
        level = below


def files_below(folder: Path, *suffixes: str) -> Iterator[Path]:
    """Yield the files in a folder and below it, where agents are searched: not in hidden folders or dependencies."""
    most = 1 if folder == folder.parent else MOST_FOLDERS
    for place, folders, names in islice(os.walk(folder), most):
        folders[:] = sorted(filter(_is_entered, folders))
        wanted = sorted(name for name in names if name.endswith(suffixes))
        yield from (path for name in wanted if (path := Path(place, name)).is_file())


def folders_below(folder: Path) -> Iterator[Path]:
    """Yield the folders below a folder, near ones first, without hidden ones and those of dependencies."""
    level = [folder]
    for _ in range(0 if folder == folder.parent else _MAX_DEPTH):
        below: list[Path] = []
        for outer in level:
            inner = _folders_in(outer)
            yield from inner
            below += inner
        level = below


def folders_of_layer(layer: Path, program: Program) -> Iterator[Path]:
    """Yield the folder of a program itself, which has its settings, and those in it that hold agents.

    Hidden and linked folders count (Codex 0.169).
    """
    if program.settings:
        yield layer
    level = [layer / each for each in program.folders]
    seen: set[str] = set()
    for _ in range(_MAX_DEPTH if program.is_recursive else 1):
        below: list[Path] = []
        for folder in filter(is_folder, level):
            real = os.path.realpath(folder)
            if real in seen or len(seen) > MOST_FOLDERS:  # A link may lead back.
                continue
            seen.add(real)
            yield folder
            below.extend(_those_in(folder, os.DirEntry.is_dir))
        level = below


def is_entered(folder: Path, root: Path) -> bool:
    """Return whether a search below `root` gets as far as `folder`."""
    if root != folder and root not in folder.parents:
        return False
    return all(map(_is_entered, folder.relative_to(root).parts))


def _holds_agents(folder: Path, environment: Environment, *, is_own: bool) -> bool:
    for each in _ALL_FOLDERS:
        found = folder / each
        if is_folder(found) and not _is_users_folder(found, environment):
            return is_own or _belongs_to_user(found)
    return False


def _is_users_folder(folder: Path, environment: Environment) -> bool:
    try:
        homes = [Path(home) for _, home in homes_of_dialects(environment)]
        if folder == config_folder(environment) / AGENTS:
            return True
        return any(home in folder.parents for home in homes)
    except ConfigError:  # There is no home folder.
        return False


def _belongs_to_user(folder: Path) -> bool:
    if sys.platform == "win32":  # Windows: folders of others can't be written to by default.
        return True
    try:
        return folder.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _folders_in(folder: Path, layers: Container[str] = ()) -> list[Path]:
    return _those_in(
        folder,
        lambda entry: (
            (_is_entered(entry.name) and entry.is_dir(follow_symlinks=False))
            or (entry.name in layers and entry.is_dir())
        ),
    )


def _those_in(folder: Path, is_wanted: Callable[[os.DirEntry[str]], bool]) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if is_wanted(entry))
    except OSError:
        return []


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in _NEVER_ENTERED
