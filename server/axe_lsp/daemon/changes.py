"""What lies at a path, as a change of the workspace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from axe_lsp.daemon.disk import Content
from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.agent_file import read_agent_file
from axe_lsp.workspace.places import CONFIG_FILE, Places
from axe_lsp.workspace.workspace import Change

Read = Callable[[Path], Content | None]
"""`disk.read`, or what else looks at a path."""

_LONG = 32 * 1024
"""Characters of a text that takes so long to understand that nobody may have to wait for it."""


def change_at(path: Path, read: Read) -> Change:
    """What lies at the path: its text, or what the text says if it is long. Blocks."""
    content = read(path)
    if content is None:
        return Change(uri_of(path), None)
    fault, fault_at = content.fault, content.fault_at
    # What config.toml says depends on where it lies, which the workspace alone knows.
    if len(content.text) <= _LONG or path.name == CONFIG_FILE:
        return Change(uri_of(path), content.text, fault=fault, fault_at=fault_at)
    # The workspace puts the file into its place, for which there may be settings.
    place = Places().locate(uri_of(path))
    file = read_agent_file(place, content.text, fault=fault, fault_at=fault_at)
    return Change(place.uri, None, file=file)
