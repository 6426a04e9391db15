"""ripgrep, which knows ignore files, tells text from binaries and takes any pattern in linear time.

A search runs as a process, since a pattern of a model's could keep Python busy for ever.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import anyio

from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.tools.commands import clean_environment, run_to_end
from axe_lsp.runtime.tools.paths import place, speaking_of
from axe_lsp.runtime.tools.tool import ToolError, Workplace

MOST_READ = 8 * 1024 * 1024
"""Bytes of ripgrep's output that are read."""

_TIME_LIMIT = 60.0
_FAILED = 2


async def ripgrep(options: Sequence[str], path: str, workplace: Workplace) -> list[str]:
    """Lines that begin with paths, in the order of the paths, below `path`. Raises ToolError."""
    program = find_program("rg", workplace.environment)
    if program is None:
        raise ToolError("ripgrep (rg), which searches, is not installed on this machine")
    below = await anyio.to_thread.run_sync(_seen_from_workplace, path, workplace)
    command = [program, "--no-config", "--no-messages", "--sort=path", *options, "--", below]
    environment = clean_environment(workplace)
    try:
        ended = await run_to_end(command, workplace.folder, environment, _TIME_LIMIT, MOST_READ)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the pattern.
        raise ToolError(f"the search could not be started: {error}") from error
    text = decode(ended.output)
    if ended.code is None:
        raise ToolError(f"the search took more than {_TIME_LIMIT:g}s; search in fewer files")
    if ended.code == _FAILED and text.startswith(("rg: ", "regex parse error", "error parsing")):
        raise ToolError(text.strip())
    *lines, _ = text.split("\n")  # The last one is empty, or was cut.
    return [line.removeprefix("./") for line in lines]


def _seen_from_workplace(path: str, workplace: Workplace) -> str:
    where = place(workplace, path)
    with speaking_of(path):
        where.stat()
    if Path(path).is_absolute():
        return str(where)
    return os.path.relpath(where, os.path.realpath(workplace.folder))
