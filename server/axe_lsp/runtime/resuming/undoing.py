"""Undo: what it takes to put back the files that the tools of a run have changed, and doing it. It blocks."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from axe_lsp.runtime.files.opening import is_nothing, opened_file, remove_place
from axe_lsp.runtime.files.regular_files import write_whole_file
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.plain_text import decode, os_fault
from axe_lsp.runtime.resuming.saved_files import MOST_SAVED, LeftFile, Lost, SavedFile, digest_of
from axe_lsp.runtime.run_log import Known, decoded
from axe_lsp.runtime.safety.redaction import REDACTED


class FileUndo(Struct, frozen=True):
    """The effect of undoing a run on one file.

    With a `reason` the file is left as it is. Otherwise it gets the content `before`, or is deleted if
    that is None. `now` is its content, None if there is no file.
    """

    path: Path
    before: bytes | None = None
    now: bytes | None = None
    reason: str = ""

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
    """The effect of undoing a tree on each file that it has changed and that is not as it was before."""
    saved: dict[str, list[SavedFile]] = {}
    left: dict[str, list[LeftFile]] = {}
    for (*_, kind), data in known.steps.items():
        if kind == "saved":
            before = decoded(data, SavedFile)
            saved.setdefault(before.path, []).append(before)
        elif kind == "left":
            after = decoded(data, LeftFile)
            left.setdefault(after.path, []).append(after)
    plans = (_plan(path, saved[path], left.get(path, ())) for path in sorted(saved))
    return [each for each in plans if each.reason or each.before != each.now]


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
        now = _content(place)
    except OSError as error:
        return FileUndo(place, reason=f"it can't be read: {os_fault(error)}")
    return FileUndo(place, before, now, "" if before == now else _objection(now, last, after))


def _lost(first: SavedFile) -> str:
    """Why it is not known where the file is, or what it was before; "" if both are known."""
    if REDACTED in first.path:
        return "its path has something that looks like a key"
    if first.content is not None and REDACTED in first.content:  # By chance, in base64.
        return _REASONS["secret"]
    return _REASONS[first.lost] if first.lost is not None else ""


def _objection(now: bytes | None, last: SavedFile, after: LeftFile | None) -> str:
    """Why the file can't be put back, "" if it is as the run has left it."""
    if after is not None and after.digest == (digest_of(now) if now is not None else ""):
        return ""  # Calls after that, if any, have failed.
    if after is None or after.at < last.at:
        return "it is not known how the run has left it"
    return "it has changed since"


def undo(plans: Iterable[FileUndo]) -> Iterator[FileUndo]:
    """Put files back. Gives each as it has come out: with a `reason` if it was left."""
    for plan in plans:
        if plan.reason:
            yield plan
            continue
        try:
            if plan.path.resolve() != plan.path or _content(plan.path) != plan.now:
                yield _left(plan, "it has changed since")
                continue
            if plan.before is None:
                remove_place(plan.path)
            else:
                write_whole_file(plan.path, plan.before, follows_links=False)
        except OSError as error:
            yield _left(plan, os_fault(error))
        else:
            yield plan


def _content(place: Path) -> bytes | None:
    """The content of a file, None if there is none. Raises OSError."""
    if is_nothing(place):
        return None
    with opened_file(place) as file:
        return file.read()


def has_commands(known: Known) -> bool:
    """Whether a tree has run commands, whose effects are not known."""
    answers = (
        decoded(text, Response) for (*_, kind), text in known.steps.items() if kind == "answer"
    )
    return any(call.name in _COMMANDS for answer in answers for call in answer.tool_calls)


def _left(plan: FileUndo, reason: str) -> FileUndo:
    return FileUndo(plan.path, plan.before, plan.now, reason)
