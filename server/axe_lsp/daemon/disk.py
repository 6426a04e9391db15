"""Agent files on the disk: finding, reading and creating them. Everything here may block."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from msgspec import Struct

from axe_lsp.agentfile.dialects import AXE, LAYERED, dialect_of_loose, top_names
from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, SUFFIX, TEST_FOLDERS
from axe_lsp.agentfile.other_programs import SETTINGS_FILE, program_of
from axe_lsp.agentfile.schema.agent_keys import KEYS
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.reading import NotUtf8Error, decode_utf8, values_of
from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder, homes_of_dialects
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.files.workspace_folders import (
    agent_folders_below,
    files_below,
    folders_of_layer,
)
from axe_lsp.workspace.agent_file import read_agent_file
from axe_lsp.workspace.layers import declared_files as declared_by
from axe_lsp.workspace.places import CONFIG_FILE, Places

_LAYERS = tuple(each.layer for each in LAYERED if each.settings)
_AGENT_ENDINGS = tuple(f"/{each}" for each in AGENT_FOLDERS)
_TESTS = PurePath(TEST_FOLDERS[0]).name
"""The name of the folder of tests, beside that of agents."""


def user_folder(environment: Environment) -> Path | None:
    """Return the user's own folder of agents; None for a process without a home.

    `..` is worked out, as in the URIs of editors.
    """
    try:
        return Path(os.path.normpath(config_folder(environment).absolute())) / "agents"
    except ConfigError:
        return None


def config_file(environment: Environment) -> Path | None:
    """Return the user's settings for providers, beside that folder, whether or not there are any."""
    folder = user_folder(environment)
    return folder.parent / CONFIG_FILE if folder is not None else None


def path_in_settings(text: str) -> Path | None:
    """Return the path that a user has written; None without one, or if no user of that name has a home."""
    try:
        return Path(text.strip()).expanduser() if text.strip() else None
    except RuntimeError:
        return None


def agent_files_below(roots: Sequence[Path], folders: Sequence[Path]) -> Iterator[Path]:
    """Yield every agent file below the roots, and those in the folders. Blocks while it is iterated."""
    for root in roots:
        for folder in agent_folders_below(root, tuple(LAYERED)):
            for each in (folder, *tests_beside([folder])):
                yield from agent_files_in(each)
    for folder in folders:
        yield from agent_files_in(folder)


