"""The state of files before and after the changes of a run, and undoing these, which blocks.

A file that holds a key is not kept, since no key is stored; nor is one of over `MAX_STATE` bytes. What
commands change is not known.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.files.opening import content_of, remove_folder, remove_place
from axe_lsp.runtime.files.regular_files import is_there, write_whole_file
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.plain_text import decode, os_fault
from axe_lsp.runtime.resuming.file_history import (
    MAX_COMPARED,
    MAX_STATE,
    FileChange,
    FileHistory,
    LeftFile,
    Lost,
    SavedFile,
    Selects,
    Unknown,
    digest_of_file,
    file_histories,
    patch_between,
)
from axe_lsp.runtime.run_log import Known, RunLog
from axe_lsp.runtime.safety.redaction import REDACTED, holds_secret
from axe_lsp.runtime.tools.editor_files import open_for_overwrite
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import changed_file


async def keep_before(
    log: RunLog, turn: int, call: ToolCall, workplace: Workplace, secrets: Collection[str]
) -> None:
    """Keep the file that a call is about to change, if it changes one."""
    path = _path(call, workplace) if log.is_kept else None
    if path is not None:
        held = await open_for_overwrite(workplace, path)
        unsaved = held.content if held is not None else None
        await keep_file_before(log, turn, call.event_id, path, secrets, unsaved=unsaved)


async def keep_after(
    log: RunLog, turn: int, call: ToolCall, workplace: Workplace, secrets: Collection[str] = ()
) -> None:
    """Keep how a call has left the file that it has changed, if it can still be read."""
    path = _path(call, workplace) if log.is_kept else None
    if path is not None:
        await keep_file_after(log, turn, call.event_id, path, secrets)


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
    content, lost = await anyio.to_thread.run_sync(partial(_content, path, secrets, unsaved))
    again = log.has_saved(str(path))
    saved = SavedFile(str(path), time.time_ns(), again=True)
    if not again:
        # Of two agents that save a file at the same time, the one that has read it first has the state before both.
        encoded = base64.b64encode(content).decode() if content is not None else None
        missing = await anyio.to_thread.run_sync(_missing_folders, path)
        saved = SavedFile(str(path), time.time_ns(), encoded, lost, missing_folders=missing)
    log.keep_saved(turn, call_id, saved.path, saved)
    if lost is None:
        log.contents[saved.path] = content


async def keep_file_after(
    log: RunLog, turn: int, call_id: str, path: Path, secrets: Collection[str]
) -> None:
    """Keep how the file at a path without links was left, if it can still be read."""
    has_before = str(path) in log.contents
    before = log.contents.pop(str(path), None)
    left = await anyio.to_thread.run_sync(partial(_left_file, path, before, secrets))
    if left is not None:
        log.keep("left", turn, call_id, left if has_before else replace(left, patch=None))


def _path(call: ToolCall, workplace: Workplace) -> Path | None:
    try:
        return changed_file(call, workplace)
    except (ToolError, OSError):
        return None  # The call will fail.


def _missing_folders(path: Path) -> int:
    return sum(not is_there(each) for each in path.parents)


def _content(
    path: Path, secrets: Collection[str], unsaved: bytes | None = None
) -> tuple[bytes | None, Lost | None]:
    """Return the content of a file, None if there is none, or why it is not kept."""
    try:
        content = content_of(path, MAX_STATE + 1) if unsaved is None else unsaved
    except OSError:
        return None, "unreadable"
    return (None, None) if content is None else _kept(content, secrets)


def _kept(content: bytes, secrets: Collection[str]) -> tuple[bytes | None, Lost | None]:
    if len(content) > MAX_STATE:
        return None, "large"
    is_secret = holds_secret(content.decode("utf-8", "replace"), secrets)
    return (None, "secret") if is_secret else (content, None)


def _left_file(path: Path, before: bytes | None, secrets: Collection[str]) -> LeftFile | None:
    """Return how a file was left, with the patch from `before` if its content may be kept; None if it can't be read."""
    try:
        content = content_of(path)
    except OSError:  # Another program has replaced the file, or nobody may read it.
        return None
    left = LeftFile(str(path), time.time_ns(), digest_of_file(content))
    if content is None or _kept(content, secrets)[1] is not None:
        return left
    return replace(left, patch=patch_between(before or b"", content))


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
        return len(self.now or b"") + len(self.before or b"") <= MAX_COMPARED


_REASONS: Mapping[Lost, str] = {
    "large": f"it had more than {MAX_STATE // 1024 // 1024} MB, which is not kept",
    "secret": "it held something that looks like a key, which is not kept",
    "unreadable": "it could not be read before it was changed",
}


def plan_undo(known: Known, selects: Selects | None = None) -> list[FileUndo]:
    """Return the effect of undoing a tree on each file that it has changed and that is not as it was before.

    With `selects` only the changes of these runs and turns are undone. Raises ValueError for unreadable steps.
    """
    histories = file_histories(known.steps)
    new_folders = {
        folder
        for history in histories
        for change in history.changes
        for folder in [*Path(history.path).parents][: change.saved.missing_folders]
    }
    plans = (plan for history in histories if (plan := _plan(history, selects)) is not None)
    return [
        replace(each, new_folders=tuple(new_folders.intersection(each.path.parents)))
        for each in plans
        if each.reason or each.before != each.now
    ]


def _plan(history: FileHistory, selects: Selects | None) -> FileUndo | None:
    """Return the effect on a file, None if none of its changes is selected."""
    changes = history.changes
    selected = [
        number
        for number, each in enumerate(changes)
        if selects is None or selects(each.run_id, each.turn)
    ]
    if not selected:
        return None
    place, first = Path(history.path), changes[selected[0]]
    if reason := _lost(first, is_first=selected[0] == 0):
        return FileUndo(place, reason=reason)
    before = None if isinstance(first.before, Unknown) else first.before
    try:
        if place.resolve() != place or (place.exists() and not place.is_file()):
            return FileUndo(place, reason="its path leads to another file now")
        now = content_of(place)
    except OSError as error:
        return FileUndo(place, reason=f"it can't be read: {os_fault(error)}")
    reason = "" if before == now else _objection(now, changes, selected[-1])
    return FileUndo(place, before, now, reason)


def _lost(first: FileChange, *, is_first: bool) -> str:
    """Return why it is not known where the file is, or what it was before; "" if both are known."""
    saved = first.saved
    if REDACTED in saved.path:
        return "its path has something that looks like a key"
    if saved.content is not None and REDACTED in saved.content:  # By chance, in base64.
        return _REASONS["secret"]
    if saved.lost is not None:
        return _REASONS[saved.lost]
    if isinstance(first.before, Unknown):
        return f"its content before the {'run' if is_first else 'turn'} is not stored"
    return ""


def _objection(now: bytes | None, changes: Sequence[FileChange], last: int) -> str:
    """Return why the file can't be put back, "" if it is as the change of number `last` or a former one has left it."""
    left = [each.left.digest if each.left is not None else None for each in changes]
    digest = digest_of_file(now)
    if digest in left[: last + 1]:
        return ""  # Calls after that have failed, or were undone.
    if digest in left[last + 1 :]:
        return "a later turn has changed it; undo that turn first"
    if changes[last].left is None:
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


def _left(plan: FileUndo, reason: str) -> FileUndo:
    return FileUndo(plan.path, plan.before, plan.now, reason)
