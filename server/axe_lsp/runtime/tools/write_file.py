"""`write_file`: a file with this content, whatever was there before."""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path

import anyio

from axe_lsp.runtime.files.whole_file import write_whole_file
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.tools.diff import MOST_COMPARED, marked_lines, rehearsal
from axe_lsp.runtime.tools.paths import named_file, place, require_file, speaking_of
from axe_lsp.runtime.tools.tool import BuiltinTool, Workplace, required
from axe_lsp.runtime.tools.writing import writing


async def _write_file(call: ToolCall, workplace: Workplace) -> str:
    path, data = _wanted(call)
    await anyio.to_thread.run_sync(partial(_write, workplace.folder, path, data))
    return f"wrote {len(data)} bytes to {path}"


async def _rehearse(call: ToolCall, workplace: Workplace) -> Rehearsal:
    path, data = _wanted(call)
    return await anyio.to_thread.run_sync(partial(_change, workplace.folder, path, data))


def _wanted(call: ToolCall) -> tuple[str, bytes]:
    """The path, and what is to be written there."""
    return required(call, "path"), valid_text(call.argument("content")).encode()


def _change(folder: Path, path: str, data: bytes) -> Rehearsal:
    if_large = f"all of it would be replaced by\n{marked_lines('+', data)}"
    return rehearsal("write", named_file(folder, path), _read(folder, path), data, if_large)


def _read(folder: Path, path: str) -> bytes | None:
    """The content that would be overwritten, as far as it is compared."""
    found = place(folder, path)
    with speaking_of(path):
        if not found.exists():
            return None
        require_file(found)
        with found.open("rb") as file:
            return file.read(MOST_COMPARED + 1)


def _write(folder: Path, path: str, data: bytes) -> None:
    found = place(folder, path)
    with speaking_of(path):
        if found.exists():  # A device or a pipe is not written to.
            require_file(found)
        _make_folder(found.parent)
    with writing(found, path):
        write_whole_file(found, data)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None


TOOL = BuiltinTool(
    Tool(
        "write_file",
        "Create or overwrite a file relative to the working directory. Creates parent directories "
        "as needed. Overwrites the file if it already exists.",
        {
            "path": ToolParameter("string", "Relative path to the file to write.", required=True),
            "content": ToolParameter("string", "The content to write to the file."),
        },
    ),
    _write_file,
    _rehearse,
    writes=True,
    changes=lambda call, workplace: place(workplace.folder, required(call, "path")),
)