def tests_beside(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of tests of the agents in some folders, which lie beside those."""
    for folder in folders:
        if folder.as_posix().endswith(_AGENT_ENDINGS):
            yield folder.parent / _TESTS


def declared_files(places: Places, folders: Iterable[Path]) -> dict[Path, str]:
    """Return the agents that the settings in these folders declare, by their files, each with the layer's URI."""
    settings = [
        read_agent_file(places.locate(uri_of(path)), content.text)
        for path in (folder / SETTINGS_FILE for folder in folders)
        if (content := read(path)) is not None
    ]
    found = declared_by(settings)
    layers = {each.uri: each.place.layer for each in settings}
    named = {path_of(uri): layers[each[0].settings] for uri, each in found.items()}
    return {path: layer for path, layer in named.items() if path is not None and path.is_file()}


def user_layers(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return the URIs of the user's own folders of other programs, each with the program's name, whether or not they are there."""
    homes = homes_of_dialects(environment)
    return tuple((name, uri_of(Path(os.path.normpath(folder)))) for name, folder in homes)


def user_layer_folders(environment: Environment) -> Iterator[Path]:
    """Yield the folders in them that have agents or settings."""
    homes = homes_of_dialects(environment)
    for program in LAYERED:
        for layer in map(Path, map(os.path.normpath, program.homes_in(homes))):
            if layer.is_dir():
                yield from folders_of_layer(layer, program)


def is_layer(folder: Path) -> bool:
    """Return whether a folder is that of another program, with its settings."""
    return folder.name in _LAYERS


def agent_files_in(folder: Path) -> list[Path]:
    """Return the files in a folder of agents; empty if it can't be read or isn't there.

    Of a program's own folder it is the settings alone.
    """
    if is_layer(folder):
        return [path] if (path := folder / SETTINGS_FILE).is_file() else []
    return [folder / name for name in agent_names_in(folder)]


def loose_agents_in(folder: Path) -> list[Path]:
    """Return the agents in a folder that is no folder of agents, and below it those that are told by their keys.

    Other files, as `Cargo.toml`, are left out. A file in the folder that can't be read as text counts as an
    agent, so that this is reported.
    """
    files = [(path, content) for path in agent_files_in(folder) if (content := read(path))]
    found = [path for path, content in files if content.fault or _resembles_agent(path, content)]
    below = (each for each in files_below(folder, SUFFIX) if each.parent != folder)
    return found + [each for each in below if _is_of_program(each)]


def _is_of_program(path: Path) -> bool:
    content = read(path)
    return (
        content is not None
        and dialect_of_loose(path.name, content.text) is not AXE
        and values_of(content.text) is not None
    )


def _resembles_agent(path: Path, content: Content) -> bool:
    """Return whether most of the names at the top are keys of agents, or nearly, or half of them with one that is.

    A single name must be such a key: `[tool]` of Python projects is near to `tools`.
    """
    if dialect_of_loose(path.name, content.text) is not AXE:
        return True
    names, known = top_names(content.text), {spec.path[0] for spec in KEYS}
    like = [name for name in names if name in known or nearest(name, known) is not None]
    is_like = 2 * len(like) + bool(names & known) > len(names)
    return not names or (is_like and (len(names) > 1 or bool(names & known)))


def agent_names_in(folder: Path) -> list[str]:
    """Return the names of these files: paths of thousands of files take ten times as long."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return []
    program = program_of(folder.as_posix(), homes_of_dialects(os.environ))
    if program is not None:
        return [name for name in names if program.is_agent_file(name)]
    return [name for name in names if name.endswith(SUFFIX) and name != SUFFIX]


class Content(Struct, frozen=True):
    """The content of a file. A `fault` says why, from `fault_at` on, it can't be used as text."""

    text: str
    fault: str = ""
    fault_at: int = 0


def read(path: Path) -> Content | None:
    """Return the content of a file, or None if there is nothing of that name."""
    try:
        raw = read_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Content("", f"the file can't be read: {error.strerror}")
    try:
        return Content(_refused_mark(path, raw) + decode_utf8(raw))
    except NotUtf8Error as error:
        return Content(error.text, f"the file is {error}: save it as UTF-8", error.offset)


def _refused_mark(path: Path, raw: bytes) -> str:
    """Return the byte order mark of a file if its program takes it for content, else ""."""
    program = program_of(path.parent.as_posix()) if raw.startswith(BOM_UTF8) else None
    return "\ufeff" if program is not None and program.refuses_mark else ""


def create(path: Path, text: str) -> None:
    """Write a file that must not be there yet, and the folders that lead to it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("x", encoding="utf-8", newline="")
    try:
        with file:
            file.write(text)
    except OSError:  # As on a full disk: half a file would be in the way of the next attempt.
        path.unlink()
        raise


def exists(path: Path) -> bool:
    """Return whether something has this name, if only a link that leads nowhere."""
    return os.path.lexists(path)


def read_exactly(path: Path) -> Content | None:
    """Return the same of a file that may have got another name, such as the same in capitals.

    File systems that ignore case go on to open it by the old one.
    """
    content = read(path)
    return content if content is not None and is_called_so(path) else None


def is_called_so(path: Path) -> bool:
    """Return whether a file that is there has exactly this name, where the file system ignores case."""
    try:
        ignores_case = path.samefile(path.with_name(path.name.swapcase()))
        # Not the paths themselves: those of Windows ignore case too.
        return not ignores_case or path.name in (each.name for each in path.parent.iterdir())
    except OSError:  # As nearly always: nothing has that other name.
        return True


def stamps(folders: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    """Return modification time (ns) and size of every agent file, for a later comparison."""
    found = {}
    for path in (path for folder in folders for path in agent_files_in(folder)):
        with suppress(OSError):  # It has gone, or is a link that leads nowhere.
            status = path.stat()
            found[path] = (status.st_mtime_ns, status.st_size)
    return found
