"""Questions about the disk beside agent files, for as long as their answers take.

The runtime's idea of paths and prompts is imported with the first of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from axe_lsp.agentfile.schema.key_spec import Names
from axe_lsp.daemon.uris import path_of
from axe_lsp.features.completion.path_offers import Entry, Listing, PathTyped
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder, expand_path
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.file_values import Written
from axe_lsp.workspace.places import Scope

if TYPE_CHECKING:
    from axe_lsp.daemon.outside_facts import PathContext

_SEARCH_SECONDS = 2.0
"""Seconds for the search for matches of the globs of one file."""

MOST = 300
"""Entries of a folder, more than anybody reads."""

_LOOKED_AT = 20_000
_LISTING_SECONDS = 0.05


class Queries:
    """Each call is one question to the disk, whose answer holds at that moment.

    `workspace_of` says where runs of the agents in a folder start, `open_config` what text config.toml
    has in an editor, `allowances` what rules the user has set.
    """

    def __init__(
        self,
        environment: Environment,
        workspace_of: Callable[[Path | None], Path],
        open_config: Callable[[], str | None],
        allowances: Callable[[], tuple[str, ...]],
    ) -> None:
        self._environment = environment
        self._workspace_of = workspace_of
        self._open_config = open_config
        self._allowances = allowances

    def facts(self, file: AgentFile, go_on: Callable[[], bool]) -> Facts:
        """Return the facts from outside an agent file."""
        from axe_lsp.daemon.outside_facts import find_out

        end = time.monotonic() + _SEARCH_SECONDS
        path_context = self._standpoint(file)
        return find_out(file.question, path_context, lambda: go_on() and time.monotonic() < end)

    def listing(self, file: AgentFile, typed: PathTyped) -> Listing:
        """Return the content of the folder of a path that is being typed, within a moment."""
        folder = typed_folder(typed, file.question.workdir, self._standpoint(file))
        return list_folder(folder, typed.word) if folder is not None else Listing()

    def skill_users(self, uri: str, files: Iterable[AgentFile]) -> list[tuple[AgentFile, Written]]:
        """Return the files that use the skill at `uri`, each with the place of its name."""
        from axe_lsp.daemon.skill_file import users_of

        path = path_of(uri)
        return list(users_of(path, files, self._environment)) if path is not None else []

    def _standpoint(self, file: AgentFile) -> PathContext:
        from axe_lsp.daemon.outside_facts import PathContext

        path = path_of(file.uri)
        return PathContext(
            agent=file.place.stem,
            workspace=self._workspace_of(path.parent if path is not None else None),
            environment=self._environment,
            is_usual=file.place.scope is not Scope.USER,
            open_config=self._open_config(),
            file=path,
            allowances=self._allowances(),
        )


def typed_folder(typed: PathTyped, workdir: str, path_context: PathContext) -> Path | None:
    """Return the folder to be listed for a path that is being typed; None if it is not known."""
    from axe_lsp.daemon.outside_facts import folder_in_force

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
    """Return the entries of a folder; of a large one those that begin with `word`, as far as time allows.

    The user waits for it, so it is short.
    """
    all_entries: list[os.DirEntry[str]] = []
    is_cut = False
    end = time.monotonic() + _LISTING_SECONDS
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
