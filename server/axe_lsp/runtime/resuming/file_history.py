"""The states of the files that the tools of a tree have changed, read from its steps. Blocks only where files are read.

A file before its first change is stored whole, each change of it as a patch. Where another program has written in between,
a state is not known: the digest of each state tells.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct

from axe_lsp.runtime.files.opening import content_of
from axe_lsp.runtime.plain_text import decode, short_digest
from axe_lsp.runtime.run_log import Key, decoded

MAX_STATE = 5 * 1024 * 1024
"""Bytes of a file whose states are kept."""

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


class Patch(Struct, frozen=True):
    """A change of a file: from the byte `start` on, `removed` bytes give way to `inserted` (zlib, base64)."""

    start: int
    removed: int
    inserted: str

    def applied(self, content: bytes) -> bytes | None:
        """Return the content after the change, None if the patch can't be read."""
        try:
            inserter = zlib.decompressobj()
            inserted = inserter.decompress(base64.b64decode(self.inserted), MAX_STATE)
        except (ValueError, zlib.error):
            return None
        return content[: self.start] + inserted + content[self.start + self.removed :]


class LeftFile(Struct, frozen=True, omit_defaults=True):
    """A file after a change, by its digest, "" for none. `patch` leads there from the state before the change."""

    path: str
    at: int
    digest: str
    patch: Patch | None = None


def digest_of_file(content: bytes | None) -> str:
    """Return the digest of a file with this content, "" for no file."""
    return "" if content is None else short_digest(content)


def patch_between(before: bytes, after: bytes) -> Patch:
    """Return the patch that leads from one content to another."""
    start = _common_length(before, after)
    end = _common_length(before[start:][::-1], after[start:][::-1])
    inserted = base64.b64encode(zlib.compress(after[start : len(after) - end])).decode()
    return Patch(start, len(before) - start - end, inserted)


