"""The state of files before and after the changes of a run, so that `undoing.py` can undo these.

A file that holds a key is not kept, since no key is stored; nor is one of over `MOST_SAVED` bytes. What
commands change is not known.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct

from axe_lsp.runtime.files.opening import is_nothing, opened_file
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.run_log import RunLog
from axe_lsp.runtime.safety.redaction import holds_secret
from axe_lsp.runtime.tools.editor_files import open_for_overwrite
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import changed_file

MOST_SAVED = 5 * 1024 * 1024
"""Bytes of a file that are kept."""

Lost = Literal["large", "secret", "unreadable"]


class SavedFile(Struct, frozen=True, omit_defaults=True):
    """A file before a change. `content` is in base64, and None if there was no file or it is `lost`.

    `at` is in nanoseconds since 1970. What is saved `again` is in an earlier one: many changes of a large
    file take no more room than one.
    """

    path: str
    at: int
    content: str | None = None
    lost: Lost | None = None
    again: bool = False

    @property
    def text(self) -> str | None:
        """The text of the file, "" if there was none; None if it is in an earlier one, or not known."""
        if self.lost is not None or self.again:
            return None
        try:
            return base64.b64decode(self.content or "").decode()
        except ValueError:  # It is no text, or something in it looked like a key.
            return None


class LeftFile(Struct, frozen=True):
    """A file after a change, by its digest, "" for none."""

    path: str
    at: int
    digest: str


async def keep_before(
    log: RunLog, turn: int, call: ToolCall, workplace: Workplace, secrets: Collection[str]
) -> None:
    """Keep the file that a call is about to change, if it changes one."""
    path = _path(call, workplace) if log.is_kept else None
    if path is not None:
        held = None if log.has_saved(str(path)) else await open_for_overwrite(workplace, path)
        unsaved = held.content if held is not None else None
        await keep_file_before(log, turn, call.event_id, path, secrets, unsaved=unsaved)


async def keep_after(log: RunLog, turn: int, call: ToolCall, workplace: Workplace) -> None:
    """Keep how a call has left the file that it has changed, if it can still be read."""
    path = _path(call, workplace) if log.is_kept else None
    if path is not None:
        await keep_file_after(log, turn, call.event_id, path)


async def keep_file_before(
    log: RunLog,
    turn: int,
    call_id: str,
    path: Path,
    secrets: Collection[str],
    *,
    unsaved: bytes | None = None,
) -> None:
    """Keep the file at a path without links, which is about to be changed, or what an editor has of it `unsaved`."""
    saved = SavedFile(str(path), time.time_ns(), again=True)
    if not log.has_saved(str(path)):
        saved = await anyio.to_thread.run_sync(partial(_saved, path, secrets, unsaved))
    log.keep_saved(turn, call_id, saved.path, saved)


async def keep_file_after(log: RunLog, turn: int, call_id: str, path: Path) -> None:
    """Keep how the file at a path without links was left, if it can still be read."""
    digest = await anyio.to_thread.run_sync(_digest_in, path)
    if digest is not None:
        log.keep_left(turn, call_id, LeftFile(str(path), time.time_ns(), digest))


def _path(call: ToolCall, workplace: Workplace) -> Path | None:
    try:
        return changed_file(call, workplace)
    except (ToolError, OSError):
        return None  # The call will fail.


def _saved(path: Path, secrets: Collection[str], unsaved: bytes | None) -> SavedFile:
    content, lost = _content(path, secrets) if unsaved is None else _kept(unsaved, secrets)
    # Of two agents that save a file at the same time, the one that has read it first has the state before both.
    encoded = base64.b64encode(content).decode() if content is not None else None
    return SavedFile(str(path), time.time_ns(), encoded, lost)


def _content(path: Path, secrets: Collection[str]) -> tuple[bytes | None, Lost | None]:
    """The content of a file, None if there is none, or why it is not kept."""
    try:
        if is_nothing(path):
            return None, None
        with opened_file(path) as file:
            return _kept(file.read(MOST_SAVED + 1), secrets)
    except OSError:
        return None, "unreadable"


def _kept(content: bytes, secrets: Collection[str]) -> tuple[bytes | None, Lost | None]:
    if len(content) > MOST_SAVED:
        return None, "large"
    is_secret = holds_secret(content.decode("utf-8", "replace"), secrets)
    return (None, "secret") if is_secret else (content, None)


def _digest_in(path: Path) -> str | None:
    """The digest of a file, "" if there is none, None if it can't be read."""
    try:
        if is_nothing(path):
            return ""
        with opened_file(path) as file:
            return digest_of(file.read())
    except OSError:  # Another program has replaced the file, or nobody may read it.
        return None


def digest_of(content: bytes) -> str:
    """The digest of a content."""
    from hashlib import blake2b

    return blake2b(content, digest_size=16).hexdigest()
