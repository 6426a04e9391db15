"""The state of files before and after the changes of a run, and undoing these, which blocks.

A file that holds a key is not kept, since no key is stored; nor is one of over `MOST_SAVED` bytes. What
commands change is not known.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.files.opening import content_of, remove_folder, remove_place
from axe_lsp.runtime.files.regular_files import is_there, write_whole_file
from axe_lsp.runtime.messages import Response, ToolCall
from axe_lsp.runtime.plain_text import decode, os_fault, short_digest
from axe_lsp.runtime.run_log import Known, RunLog, decoded
from axe_lsp.runtime.safety.redaction import REDACTED, holds_secret
from axe_lsp.runtime.tools.editor_files import open_for_overwrite
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import changed_file

MOST_SAVED = 5 * 1024 * 1024
"""Bytes of a file that are kept."""

Lost = Literal["large", "secret", "unreadable"]


class SavedFile(Struct, frozen=True, omit_defaults=True):
    """A file before a change. `content` is in base64, and None if there was no file or it is `lost`.

    `at` is in nanoseconds since 1970. What is saved `again` is in an earlier one: many changes of a large
    file take no more room than one. `missing_folders` is how many of the folders above it were not there.
    """

    path: str
    at: int
    content: str | None = None
    lost: Lost | None = None
    again: bool = False
    missing_folders: int = 0

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
        log.keep("left", turn, call_id, LeftFile(str(path), time.time_ns(), digest))


def _path(call: ToolCall, workplace: Workplace) -> Path | None:
    try:
        return changed_file(call, workplace)
    except (ToolError, OSError):
        return None  # The call will fail.


def _saved(path: Path, secrets: Collection[str], unsaved: bytes | None) -> SavedFile:
    content, lost = _content(path, secrets) if unsaved is None else _kept(unsaved, secrets)
    # Of two agents that save a file at the same time, the one that has read it first has the state before both.
    encoded = base64.b64encode(content).decode() if content is not None else None
    missing = sum(not is_there(each) for each in path.parents)
    return SavedFile(str(path), time.time_ns(), encoded, lost, missing_folders=missing)


def _content(path: Path, secrets: Collection[str]) -> tuple[bytes | None, Lost | None]:
    """Return the content of a file, None if there is none, or why it is not kept."""
    try:
        content = content_of(path, MOST_SAVED + 1)
    except OSError:
        return None, "unreadable"
    return (None, None) if content is None else _kept(content, secrets)


def _kept(content: bytes, secrets: Collection[str]) -> tuple[bytes | None, Lost | None]:
    if len(content) > MOST_SAVED:
        return None, "large"
    is_secret = holds_secret(content.decode("utf-8", "replace"), secrets)
    return (None, "secret") if is_secret else (content, None)


def _digest_in(path: Path) -> str | None:
    """Return the digest of a file, "" if there is none, None if it can't be read."""
    try:
        return digest_of_file(content_of(path))
    except OSError:  # Another program has replaced the file, or nobody may read it.
        return None


def digest_of_file(content: bytes | None) -> str:
    """Return the digest of a file with this content, "" for no file."""
    return "" if content is None else short_digest(content)


class FileUndo(Struct, frozen=True):
    """The effect of undoing a run on one file.

    With a `reason` the file is left as it is. Otherwise it gets the content `before`, or is deleted if
    that is None. `now` is its content, None if there is no file. `new_folders` are the folders above it that the
    run has made.
    """

    path: Path
    before: bytes | None = None
    now: bytes | None = None
    reason: str = ""
    new_folders: tuple[Path, ...] = ()

    @property
    def shown(self) -> tuple[str, str]:
        """The texts now and afterwards, for a diff."""
        return decode(self.now or b""), decode(self.before or b"")

    @property
    def is_comparable(self) -> bool:
        """Whether it is small enough for a diff."""
        return len(self.now or b"") + len(self.before or b"") <= _MOST_COMPARED


_MOST_COMPARED = 512 * 1024
"""Bytes."""

_COMMANDS = ("run_command",)

