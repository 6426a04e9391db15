"""The tools that runs have seen of MCP servers: for the editor, which never contacts a server, and for later runs.

A later run so notices that a server says something else of a tool than when the user has allowed it. There is a
file for each server and workspace, which only the user may read. Its texts are a stranger's.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.files.regular_files import read_file, write_whole_file
from axe_lsp.runtime.json_data import from_json, to_json
from axe_lsp.runtime.plain_text import digest_of, escaped

_MOST_TOOLS = 500
_MOST_AGREED = 2000
_MOST_FILES = 200
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 120
_ONLY_THE_USER = 0o600


class SeenTool(NamedTuple):
    """A tool: its name, and the beginning of what its server says of it, in one line."""

    name: str
    description: str


class SeenServer(Struct, frozen=True):
    """The tools of a server, and the time at which a run has seen them, as `2026-11-23T21:10:00Z`.

    `instructions` is the beginning of those that it gives to models, "" if it gives none.
    """

    tools: tuple[SeenTool, ...]
    time: str
    instructions: str = ""


class ToolNow(Struct, frozen=True):
    """A server's present description of a tool. `digest` is a short name for all of that."""

    name: str
    description: str
    digest: str


class _Stored(Struct, frozen=True, kw_only=True):
    """The content of a file. `agreed` are the digests that the user has agreed to, by the names of tools.

    `instructions` are the beginning and a digest of the server's instructions; None in files of earlier versions.
    """

    version: int = 1
    server: str
    time: str
    tools: tuple[ToolNow, ...] = ()
    agreed: dict[str, str] = {}
    instructions: tuple[str, str] | None = None


class Changes(Struct, frozen=True):
    """The tools of which a server says something `other` than the user has agreed to.

    Of the `new` ones among them the last run has not heard yet. `instructions`: nor of the server's instructions.
    """

    other: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
    instructions: bool = False


def remember(
    environment: Environment,
    workspace: Path,
    place: str,
    tools: Collection[ToolNow],
    instructions: str = "",
) -> Changes:
    """Keep the names and descriptions of a server's tools, and its instructions. `place` is as others may see it.

    What a server says of a tool at first counts as agreed to. Raises OSError, or ConfigError without a home folder.
    """
    path = _file(environment, workspace, place)
    stored = _read(path) or _Stored(server=place, time="")
    before, heard = stored.agreed, {each.name: each.digest for each in stored.tools}
    # Those from before come first, so that no server makes them forgotten by many others.
    agreed = {**{each.name: each.digest for each in tools}, **before}
    other = frozenset(each.name for each in tools if agreed[each.name] != each.digest)
    new = frozenset(each.name for each in tools if heard.get(each.name) != each.digest)
    rows = [
        ToolNow(escaped(each.name), first_line(each.description), each.digest)
        for each in tools
        if len(each.name) <= _LONGEST_NAME
    ]
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    kept = {**before, **agreed}
    said = (first_line(instructions), digest_of(instructions))
    _write(
        path,
        _Stored(
            server=place,
            time=now,
            tools=tuple(rows[:_MOST_TOOLS]),
            agreed=kept,
            instructions=said,
        ),
    )
    _forget_the_oldest(path.parent)
    said_before = said if stored.instructions is None else stored.instructions
    return Changes(other, other & new, said != said_before and bool(instructions))


def agree(environment: Environment, workspace: Path, place: str, name: str, digest: str) -> None:
    """Keep that the user has allowed a call of a tool of which its server says this. Raises as `remember`."""
    path = _file(environment, workspace, place)
    stored = _read(path)
    if stored is not None:  # Else it was forgotten meanwhile.
        _write(path, replace(stored, agreed={**stored.agreed, name: digest}))


def recall(environment: Environment, workspace: Path, place: str) -> SeenServer | None:
    """Return the tools of a server in the last run; None without one, or if the file can't be read."""
    with contextlib.suppress(ConfigError):
        stored = _read(_file(environment, workspace, place))
        if stored is not None:
            tools = tuple(map(_seen, stored.tools[:_MOST_TOOLS]))
            said = first_line(stored.instructions[0]) if stored.instructions else ""
            return SeenServer(tools, stored.time, said)
    return None


def _file(environment: Environment, workspace: Path, place: str) -> Path:
    name = digest_of(f"{os.path.realpath(workspace)}\0{place}")[:32]
    return state_folder(environment) / "mcp" / f"{name}.json"


def _read(path: Path) -> _Stored | None:
    """Return the content of a file; None if there is none, or if it can't be read."""
    try:
        return from_json(_Stored, json.loads(read_file(path)))
    except (OSError, ValueError):
        return None


def _write(path: Path, stored: _Stored) -> None:
    kept = replace(stored, agreed=dict(islice(stored.agreed.items(), _MOST_AGREED)))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole_file(path, json.dumps(to_json(kept), indent=1).encode(), mode=_ONLY_THE_USER)


def _seen(tool: ToolNow) -> SeenTool:
    """Return a tool with name and description cut: other programs may have written the file."""
    return SeenTool(tool.name[:_LONGEST_NAME], first_line(tool.description))


def first_line(text: str) -> str:
    """Return the first line of a stranger's text that is not empty, shortened, with escapes for what nobody sees."""
    line = next((each.strip() for each in text.splitlines() if each.strip()), "")
    line = escaped(line)
    return line if len(line) <= _LONGEST_DESCRIPTION else f"{line[: _LONGEST_DESCRIPTION - 1]}…"


def _forget_the_oldest(folder: Path) -> None:
    files = list(folder.glob("*.json"))
    if len(files) <= _MOST_FILES:
        return
    with contextlib.suppress(OSError):  # Another run forgets them.
        files.sort(key=lambda each: each.stat().st_mtime)
        for each in files[:-_MOST_FILES]:
            each.unlink(missing_ok=True)
