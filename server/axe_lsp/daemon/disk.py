"""Agent files on the disk: finding and reading them. Everything here may block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.folders import Environment, config_folder
from axe_lsp.workspace.places import AGENT_FOLDERS, SUFFIX

MAX_BYTES = 32 * 1024 * 1024
"""A larger file is no agent that anybody wrote."""

_NEVER_ENTERED = frozenset(
    ["node_modules", "__pycache__", "site-packages", "target", "dist", "build", "venv"]
)
_MAX_DEPTH = 12
_AGENT_FOLDERS = tuple(folder.strip("/").split("/") for folder in AGENT_FOLDERS)


def user_folder(environment: Environment) -> Path | None:
    """The user's own folder of agents; None for a process without a home."""
    try:
        return config_folder(environment).absolute() / "agents"
    except ConfigError:
        return None


def agent_folders_below(root: Path) -> Iterator[Path]:
    """The folders of agents in a workspace folder, near ones first.

    Hidden folders other than `.axe`, folders of dependencies and linked folders are not entered.
    """
    level = [root]
    for _ in range(_MAX_DEPTH):
        below: list[Path] = []
        for folder in level:
            yield from (
                found for parts in _AGENT_FOLDERS if (found := folder.joinpath(*parts)).is_dir()
            )
            below.extend(_folders_in(folder))
        level = below


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
                and entry.name not in _NEVER_ENTERED
            )
    except OSError:
        return []


def agent_files_in(folder: Path) -> list[Path]:
    """The files in a folder of agents; empty if it can't be read or isn't there."""
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.name.endswith(SUFFIX))
    except OSError:
        return []


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds. A `fault` says why it holds no text that anybody could use."""

    text: str
    fault: str = ""


def read(path: Path) -> Content | None:
    """The content of a file, or None if there is nothing of that name."""
    try:
        if path.stat().st_size > MAX_BYTES and not path.is_dir():
            return Content("", f"the file is larger than {MAX_BYTES // 2**20} MB")
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        return Content("", f"the file can't be read: {error.strerror}")
    try:
        return Content(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "replace")
        return Content(text, f"the file is not UTF-8 (byte {error.start + 1})")


def stamps(folders: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    """Modification time and size of every agent file, to tell later what has changed."""
    found = {}
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX):
                        status = entry.stat()
                        found[Path(entry.path)] = (status.st_mtime_ns, status.st_size)
        except OSError:
            continue
    return found
