"""What runs have seen of MCP servers, for the editor, which never contacts a server.

There is a file for each server and workspace, which only the user may read. Its texts are a stranger's.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.files.whole_file import write_whole_file
from axe_lsp.runtime.plain_text import escaped

_MOST_TOOLS = 500
_MOST_FILES = 200
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 120
_ONLY_THE_USER = 0o600


class SeenTool(NamedTuple):
    """A tool: its name, and the beginning of what its server says of it, in one line."""

    name: str
    description: str


class SeenServer(Struct, frozen=True):
    """The tools of a server, and the time at which a run has seen them, as `2026-11-23T21:10:00Z`."""

    tools: tuple[SeenTool, ...]
    time: str


def remember(
    environment: Environment, workspace: Path, place: str, tools: Iterable[tuple[str, str]]
) -> None:
    """Keep the names and descriptions of a server's tools. `place` is as others may see it.

    Raises OSError, or ConfigError without a home folder.
    """
    path = _file(environment, workspace, place)
    rows = [
        {"name": escaped(name), "description": _line(description)}
        for name, description in tools
        if len(name) <= _LONGEST_NAME
    ][:_MOST_TOOLS]
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {"version": 1, "server": place, "time": now, "tools": rows}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole_file(path, json.dumps(document, indent=1).encode(), mode=_ONLY_THE_USER)
    _forget_the_oldest(path.parent)


def recall(environment: Environment, workspace: Path, place: str) -> SeenServer | None:
    """What was last seen of a server; None if that is nothing, or can't be read."""
    try:
        document = json.loads(read_file(_file(environment, workspace, place)))
        rows = document["tools"][:_MOST_TOOLS]
        return SeenServer(tuple(map(_tool, rows)), str(document["time"]))
    except (ConfigError, OSError, ValueError, LookupError, TypeError):
        return None


def _file(environment: Environment, workspace: Path, place: str) -> Path:
    from hashlib import sha256

    key = f"{os.path.realpath(workspace)}\0{place}".encode("utf-8", "surrogatepass")
    return state_folder(environment) / "mcp" / f"{sha256(key).hexdigest()[:32]}.json"


def _tool(row: Mapping[str, Any]) -> SeenTool:
    """Shortened once more: others may have written the file."""
    return SeenTool(str(row["name"])[:_LONGEST_NAME], _line(str(row["description"])))


def _line(text: str) -> str:
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
