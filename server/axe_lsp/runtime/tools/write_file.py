"""`write_file`: a file with this content, whatever was there before."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
from msgspec.structs import replace

from axe_lsp.runtime.files.line_ends import in_style_of
from axe_lsp.runtime.files.opening import content_of, is_nothing, opened_folder
from axe_lsp.runtime.files.regular_files import write_whole_file
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.tools.diff import MOST_COMPARED, marked_lines, rehearsal
from axe_lsp.runtime.tools.editor import changing_disk
from axe_lsp.runtime.tools.editor_files import (
    LARGEST,
    ChangedError,
    Open,
    open_for_overwrite,
    write_in_editor,
)
from axe_lsp.runtime.tools.paths import named_file, opened, place, speaking_of, writing
from axe_lsp.runtime.tools.read_file import TOOL as READ_FILE
from axe_lsp.runtime.tools.seen_files import COMPARED_BYTES, SeenFiles
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace, required


async def _write_file(call: ToolCall, workplace: Workplace) -> str:
    path, data = _wanted(call)
    found = await anyio.to_thread.run_sync(partial(_ready, workplace, path))
    held = await open_for_overwrite(workplace, found)
    await _require_former_reads(workplace, found, path)
    if held is not None:
        _require_unchanged(workplace, found, path, held.content)
        data = in_style_of(held.content, data)
    try:
        remark = await write_in_editor(workplace, found, data, held)
    except ChangedError:
        raise ToolError(f"{path} is being changed in the editor; read it and try again") from None
    if remark is None:
        with changing_disk(workplace.editor):
            write = partial(_write, workplace, found, path, data)
            data = await anyio.to_thread.run_sync(write)
    workplace.seen_files.note(found, data)
    return f"wrote {len(data)} bytes to {path}{remark or ''}"


async def _require_former_reads(workplace: Workplace, found: Path, path: str) -> None:
    """Raise ToolError unless a file is as a former process of the run, or a run before it, has read it."""
    unseen = replace(workplace, seen_files=SeenFiles())
    for former in workplace.seen_files.former_reads(found):
        try:
            result = await READ_FILE.execute(former.call, unseen)
        except ToolError:  # It is no longer there, or no text.
            continue
        if isinstance(result, str) and valid_text(result) != former.result:
            raise _changed(path)


def _require_unchanged(workplace: Workplace, found: Path, path: str, content: bytes) -> None:
    """Raise ToolError if a file is not as the agent has last read or written it."""
    if workplace.seen_files.has_changed(found, content):
        raise _changed(path)


def _changed(path: str) -> ToolError:
    return ToolError(
        f"{path} has changed since you read it and was not written; read it again first"
    )


async def _rehearse(call: ToolCall, workplace: Workplace) -> Rehearsal:
    path, data = _wanted(call)
    found = place(workplace, path)
    held = await open_for_overwrite(workplace, found)
    await _require_former_reads(workplace, found, path)
    change = partial(_change, workplace, path, data, held)
    return await anyio.to_thread.run_sync(change)


def _wanted(call: ToolCall) -> tuple[str, bytes]:
    """Return the path, and the new content of the file."""
    return required(call, "path"), valid_text(call.argument("content")).encode()


def _change(workplace: Workplace, path: str, data: bytes, held: Open | None) -> Rehearsal:
    if_large = f"all of it would be replaced by\n{marked_lines('+', data)}"
    old = held.content if held is not None else _read(workplace, path)
    if old is not None:
        _require_unchanged(workplace, place(workplace, path), path, old)
        if len(old) <= MOST_COMPARED:
            data = in_style_of(old, data)
    return rehearsal("write", named_file(workplace, path), old, data, if_large)


def _read(workplace: Workplace, path: str) -> bytes | None:
    """Return the content that would be overwritten, as far as it is compared."""
    found = place(workplace, path)
    with speaking_of(path):
        if is_nothing(found):
            return None
        with opened(found) as file:
            return file.read(max(MOST_COMPARED + 1, COMPARED_BYTES))


def _ready(workplace: Workplace, path: str) -> Path:
    """Return the file to write, whose folder is there."""
    found = place(workplace, path)
    with speaking_of(path):
        with opened_folder(found.parent, make=True):
            pass
        if not is_nothing(found):  # A device or a pipe is not written to.
            with opened(found):
                pass
    return found


def _write(workplace: Workplace, found: Path, path: str, data: bytes) -> bytes:
    """Write a file; return its content, which has the line endings that the file had before."""
    with writing(found, path):
        before = content_of(found, COMPARED_BYTES)
        if before is not None:
            _require_unchanged(workplace, found, path, before)
            if len(before) <= LARGEST:
                data = in_style_of(before, data)
        write_whole_file(found, data, follows_links=False)
    return data


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
