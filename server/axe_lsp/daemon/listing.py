"""The content of a folder whose path is being typed. The user waits for it, so it is short."""

from __future__ import annotations

import os
import time
from pathlib import Path

from axe_lsp.agentfile.schema.key_spec import Names
from axe_lsp.daemon.outside_facts import PathContext, folder_in_force
from axe_lsp.features.completion.path_offers import Entry, Listing, PathTyped
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import config_folder, expand_path

MOST = 300
"""More entries than anybody reads."""

_LOOKED_AT = 20_000
_SECONDS = 0.05


def typed_folder(typed: PathTyped, workdir: str, path_context: PathContext) -> Path | None:
    """The folder to be listed; None if it is not known."""
    try:
        if typed.names is Names.GLOB:
            start, _ = folder_in_force(workdir, path_context)
            # As for a run, a leading slash does not leave the folder where globs start.
            return start / typed.folder.lstrip("/") if start is not None else None
        folder = expand_path(typed.folder, path_context.environment)
        if typed.names is Names.SKILL:
            return config_folder(path_context.environment) / folder
        return path_context.workspace / folder
    except ConfigError:
        return None


def list_folder(folder: Path, word: str) -> Listing:
    """The entries of a folder; of a large one those that begin with `word`, as far as time allows."""
    all_entries: list[os.DirEntry[str]] = []
    is_cut = False
    end = time.monotonic() + _SECONDS
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(all_entries) == _LOOKED_AT or time.monotonic() > end:
                    is_cut = True
                    break
                all_entries.append(entry)
    except (OSError, ValueError):  # It is not there, or not ours to read; or no name of a folder.
        return Listing()
    if is_cut or len(all_entries) > MOST:
        fitting = [each for each in all_entries if each.name.lower().startswith(word.lower())]
        return Listing(tuple(map(_entry, fitting[:MOST])), is_complete=False)
    return Listing(tuple(map(_entry, all_entries)))


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        return Entry(entry.name, entry.is_dir())
    except OSError:
        return Entry(entry.name, is_folder=False)
