"""Contents of files that Codex reads at its start, as far as they keep it from starting or make it warn (Codex 0.171)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from axe_lsp.agentfile.dialects import CATALOG, HOOKS, TEXT
from axe_lsp.runtime.files.regular_files import read_file

_MOST = 8 * 2**20
"""Bytes of a file that is read. A larger one is taken to be in order."""


def _text_fault(path: Path) -> str:
    content = _read(path)
    return "is empty" if content is not None and not content.strip() else ""


def _catalog_fault(path: Path) -> str:
    """Return what is wrong with a catalog of models, as far as that is certain."""
    content = _read(path)
    if content is None:
        return ""
    catalog = _json(content)
    models = catalog.get("models") if isinstance(catalog, dict) else None
    if not isinstance(models, list):
        return 'is not a catalog of models: JSON of the form {"models": [...]}'
    return "" if models else "has no models"


def _hooks_fault(path: Path) -> str:
    """Return what Codex says about hooks in a file of their own beside those of the settings."""
    content = _read(path)
    if content is None:
        return ""
    hooks = _json(content)
    if not isinstance(hooks, dict) or not isinstance(hooks.get("hooks", {}), dict):
        return "can't be read as hooks"
    return "has hooks, too" if any(hooks.get("hooks", {}).values()) else ""


CONTENT_CHECKS: Mapping[str, Callable[[Path], str]] = {
    TEXT: _text_fault,
    CATALOG: _catalog_fault,
    HOOKS: _hooks_fault,
}
"""The checks by kind of content. Each returns what is to be said about the file, "" for nothing and for no file."""


def _read(path: Path) -> bytes | None:
    try:
        if path.is_dir():
            return None
        return read_file(path) if path.stat().st_size <= _MOST else None
    except OSError:
        return None


def _json(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
