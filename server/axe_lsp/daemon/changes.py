"""What lies at a path, as a change of the workspace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from axe_lsp.daemon.disk import Content
from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.workspace import Change

Read = Callable[[Path], Content | None]
"""`disk.read`, or what else looks at a path."""


def change_at(path: Path, read: Read) -> Change:
    """What lies at the path, as text."""
    content = read(path)
    if content is None:
        return Change(uri_of(path), None)
    fault, where = content.fault, content.fault_at
    return Change(uri_of(path), content.text, fault=fault, fault_at=where)
