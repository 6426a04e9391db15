"""Agents on disk: found by file name, first folder first (axe M2, 1.5).

A text that is open in an editor wins over the file, because it is what its author sees.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile import agent_name
from axe_lsp.agentfile.agent_name import SUFFIX
from axe_lsp.agentfile.definition import AgentDefinition, DefinitionError, Source, load
from axe_lsp.agentfile.nearest import nearest
from axe_lsp.agentfile.text import quoted
from axe_lsp.agentfile.utf8 import NotUtf8Error, decode_utf8
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.runtime.plain_text import shown_path


class AgentFolders(Struct, frozen=True):
    """Folders with agent files, in the order in which they are searched, and the open texts."""

    folders: Sequence[Path]
    open_buffers: Mapping[Path, str] = field(default_factory=dict)

    def resolve(self, name: str) -> AgentDefinition:
        """The agent of a name. Raises ConfigError, in axe's words."""
        path = self.find(name)
        text = self._read(name, path)
        try:
            return replace(_definition(text), source=Source(str(path), text, self._hidden(path)))
        except DefinitionError as error:
            if error.is_parse_error:
                raise _unparsable(name, str(error)) from error
            raise ConfigError(str(error)) from error

    def find(self, name: str) -> Path:
        """The file of an agent, or its open buffer. Raises ConfigError."""
        check_name(name)
        for folder in self.folders:
            path = _file_of(name, folder)
            # Path.exists raises where a folder may not be looked into (Python < 3.14).
            if path in self.open_buffers or os.path.exists(path):  # noqa: PTH110
                return path
        raise ConfigError(f"agent config not found: {name}", hint=self._hint(name))

    def _hidden(self, path: Path) -> str:
        """The file of that name in the folder that is searched last, which is the user's own."""
        last = self.folders[-1] / path.name
        if path.parent == last.parent:
            return ""
        try:
            return "" if path.samefile(last) else str(last)
        except OSError:  # Nearly always there is none; or the file is an unsaved text.
            return ""

    def _hint(self, name: str) -> str:
        """What somebody who asked for an agent that isn't there may have meant."""
        known = {path.stem for folder in self.folders for path in _agent_files(folder)}
        meant = nearest(name.removesuffix(SUFFIX), known)
        if meant is not None:
            return f"Did you mean `{meant}`?"
        looked = ", ".join(shown_path(folder) for folder in self.folders)
        return f"Searched folders: {looked}. `axe-lsp agents list` lists them."

    def list(self) -> Iterator[tuple[str, Path, AgentDefinition | ConfigError]]:
        """Every agent by name, with its file and what it holds or why it holds no agent."""
        seen: set[str] = set()
        for folder in self.folders:
            for path in sorted({*_agent_files(folder), *self._buffers_in(folder)}):
                if path.stem not in seen:
                    seen.add(path.stem)
                    yield path.stem, path, self._load(path.stem)

    def _load(self, name: str) -> AgentDefinition | ConfigError:
        try:
            return self.resolve(name)
        except ConfigError as error:
            return error

    def _read(self, name: str, path: Path) -> str:
        buffer = self.open_buffers.get(path)
        if buffer is not None:
            return buffer
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                # Reading a pipe would wait for somebody who writes.
                raise _unreadable(name, f"{shown_path(path)}: it is not a regular file")
            with path.open("rb", buffering=0) as file:  # It is read at once.
                return decode_utf8(file.read())
        except FileNotFoundError:  # It has gone since it was found.
            raise ConfigError(f"agent config not found: {name}") from None
        except OSError as error:
            raise _unreadable(name, f"{shown_path(path)}: {error.strerror}") from error
        except NotUtf8Error as error:
            raise _unparsable(name, f"{shown_path(path)} is {error}") from error

    def _buffers_in(self, folder: Path) -> Iterator[Path]:
        return (path for path in self.open_buffers if path.parent == folder)


def search_folders(
    bases: Sequence[Path], environment: Environment, agents_dir: Path | None = None
) -> tuple[Path, ...]:
    """Where agents are looked for: `agents_dir`, below each base, then the user's own folder."""
    local = [base / name / "agents" for base in bases for name in ("axe", ".axe")]
    folders = [agents_dir] if agents_dir else []
    return tuple(dict.fromkeys([*folders, *local, config_folder(environment) / "agents"]))


def check_name(name: str) -> None:
    """Refuse names that would leave the folders. Raises ConfigError."""
    message = agent_name.objection(name)
    if message is not None:
        raise ConfigError(message)


@lru_cache(maxsize=256)
def _file_of(name: str, folder: Path) -> Path:
    """Made once, however many children are looked for."""
    return folder / f"{name}{SUFFIX}"


@lru_cache(maxsize=256)
def _definition(text: str) -> AgentDefinition:
    """Understood once, however many children are made by the same text."""
    return load(text)


def _agent_files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.suffix == SUFFIX and not path.is_dir()]
    except OSError:
        return []


def _unparsable(name: str, reason: str) -> ConfigError:
    return ConfigError(f"failed to parse agent config {quoted(name)}: {reason}")


def _unreadable(name: str, reason: str) -> ConfigError:
    return ConfigError(f"failed to read agent config {quoted(name)}: {reason}")
