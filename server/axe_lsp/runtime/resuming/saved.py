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

from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.resuming.log import RunLog
from axe_lsp.runtime.safety.redaction import holds_secret
from axe_lsp.runtime.tools.table import changed_file
from axe_lsp.runtime.tools.tool import ToolError, Workplace

MOST_SAVED = 5 * 1024 * 1024
"""Bytes of a file that are kept."""

Lost = Literal["large", "secret", "unreadable"]


class SavedFile(Struct, frozen=True, omit_defaults=True):
    """A file before a change. `content` is in base64, and None if there was no file or it is `lost`.

    `at` is in nanoseconds since 1970.
    """

    path: str
    at: int
    content: str | None = None
    lost: Lost | None = None


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
        saved = await anyio.to_thread.run_sync(partial(_saved, path, secrets))
        log.keep_saved(turn, call.event_id, saved)


async def keep_after(log: RunLog, turn: int, call: ToolCall, workplace: Workplace) -> None:
    """Keep how a call has left the file that it has changed."""
    path = _path(call, workplace) if log.is_kept else None
    if path is not None:
        digest = await anyio.to_thread.run_sync(partial(_digest_in, path))
        log.keep_left(turn, call.event_id, LeftFile(str(path), time.time_ns(), digest))


def _path(call: ToolCall, workplace: Workplace) -> Path | None:
    try:
        path = changed_file(call, workplace)
        return path.resolve() if path is not None else None
    except (ToolError, OSError):
        return None  # The call will fail.


def _saved(path: Path, secrets: Collection[str]) -> SavedFile:
    at = time.time_ns()
    try:
        if not path.exists():
            return SavedFile(str(path), at)
        if not path.is_file():
            return SavedFile(str(path), at, lost="unreadable")
        if path.stat().st_size > MOST_SAVED:
            return SavedFile(str(path), at, lost="large")
        content = path.read_bytes()
    except OSError:
        return SavedFile(str(path), at, lost="unreadable")
    if holds_secret(content.decode("utf-8", "replace"), secrets):
        return SavedFile(str(path), at, lost="secret")
    return SavedFile(str(path), at, base64.b64encode(content).decode())


def _digest_in(path: Path) -> str:
    """The digest of a file, "" if there is none. Raises OSError."""
    return digest_of(path.read_bytes()) if path.exists() else ""


def digest_of(content: bytes) -> str:
    """The digest of a content."""
    from hashlib import blake2b

    return blake2b(content, digest_size=16).hexdigest()
