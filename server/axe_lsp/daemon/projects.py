"""The projects of layers such as `.codex` and of folders of axe's agents: the repository, and the layers around a layer there.

The root of a project is the nearest folder with a `.git`, for Codex with one of the markers that the user's settings
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from axe_lsp.agentfile.dialects import CODEX
from axe_lsp.agentfile.schema.nested import member_of, texts_of
from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.runtime.files.workspace_folders import GIT, project_root
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_GIT = (GIT,)
_CODEX = CODEX.program.layer if CODEX.program is not None else ""
ROOT_MARKERS = "project_root_markers"
"""The key of the user's settings with the names of files that only the root of a project has."""


def projects_of(snapshot: Snapshot, changed: Iterable[str]) -> dict[str, str]:
    """Return the roots of the projects of layers and of folders of axe's agents, as far as that is news after files have changed.

    The disk is looked at once for a folder, however many files it has.
    """
    users = snapshot.places.users
    places = [snapshot.places.locate(uri) for uri in changed]
    units = {each.unit for each in places if each.layer or each.holds_agent}
    if units & users:  # The user's settings may name other markers now.
        units |= snapshot.projects.keys()
    else:
        units -= snapshot.projects.keys()
    units -= {*users, snapshot.places.user_folder}
    if not units:
        return {}  # As after nearly every keystroke.
    markers = {_CODEX: markers_of(snapshot)}
    root_of = cache(project_root)
    found = {
        unit: uri_of(root) if (root := root_of(path.parent, markers.get(path.name, _GIT))) else ""
        for unit in units
        if (path := path_of(unit)) is not None
    }
    return {unit: root for unit, root in found.items() if snapshot.projects.get(unit) != root}


def markers_of(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the names that mark the root of a project, by the user's settings."""
    home = dict(snapshot.places.homes).get(CODEX.program.name if CODEX.program else "", "")
    uri = snapshot.layers.settings.get((CODEX.config.schema.program, home))
    settings = snapshot.file(uri) if uri is not None else None
    return _markers_in(settings)


def _markers_in(settings: AgentFile | None) -> tuple[str, ...]:
    node = member_of(settings.settings, ROOT_MARKERS) if settings is not None else None
    if node is None or node.items is None:
        return _GIT
    return tuple(texts_of(node))


def layers_around(layer: Path) -> Iterator[Path]:
    """Yield the layers of the same name in the folders from a project's root down to that of `layer`, inner ones first."""
    root = project_root(layer.parent)
    for folder in layer.parent.parents if root is not None else ():
        if root == layer.parent or not folder.is_relative_to(root or folder):
            return
        if (folder / layer.name).is_dir():
            yield folder / layer.name
