"""Contents of files that Codex reads at its start, as far as they keep it from starting or make it warn (Codex 0.171)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import tomli

from axe_lsp.agentfile.dialects import CATALOG, CODEX, HOOKS, RULES, SERVER, TEXT
from axe_lsp.agentfile.other_programs import AGENTS, SETTINGS_FILE
from axe_lsp.daemon.codex_rules import rules_fault
from axe_lsp.daemon.projects import ROOT_MARKERS
from axe_lsp.daemon.uris import uri_of
from axe_lsp.runtime.files.folders import Environment, homes_of_dialects
from axe_lsp.runtime.files.regular_files import is_file, read_file
from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.files.workspace_folders import GIT, folders_below, is_marked, project_root
from axe_lsp.runtime.plain_text import decode, shown_path
from axe_lsp.workspace.agent_file import (
    FURTHER_INSTRUCTIONS,
    INSTRUCTION_FILES,
    is_instruction_file,
)
from axe_lsp.workspace.facts import Instructions

_MOST = 8 * 2**20
"""Bytes of a file that is read. A larger one is taken to be in order."""


_MOST_OF_SETTINGS = 2**16
"""Bytes of settings that are read for the sake of other files."""


def _text_fault(folder: Path, name: str, _: Environment) -> str:
    content = _read(folder / name)
    return "is empty" if content is not None and not content.strip() else ""


def _catalog_fault(folder: Path, name: str, _: Environment) -> str:
    """Return what is wrong with a catalog of models, as far as that is certain."""
    content = _read(folder / name)
    if content is None:
        return ""
    catalog = _json(content)
    models = catalog.get("models") if isinstance(catalog, dict) else None
    if not isinstance(models, list):
        return 'is not a catalog of models: JSON of the form {"models": [...]}'
    return "" if models else "has no models"


def _hooks_fault(folder: Path, name: str, _: Environment) -> str:
    """Return what Codex says about hooks in a file of their own beside those of the settings."""
    content = _read(folder / name)
    if content is None:
        return ""
    hooks = _json(content)
    if not isinstance(hooks, dict) or not isinstance(hooks.get("hooks", {}), dict):
        return "can't be read as hooks"
    return "has hooks, too" if any(hooks.get("hooks", {}).values()) else ""


def instruction_files(
    folder: Path, paths: Sequence[str], environment: Environment, *, inherits: bool = False
) -> Iterator[Instructions]:
    """Yield the user's file with instructions, then the first of `paths` in each folder from the outermost one on.

    Those in folders below come last, as far as no other layer or repository is about them.
    The paths start at `folder` and name files of one folder, which is the last one. If it `inherits`, the settings of
    the layers there name further ones. In the folder of the user's settings an empty file does not count, as for Codex.
    """
    program = CODEX.program
    assert program is not None
    home = Path(dict(homes_of_dialects(environment)).get(program.name, ""))
    inner = Path(os.path.normpath(folder / paths[0])).parent
    names = [Path(each).name for each in paths]
    if inherits and inner != home:
        names += _further_names(home, inner, program.layer)
    for each in (home, *(() if inner == home else reversed([inner, *inner.parents]))):
        is_users = each == home
        sizes = ((name, _size(each / name)) for name in (INSTRUCTION_FILES if is_users else names))
        name, size = next((one for one in sizes if one[1] > (0 if is_users else -1)), ("", 0))
        if name:
            yield Instructions(uri_of(each), shown_path(name), size)
    if inner != home:
        yield from islice(_instructions_below(inner, names, program.layer), _MOST_BELOW)


_MOST_FOLDERS = 2_000
"""Folders that are searched for instructions; near ones come first."""
_MOST_BELOW = 100


def _instructions_below(folder: Path, names: Sequence[str], layer: str) -> Iterator[Instructions]:
    for each in islice(folders_below(folder), _MOST_FOLDERS):
        sizes = ((name, _size(each / name)) for name in names)
        name, size = next((one for one in sizes if one[1] >= 0), ("", 0))
        around = (each, *each.parents[: len(each.parts) - len(folder.parts) - 1])
        if name and not any(_is_apart(inner, layer) for inner in around):
            yield Instructions(uri_of(each), shown_path(name), size)


def _is_apart(folder: Path, layer: str) -> bool:
    """Return whether a folder is a repository of its own, or has settings or agents that are about it."""
    own = folder / layer
    is_layer = is_file(own / SETTINGS_FILE) or (own / AGENTS).is_dir()
    return is_layer or is_marked(folder)


def _further_names(home: Path, inner: Path, layer: str) -> list[str]:
    """Return the names of further files with instructions by the settings of a session in the folder `inner`."""
    settings = [_settings(home)]
    markers = _texts(settings[0].get(ROOT_MARKERS))
    root = project_root(inner, (GIT,) if markers is None else tuple(markers)) or inner
    folders = [each for each in (inner, *inner.parents) if each.is_relative_to(root)]
    settings += (_settings(each / layer) for each in reversed(folders))
    lists = [_texts(each.get(FURTHER_INSTRUCTIONS)) for each in settings]
    names = next((each for each in reversed(lists) if each is not None), [])
    return [each for each in names if is_instruction_file(each)]


def _settings(layer: Path) -> dict[str, Any]:
    """Return the values of the settings of a layer; none if they can't be read."""
    path = layer / "config.toml"
    content = _read(path) if 0 <= _size(path) <= _MOST_OF_SETTINGS else None
    try:
        return tomli.loads(decode(content)) if content is not None else {}
    except (ValueError, RecursionError):
        return {}


def _texts(value: object) -> list[str] | None:
    """Return a value that is a list of texts, else None."""
    is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return value if isinstance(value, list) and is_list else None


def _size(path: Path) -> int:
    """Return the number of bytes of a regular file; -1 for anything else."""
    try:
        return path.stat().st_size if is_file(path) else -1
    except (OSError, ValueError):  # A NUL in the path.
        return -1


def _program_fault(_: Path, name: str, environment: Environment) -> str:
    return "" if find_program(name, environment) else "is not there"


def _rules_fault(folder: Path, name: str, _: Environment) -> str:
    """Return the first fault of the files with rules in a folder."""
    try:
        files = sorted(each for each in (folder / name).iterdir() if each.suffix == ".rules")
    except OSError:
        return ""
    for path in files[:_MOST_RULES]:
        content = _read(path)
        fault = rules_fault(decode(content)) if content is not None else ""
        if fault:
            return f"{name}/{path.name}: {fault}"
    return ""


_MOST_RULES = 100


CONTENT_CHECKS: Mapping[str, Callable[[Path, str, Environment], str]] = {
    TEXT: _text_fault,
    CATALOG: _catalog_fault,
    HOOKS: _hooks_fault,
    RULES: _rules_fault,
    SERVER: _program_fault,
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