_REASONS: Mapping[Lost, str] = {
    "large": f"it had more than {MOST_SAVED // 1024 // 1024} MB, which is not kept",
    "secret": "it held something that looks like a key, which is not kept",
    "unreadable": "it could not be read before it was changed",
}


def plan_undo(known: Known) -> list[FileUndo]:
    """Return the effect of undoing a tree on each file that it has changed and that is not as it was before."""
    saved: dict[str, list[SavedFile]] = {}
    left: dict[str, list[LeftFile]] = {}
    for (*_, kind), data in known.steps.items():
        if kind == "saved":
            before = decoded(data, SavedFile)
            saved.setdefault(before.path, []).append(before)
        elif kind == "left":
            after = decoded(data, LeftFile)
            left.setdefault(after.path, []).append(after)
    new_folders = {
        folder
        for each in chain.from_iterable(saved.values())
        for folder in [*Path(each.path).parents][: each.missing_folders]
    }
    plans = (_plan(path, saved[path], left.get(path, ())) for path in sorted(saved))
    return [
        replace(each, new_folders=tuple(new_folders.intersection(each.path.parents)))
        for each in plans
        if each.reason or each.before != each.now
    ]


def _plan(path: str, saved: Iterable[SavedFile], left: Iterable[LeftFile]) -> FileUndo:
    place = Path(path)
    by_time = sorted(saved, key=lambda each: each.at)
    first, last = next((each for each in by_time if not each.again), None), by_time[-1]
    after = max(left, key=lambda each: each.at, default=None)
    if first is None:
        return FileUndo(place, reason="its content before the run is not stored")
    if lost := _lost(first):
        return FileUndo(place, reason=lost)
    before = base64.b64decode(first.content) if first.content is not None else None
    try:
        if place.resolve() != place or (place.exists() and not place.is_file()):
            return FileUndo(place, reason="its path leads to another file now")
        now = content_of(place)
    except OSError as error:
        return FileUndo(place, reason=f"it can't be read: {os_fault(error)}")
    return FileUndo(place, before, now, "" if before == now else _objection(now, last, after))


def _lost(first: SavedFile) -> str:
    """Return why it is not known where the file is, or what it was before; "" if both are known."""
    if REDACTED in first.path:
        return "its path has something that looks like a key"
    if first.content is not None and REDACTED in first.content:  # By chance, in base64.
        return _REASONS["secret"]
    return _REASONS[first.lost] if first.lost is not None else ""


def _objection(now: bytes | None, last: SavedFile, after: LeftFile | None) -> str:
    """Return why the file can't be put back, "" if it is as the run has left it."""
    if after is not None and after.digest == digest_of_file(now):
        return ""  # Calls after that, if any, have failed.
    if after is None or after.at < last.at:
        return "it is not known how the run has left it"
    return "it has changed since"


def undo(plans: Iterable[FileUndo]) -> Iterator[FileUndo]:
    """Put files back; yield each as it has come out: with a `reason` if it was left.

    Folders that the run has made are removed at the end if they are empty.
    """
    new_folders: set[Path] = set()
    for plan in plans:
        if plan.reason:
            yield plan
            continue
        try:
            if plan.path.resolve() != plan.path or content_of(plan.path) != plan.now:
                yield _left(plan, "it has changed since")
                continue
            if plan.before is None:
                remove_place(plan.path)
                new_folders.update(plan.new_folders)
            else:
                write_whole_file(plan.path, plan.before, follows_links=False)
        except OSError as error:
            yield _left(plan, os_fault(error))
        else:
            yield plan
    for folder in sorted(new_folders, key=lambda each: len(each.parts), reverse=True):
        with suppress(OSError):  # Somebody else has a file there, or has removed it.
            remove_folder(folder)


def has_commands(known: Known) -> bool:
    """Return whether a tree has run commands, whose effects are not known."""
    answers = (
        decoded(text, Response) for (*_, kind), text in known.steps.items() if kind == "answer"
    )
    return any(call.name in _COMMANDS for answer in answers for call in answer.tool_calls)


def _left(plan: FileUndo, reason: str) -> FileUndo:
    return FileUndo(plan.path, plan.before, plan.now, reason)
