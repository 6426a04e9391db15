"""`edit_file`: one exact text in a file replaced by another one."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct

from axe_lsp.runtime.files.line_ends import replace_text
from axe_lsp.runtime.files.regular_files import write_whole_file
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.tools.diff import marked_lines, rehearsal
from axe_lsp.runtime.tools.editor import changing_disk
from axe_lsp.runtime.tools.editor_files import (
    LARGEST,
    ChangedError,
    Open,
    can_write,
    open_for_change,
    write_in_editor,
)
from axe_lsp.runtime.tools.paths import named_file, opened, place, speaking_of, writing
from axe_lsp.runtime.tools.seen_files import SeenFiles
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace, is_true, required

_MOST_ATTEMPTS = 5
"""The file may change at the same time, for example in an editor."""


class _Edit(Struct, frozen=True):
    """The old and the new bytes. Bytes, so that invalid UTF-8 is kept."""

    old: bytes
    new: bytes
    everywhere: bool

    def apply(self, content: bytes) -> tuple[bytes, int]:
        """Return the new content, and how many times the text was replaced. Raises ToolError."""
        changed, count = replace_text(content, self.old, self.new)
        if not count:
            raise ToolError("old_string not found in file")
        if count > 1 and not self.everywhere:
            raise ToolError(
                f"old_string found {count} times; "
                "set replace_all to true or provide a more unique string"
            )
        return changed, count

    def told(self, count: int) -> str:
        """Return the old and the new text, for a person."""
        where = "this text" if count == 1 else f"this text, which it has {count:,} times,"
        old, new = marked_lines("-", self.old), marked_lines("+", self.new)
        return f"{where} would be replaced:\n{old}\n{new}"


async def _edit_file(call: ToolCall, workplace: Workplace) -> str:
    path, edit = _wanted(call)
    found = place(workplace, path)
    if can_write(workplace):
        for _ in range(_MOST_ATTEMPTS):
            with suppress(ChangedError):
                return await _apply_in_editor(workplace, found, path, edit)
        raise ToolError(f"{path} is being changed in the editor; read it and try again")
    return await _apply_on_disk(workplace, found, path, edit)


async def _apply_in_editor(workplace: Workplace, found: Path, path: str, edit: _Edit) -> str:
    """Edit the text that the editor has. Raises ChangedError."""
    held = await open_for_change(workplace, found)
    if held is not None:
        content = held.content
    else:
        content = await anyio.to_thread.run_sync(partial(_content, found, path))
    changed, count = edit.apply(content)
    remark = await write_in_editor(workplace, found, changed, held)
    if remark is None:
        return await _apply_on_disk(workplace, found, path, edit)
    workplace.seen_files.note_edit(found, content, changed)
    return _told(count, path) + remark


async def _apply_on_disk(workplace: Workplace, found: Path, path: str, edit: _Edit) -> str:
    with changing_disk(workplace.editor):
        apply = partial(_apply, workplace.seen_files, found, path, edit)
        return _told(await anyio.to_thread.run_sync(apply), path)


def _told(count: int, path: str) -> str:
    return f"replaced {count} occurrence(s) in {path}"


async def _rehearse(call: ToolCall, workplace: Workplace) -> Rehearsal:
    path, edit = _wanted(call)
    held = await open_for_change(workplace, place(workplace, path))
    change = partial(_change, workplace, path, edit, held)
    return await anyio.to_thread.run_sync(change)


def _wanted(call: ToolCall) -> tuple[str, _Edit]:
    """Return the path, and the change of the file."""
    return required(call, "path"), _Edit(
        old=valid_text(required(call, "old_string")).encode(),
        new=valid_text(call.argument("new_string")).encode(),
        everywhere=is_true(call, "replace_all"),
    )


def _apply(seen_files: SeenFiles, found: Path, path: str, edit: _Edit) -> int:
    with speaking_of(path), opened(found):  # What is no file has no folder to lock either.
        pass
    with writing(found, path):
        before = _content(found, path)
        after, count = edit.apply(before)
        write_whole_file(found, after, follows_links=False)
    seen_files.note_edit(found, before, after)
    return count


def _change(workplace: Workplace, path: str, edit: _Edit, held: Open | None) -> Rehearsal:
    old = held.content if held is not None else _content(place(workplace, path), path)
    new, count = edit.apply(old)
    return rehearsal("change", named_file(workplace, path), old, new, edit.told(count))


def _content(found: Path, path: str) -> bytes:
    with speaking_of(path), opened(found) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ToolError(f"{path} is too large to edit: more than 10 MB")
    return content


TOOL = BuiltinTool(
    Tool(
        "edit_file",
        "Find and replace exact text in an existing file relative to the working directory. "
        "Supports single replacement (default) and replace-all mode.",
        {
            "path": ToolParameter("string", "Relative path to the file to edit.", required=True),
            "old_string": ToolParameter(
                "string", "The exact text to find in the file.", required=True
            ),
            "new_string": ToolParameter(
                "string", "The text to replace old_string with.", required=True
            ),
            "replace_all": ToolParameter(
                "string",
                'When set to "true", all occurrences are replaced. Defaults to false (single '
                "replacement).",
            ),
        },
    ),
    _edit_file,
    _rehearse,
    writes=True,
    changes=lambda call, workplace: place(workplace, required(call, "path")),
)
