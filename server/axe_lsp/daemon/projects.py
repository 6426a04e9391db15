"""The projects of layers such as `.codex`: the repository that a layer lies in, and the layers around it there.

The root of a project is the nearest folder with one of the markers that the user's settings name. A `.git` folder
counts with its `HEAD` only, while a `.git` file, as in submodules and worktrees, always does (Codex 0.171).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from axe_lsp.agentfile.dialects import CODEX
from axe_lsp.agentfile.schema.nested import member_of, texts_of
from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_GIT = ".git"
_MARKERS = "project_root_markers"


def projects_of(snapshot: Snapshot, changed: Iterable[str]) -> dict[str, str]:
    """Return the roots of the projects of layers, as far as that is news after files have changed."""
    users = set(snapshot.places.homes.values())
    files = [snapshot.places.locate(uri) for uri in changed]
    layers = {each.layer for each in files if each.layer and each.dialect is CODEX}
    if layers & users:  # The user's settings may name other markers now.
        layers |= snapshot.projects.keys()
    else:
        layers -= snapshot.projects.keys()
    if not layers - users:
        return {}  # As after nearly every keystroke.
    root_of = cache(lambda folder: project_root(folder, markers_of(snapshot)))
    found = {
        layer: uri_of(root) if (root := root_of(path.parent)) is not None else ""
        for layer in layers - users
        if (path := path_of(layer)) is not None
    }
    return {layer: root for layer, root in found.items() if snapshot.projects.get(layer) != root}


def markers_of(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the names that mark the root of a project, by the user's settings."""
    home = snapshot.places.homes.get(CODEX.program.name if CODEX.program else "", "")
    uri = snapshot.layers.settings.get((CODEX.config.schema.program, home))
    settings = snapshot.file(uri) if uri is not None else None
    return _markers_in(settings)


def _markers_in(settings: AgentFile | None) -> tuple[str, ...]:
    node = member_of(settings.settings, _MARKERS) if settings is not None else None
    if node is None or node.items is None:
        return (_GIT,)
    return tuple(texts_of(node))


def project_root(folder: Path, markers: Sequence[str] = (_GIT,)) -> Path | None:
    """Return the nearest folder from `folder` upwards that has a marker, None if none has."""
    for each in (folder, *folder.parents):
        if any(_is_marked(each, marker) for marker in markers):
            return each
    return None


def _is_marked(folder: Path, marker: str) -> bool:
    path = folder / marker
    if marker != _GIT:
        return os.path.lexists(path)
    return path.is_file() or (path / "HEAD").is_file()


def layers_around(layer: Path) -> Iterator[Path]:
    """Yield the layers of the same name in the folders from a project's root down to that of `layer`, inner ones first."""
    root = project_root(layer.parent)
    for folder in layer.parent.parents if root is not None else ():
        if root == layer.parent or not folder.is_relative_to(root or folder):
            return
        if (folder / layer.name).is_dir():
            yield folder / layer.name