def _common_length(one: bytes, other: bytes) -> int:
    """Return the length of the common beginning; by halves, as comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


class Unknown(Struct, frozen=True):
    """A state of a file that is not known."""


UNKNOWN = Unknown()

State = bytes | None | Unknown
"""The content of a file; None is no file."""


class FileChange(Struct, frozen=True):
    """A change of a file by a call of a run. `left` is None if it is not known how the call has left the file."""

    run_id: str
    turn: int
    saved: SavedFile
    left: LeftFile | None
    before: State
    after: State


class FileHistory(Struct, frozen=True):
    """The changes of a file, oldest first."""

    path: str
    changes: tuple[FileChange, ...]


def file_histories(steps: Mapping[Key, str]) -> list[FileHistory]:
    """Return what is known of each file that a tree has changed, by path. Raises ValueError for unreadable steps."""
    saved: dict[str, list[tuple[SavedFile, LeftFile | None, str, int]]] = {}
    for (run_id, turn, call, kind), data in steps.items():
        if kind == "saved":
            before = decoded(data, SavedFile)
            text = steps.get((run_id, turn, call, "left"))
            after = None if text is None else decoded(text, LeftFile)
            saved.setdefault(before.path, []).append((before, after, run_id, turn))
    return [
        FileHistory(path, tuple(_changes(sorted(saved[path], key=lambda each: each[0].at))))
        for path in sorted(saved)
    ]


def _changes(
    pairs: list[tuple[SavedFile, LeftFile | None, str, int]],
) -> Iterator[FileChange]:
    state: State = UNKNOWN
    for saved, left, run_id, turn in pairs:
        before = _saved_state(saved, state)
        state = before if left is None else _left_state(left, before)
        yield FileChange(run_id, turn, saved, left, before, state)


def _saved_state(saved: SavedFile, former: State) -> State:
    if saved.again:
        return former
    if saved.lost is not None:
        return UNKNOWN
    if saved.content is None:
        return None
    with suppress(ValueError):  # By chance something in it looked like a key.
        return base64.b64decode(saved.content, validate=True)
    return UNKNOWN


def _left_state(left: LeftFile, before: State) -> State:
    if left.digest == "":
        return None
    if left.patch is None or isinstance(before, Unknown):
        return UNKNOWN
    after = left.patch.applied(before or b"")
    return after if after is not None and digest_of_file(after) == left.digest else UNKNOWN


Selects = Callable[[str, int], bool]
"""Whether the changes of a run in a turn are meant."""


class ChangedFile(Struct, frozen=True):
    """A file that changes have led from one state to another."""

    path: Path
    before: State
    after: State

    @property
    def kind(self) -> Literal["added", "deleted", "modified"]:
        """The kind of the change."""
        if self.before is None:
            return "added"
        return "deleted" if self.after is None else "modified"

    @property
    def counts(self) -> LineCounts | None:
        """The lines added and removed, None if they are not known."""
        return line_counts(self.before, self.after)

    @property
    def is_undone(self) -> bool:
        """Whether the file is now as it was before. Blocks."""
        if isinstance(self.before, Unknown) or self.before == self.after:
            return False
        try:
            return content_of(self.path, MAX_STATE + 1) == self.before
        except OSError:
            return False

    @property
    def is_comparable(self) -> bool:
        """Whether both states are known and small enough for a diff."""
        states = self.before, self.after
        if any(isinstance(each, Unknown) for each in states):
            return False
        return sum(len(each or b"") for each in states) <= MAX_COMPARED  # type: ignore[arg-type, misc]

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """The texts before and after, None where there is no file; of a comparable file."""
        before, after = (
            decode(each) if isinstance(each, bytes) else None for each in (self.before, self.after)
        )
        return before, after


def changed_files(
    histories: Iterable[FileHistory], selects: Selects | None = None
) -> list[ChangedFile]:
    """Return the files that the selected changes have left otherwise than before, by path."""
    files: list[ChangedFile] = []
    for history in histories:
        changes = [
            each for each in history.changes if selects is None or selects(each.run_id, each.turn)
        ]
        if any(each.left is not None for each in changes):
            before, after = changes[0].before, _latest_state(history, changes[-1])
            if isinstance(before, Unknown) or before != after:
                files.append(ChangedFile(Path(history.path), before, after))
    return files


def _latest_state(history: FileHistory, change: FileChange) -> State:
    """Return the state after a change. The last one of a file may still be on the disk, if a former one is unknown."""
    if not isinstance(change.after, Unknown) or change is not history.changes[-1]:
        return change.after
    try:
        now = content_of(Path(history.path), MAX_STATE + 1)
    except OSError:
        return UNKNOWN
    has_left = change.left is not None and change.left.digest == digest_of_file(now)
    return now if has_left else UNKNOWN


class LineCounts(Struct, frozen=True):
    """How many lines a change adds and removes."""

    added: int
    removed: int


MAX_COMPARED = 512 * 1024
"""Bytes of two states that are compared line by line."""

_MOST_MATCHED = 2_000
"""Lines that differ, up to which the smallest difference is looked for, which takes quadratic time."""


def line_counts(before: State, after: State) -> LineCounts | None:
    """Return the lines that lead from one state to another, None if that is not known, or no lines of text are."""
    if isinstance(before, Unknown) or isinstance(after, Unknown):
        return None
    old, new = before or b"", after or b""
    if len(old) + len(new) > MAX_COMPARED or b"\0" in old or b"\0" in new:
        return None
    return _compared(decode(old).splitlines(keepends=True), decode(new).splitlines(keepends=True))


def _compared(old: list[str], new: list[str]) -> LineCounts:
    start, end, shorter = 0, 0, min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    from difflib import SequenceMatcher

    old, new = old[start : len(old) - end], new[start : len(new) - end]
    kept = 0
    if len(old) + len(new) <= _MOST_MATCHED:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        kept = sum(block.size for block in matcher.get_matching_blocks())
    return LineCounts(len(new) - kept, len(old) - kept)
