"""`write_file`: a file with this content, whatever was there before."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio

from axe_lsp.runtime.files.opening import is_nothing, opened_folder
from axe_lsp.runtime.files.regular_files import write_whole_file
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.tools.diff import MOST_COMPARED, marked_lines, rehearsal
from axe_lsp.runtime.tools.editor_files import Open, open_for_overwrite, write_in_editor
from axe_lsp.runtime.tools.paths import named_file, opened, place, speaking_of, writing
from axe_lsp.runtime.tools.tool import BuiltinTool, Workplace, required


async def _write_file(call: ToolCall, workplace: Workplace) -> str:
    path, data = _wanted(call)
    found = await anyio.to_thread.run_sync(partial(_ready, workplace, path))
    remark = await write_in_editor(workplace, found, data)
    if remark is None:
        await anyio.to_thread.run_sync(partial(_write, found, path, data))
    return f"wrote {len(data)} bytes to {path}{remark or ''}"


async def _rehearse(call: ToolCall, workplace: Workplace) -> Rehearsal:
    path, data = _wanted(call)
    held = await open_for_overwrite(workplace, place(workplace, path))
    change = partial(_change, workplace, path, data, held)
    return await anyio.to_thread.run_sync(change)


def _wanted(call: ToolCall) -> tuple[str, bytes]:
    """The path, and the new content of the file."""
    return required(call, "path"), valid_text(call.argument("content")).encode()


def _change(workplace: Workplace, path: str, data: bytes, held: Open | None) -> Rehearsal:
    if_large = f"all of it would be replaced by\n{marked_lines('+', data)}"
    old = held.content if held is not None else _read(workplace, path)
    return rehearsal("write", named_file(workplace, path), old, data, if_large)


def _read(workplace: Workplace, path: str) -> bytes | None:
    """The content that would be overwritten, as far as it is compared."""
    found = place(workplace, path)
    with speaking_of(path):
        if is_nothing(found):
            return None
        with opened(found) as file:
            return file.read(MOST_COMPARED + 1)


def _ready(workplace: Workplace, path: str) -> Path:
    """The file to write, whose folder is there."""
    found = place(workplace, path)
    with speaking_of(path):
        with opened_folder(found.parent, make=True):
            pass
        if not is_nothing(found):  # A device or a pipe is not written to.
            with opened(found):
                pass
    return found


def _write(found: Path, path: str, data: bytes) -> None:
    with writing(found, path):
        write_whole_file(found, data, follows_links=False)


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
    changes=lambda call, workplace: place(workplace, required(call, "path")),
)
