"""The search in files for `grep` and `find_files`: by ripgrep, or by a program of our own where it is not installed.

Both print the same, and both are processes that end with the call: a regular expression of a model's could keep
Python busy for ever, so it never runs in this process.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio
from msgspec import Struct

from axe_lsp.agentfile.lookup_order import TEST_FOLDERS
from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.tools.commands import clean_environment, run_to_end
from axe_lsp.runtime.tools.long_output import LongOutput
from axe_lsp.runtime.tools.paths import place, speaking_of
from axe_lsp.runtime.tools.tool import ToolError, Workplace

_MOST_READ = 8 * 1024 * 1024
"""Bytes of the output that are read."""

_SEARCH_SECONDS = 60.0
_FAILED = 2
_FAULTS = ("rg: ", "regex parse error", "error parsing")
"""The beginnings of what a search says that has failed. Faults of single files are not reported."""

_PROGRAM = Path(__file__).with_name("search_program.py")

_RIPGREP = ("--no-config", "--no-messages", "--sort=path", "--hidden")
_LINES = (
    *("--line-number", "--with-filename", "--no-heading", "--color=never"),
    *("--max-columns=500", "--max-columns-preview"),
)

_LEFT_OUT = (".git", *TEST_FOLDERS)
"""Folders in which nobody looks for files of a project: that of a repository, and those of tests of agents. The latter
hold answers of models: a recorded search that found them would differ from the same search in its own replay."""


class Query(Struct, frozen=True):
    """A search below a `path`: for lines that match a `pattern`, or for all files if that is None.

    Of several `globs` the last that matches a path counts; one with `!` leaves it out. The folders
    `_LEFT_OUT` are left out, except those that the query `names`.
    """

    path: str
    pattern: str | None = None
    globs: tuple[str, ...] = ()
    ignore_case: bool = False
    names: tuple[str, ...] = ()


async def search(query: Query, workplace: Workplace) -> list[str]:
    """Return lines that begin with paths, in the order of the paths. Raises ToolError.

    Hidden files are searched, and ignore files count.
    """
    below = await anyio.to_thread.run_sync(_seen_from_workplace, query.path, workplace)
    left_out = (each for each in _LEFT_OUT if each not in query.names)
    globs = (*query.globs, *(f"!**/{each}" for each in left_out))
    ripgrep = find_program("rg", workplace.environment)
    command = (
        _of_program(query, globs, below)
        if ripgrep is None
        else [ripgrep, *_of_ripgrep(query, globs), "--", below]
    )
    environment = clean_environment(workplace)
    try:
        ended = await run_to_end(
            command, workplace.folder, environment, _SEARCH_SECONDS, LongOutput(_MOST_READ, 0)
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in the pattern.
        raise ToolError(f"the search could not be started: {error}") from error
    text = decode(ended.output.beginning)
    if ended.code is None:
        raise ToolError(f"the search took more than {_SEARCH_SECONDS:g}s; search in fewer files")
    if ended.code == _FAILED and text.startswith(_FAULTS):
        raise ToolError(text.strip())
    *lines, _ = text.split("\n")  # The last one is empty, or was cut.
    return [line.removeprefix("./") for line in lines]


def named_folders(*paths: str) -> tuple[str, ...]:
    """Return the folders that searches leave out and into which a path or a glob leads."""
    joined = "/".join(f"/{path}/" for path in paths).replace("\\", "/")
    return tuple(each for each in _LEFT_OUT if f"/{each}/" in joined)


def _of_ripgrep(query: Query, globs: tuple[str, ...]) -> list[str]:
    options = [*_RIPGREP, *(f"--glob={each}" for each in globs)]
    if query.pattern is None:
        return [*options, "--files"]
    options += [*_LINES, f"--regexp={query.pattern}"]
    return [*options, "--ignore-case"] if query.ignore_case else options


def _of_program(query: Query, globs: tuple[str, ...], below: str) -> list[str]:
    """Return the command line of our own program. Raises ToolError for a NUL, which ripgrep does not take either."""
    if "\0" in (query.pattern or ""):
        raise ToolError("the search could not be started: embedded null byte")
    asked = {
        "path": below,
        "pattern": query.pattern,
        "globs": globs,
        "ignore_case": query.ignore_case,
    }
    # Isolated: no module of the folder that is searched, and none of the user's, is imported.
    return [sys.executable, "-I", "-X", "utf8", str(_PROGRAM), json.dumps(asked)]


def _seen_from_workplace(path: str, workplace: Workplace) -> str:
    where = place(workplace, path)
    with speaking_of(path):
        where.stat()
    if Path(path).is_absolute():
        return str(where)
    return os.path.relpath(where, os.path.realpath(workplace.folder))
