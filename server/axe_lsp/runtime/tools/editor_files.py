"""Files as the editor of the user has them, whose unsaved text counts; without an editor, as they are on the disk.

Only text in UTF-8 goes through an editor. An editor that fails is passed over: then the disk counts.
"""

from __future__ import annotations

import os
from pathlib import Path

import anyio
from msgspec import Struct

from axe_lsp.runtime.files.line_ends import in_style_of, plain
from axe_lsp.runtime.files.regular_files import read_place
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.tools.editor import ReadFile, WriteFile
from axe_lsp.runtime.tools.tool import ToolError, Workplace

LARGEST = 10 * 1024 * 1024
"""Bytes of a file that is edited, or goes through an editor."""


class Open(Struct, frozen=True):
    """A file in the editor: its `text` as the editor gave it, and its `content` as it would be saved."""

    text: str
    content: bytes
    is_saved: bool


class ChangedError(Exception):
    """The file has changed in the editor since it was read."""


def can_write(workplace: Workplace) -> bool:
    """Return whether files are written by an editor."""
    return workplace.editor is not None and workplace.editor.can("write")


async def read_in_editor(workplace: Workplace, found: Path) -> Open | None:
    """Return a file as the editor has it; None if the file on the disk counts.

    `found` is a place below the working directory, without links. What is not on the disk may be in the editor.
    The disk counts where a command has changed the file and the editor has another text, which is the one from
    before the command unless the user is typing in it: in either case it must not undo what the command has done.
    """
    editor = workplace.editor
    if editor is None or not editor.can("read"):
        return None
    state = await anyio.to_thread.run_sync(_on_disk, found)
    if state is None:
        return None
    answer = await editor.ask(ReadFile(_address(workplace, found)))
    if answer.outcome != "done" or len(answer.text) > LARGEST:
        return None
    # Some editors have an empty text for what is not there.
    if not state.exists and not answer.text:
        return None
    content = in_style_of(state.content, valid_text(answer.text).encode())
    is_saved = state.exists and plain(content) == plain(state.content)
    if not is_saved and editor.disk_changes.include(state.changed_at):
        return None
    return Open(answer.text, state.content if is_saved else content, is_saved)


async def open_for_change(workplace: Workplace, found: Path) -> Open | None:
    """Return the same for what is about to be changed: an editor counts only if it can write, too."""
    return await read_in_editor(workplace, found) if can_write(workplace) else None


async def open_for_overwrite(workplace: Workplace, found: Path) -> Open | None:
    """Return the same for what is about to be written as a whole: an editor is not asked for a file that is new.

    Editors show their users that they have been asked for what is not there.
    """
    if not can_write(workplace) or not await anyio.to_thread.run_sync(os.path.exists, found):
        return None
    return await read_in_editor(workplace, found)


async def write_in_editor(
    workplace: Workplace, found: Path, content: bytes, before: Open | None = None
) -> str | None:
    """Have the editor write a file; returns a remark for the model. None if it has to be written to the disk.

    The folder is there. Raises ToolError, and ChangedError if the editor has the file not as it was `before`.
    """
    editor = workplace.editor
    if editor is None or not editor.can("write") or len(content) > LARGEST:
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    state = await anyio.to_thread.run_sync(_on_disk, found)
    if state is None:
        return None
    is_past_editor = before is None and editor.disk_changes.include(state.changed_at)
    if is_past_editor and await read_in_editor(workplace, found) is None:
        return None
    request = WriteFile(_address(workplace, found), text, before.text if before else None)
    answer = await editor.ask(request)
    if answer.outcome == "done":
        now = await anyio.to_thread.run_sync(_on_disk, found)
        is_written = now is None or now.content != state.content or content == state.content
        return "" if is_written else " in the editor, which has not saved it yet"
    if answer.outcome == "changed":
        raise ChangedError
    if answer.outcome == "refused":
        raise ToolError(answer.why)
    if answer.outcome == "unknown":
        raise ToolError(f"{answer.why}; it is not known whether the file was written")
    held = await read_in_editor(workplace, found)
    if held is not None and not held.is_saved:
        raise ToolError(f"{answer.why}; the file has changes in the editor that are not saved")
    return None


class _State(Struct, frozen=True):
    """A file on the disk. `changed_at` is in nanoseconds since 1970."""

    exists: bool
    content: bytes = b""
    changed_at: int = 0


def _on_disk(found: Path) -> _State | None:
    """Return a file on the disk; None if it is not a text that an editor could have."""
    try:
        status = found.lstat()
        # `mv` and `cp -p` put a file there that was modified long ago.
        changed_at = max(status.st_mtime_ns, status.st_ctime_ns)
        content = read_place(found, LARGEST)
        content.decode()
    except FileNotFoundError:
        return _State(exists=False)
    except (OSError, UnicodeDecodeError):
        return None
    return None if b"\0" in content else _State(True, content, changed_at)


def _address(workplace: Workplace, found: Path) -> str:
    """Return the path of a file below a folder as the editor knows that, which may be a link."""
    for folder in workplace.folders:
        real = os.path.realpath(folder)
        if found.is_relative_to(real):
            return os.path.normpath(folder / found.relative_to(real))
    return str(found)
