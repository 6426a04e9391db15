"""Applying the changes of a copy to the folder that it is a copy of: all of them or none, to files only.

Each file is merged from three states: what the copy began with, what the agent has left, and what is in
the folder now. The functions here block.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct

from axe_lsp.runtime.copies.copy import Change, Entry
from axe_lsp.runtime.copies.git import GitError, OwnGit
from axe_lsp.runtime.files.opening import opened_file, opened_folder, remove_place
from axe_lsp.runtime.plain_text import os_fault, shown_path
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.tools.diff import rehearsal
from axe_lsp.runtime.tools.paths import NamedFile

_LINK = "120000"
_EXECUTABLE = "100755"
_PLAIN = "100644"


class ApplyError(Exception):
    """Nothing was applied."""


class Planned(Struct, frozen=True):
    """The effect of applying on one file. An entry is None where there is, or will be, no file."""

    path: str
    place: Path
    now: Entry | None
    then: Entry | None

    @property
    def letter(self) -> str:
        """As git shows it."""
        return "A" if self.now is None else "D" if self.then is None else "M"

    @property
    def is_write(self) -> bool:
        """Whether `write_file` could do the same."""
        then, now = self.then, self.now
        return then is not None and (now.mode if now is not None else _PLAIN) == then.mode != _LINK

    @property
    def is_undoable(self) -> bool:
        """Whether undo knows the states before and after: that of a link is not one of a file."""
        return all(each is None or each.mode != _LINK for each in (self.now, self.then))

    @property
    def rehearsal(self) -> Rehearsal:
        """The change as a person is asked about it."""
        now, then = self.now, self.then
        old, new = (each.content if each is not None else None for each in (now, then))
        verb = "delete" if then is None else "apply a change of its copy to"
        if now is not None and then is not None and now.mode != then.mode:
            verb = f"make {_KINDS[then.mode]} of"
        elif now is None and then is not None and then.mode != _PLAIN:
            verb = f"add {_KINDS[then.mode]},"
        named = NamedFile(self.place, shown_path(self.path))
        if any(content is not None and b"\0" in content for content in (old, new)):
            sizes = f"{len(old or b''):,} bytes now, {len(new or b''):,} bytes then"
            purpose = f"{verb} {named.shown}"
            details = f"{named.shown} is a binary file: {sizes}"
            return Rehearsal(purpose, details, subject=str(self.place), for_run="this file")
        size = f"{len(new or b''):,} bytes would take the place of {len(old or b''):,}"
        return rehearsal(verb, named, old, new or b"", size)


_KINDS = {_LINK: "a link", _EXECUTABLE: "an executable file", _PLAIN: "an ordinary file"}


class Plan(Struct, frozen=True):
    """The changes to apply, and the reasons why some can't be applied, as sentences about files."""

    files: tuple[Planned, ...]
    conflicts: tuple[str, ...]


def plan(changes: Iterable[Change], folder: Path, prefix: str, own: OwnGit) -> Plan:
    """Return the effect of applying changes to `folder`, which is `prefix` from the top. Raises GitError or OSError."""
    files: list[Planned] = []
    conflicts: list[str] = []
    for change in changes:
        path = os.fsdecode(change.path)
        inside = PurePosixPath(path)
        if prefix != ".":
            try:
                inside = inside.relative_to(PurePosixPath(Path(prefix).as_posix()))
            except ValueError:
                conflicts.append(f"{shown_path(path)} is outside of the working directory")
                continue
        try:
            planned = _planned(change, folder, inside, own)
        except _ConflictError as error:
            conflicts.append(f"{shown_path(str(inside))} {error}")
        else:
            if planned.now != planned.then:
                files.append(planned)
    return Plan(tuple(files), tuple(conflicts))


def apply(files: Sequence[Planned]) -> None:
    """Change all files, or none. Raises ApplyError."""
    done: list[Planned] = []
    try:
        # Deleted ones first: a folder may take the place of a file.
        for each in sorted(files, key=lambda file: file.then is not None):
            done.append(each)
            _put(each.place, each.then)
    except OSError as error:
        for each in reversed(done):
            with suppress(OSError):
                _put(each.place, each.now)
        raise ApplyError(f"{shown_path(done[-1].path)}: {os_fault(error)}") from error
    for each in files:
        if each.then is None:
            _remove_empty(each.place.parent, len(PurePosixPath(each.path).parts) - 1)


class _ConflictError(Exception):
    """A file can't be merged. The text completes a sentence that begins with the file."""


def _planned(change: Change, folder: Path, inside: PurePosixPath, own: OwnGit) -> Planned:
    place = folder / inside
    if place.parent.resolve() != folder.joinpath(*inside.parent.parts):
        raise _ConflictError("is in a folder that is a link now")
    if change.after is not None and change.after.mode == _LINK:
        _check_link(place, folder, os.fsdecode(change.after.content))
    now = _entry(place)
    return Planned(str(inside), place, now, _merged(change, now, own))


def _check_link(place: Path, folder: Path, target: str) -> None:
    """Refuse a link that leads to what its agent could not change by itself."""
    real = Path(os.path.normpath(place.parent / target))
    if Path(target).is_absolute() or not real.is_relative_to(folder):
        raise _ConflictError("is a link that leads out of the working directory")


def _entry(place: Path) -> Entry | None:
    try:
        mode = place.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(mode):
        return Entry(_LINK, os.fsencode(place.readlink()))
    if not stat.S_ISREG(mode):
        raise _ConflictError(
            "is a folder now" if stat.S_ISDIR(mode) else "is not a regular file now"
        )
    with opened_file(place) as file:
        return Entry(_EXECUTABLE if mode & stat.S_IXUSR else _PLAIN, file.read())


def _merged(change: Change, now: Entry | None, own: OwnGit) -> Entry | None:
    before, after = change.before, change.after
    if now in (before, after):
        return after
    if before is None or now is None or after is None:
        if now is None:
            raise _ConflictError("has been deleted since")
        if after is None:
            raise _ConflictError("has been changed since, and is deleted in the copy")
        raise _ConflictError("has been added since, with another content")
    if _LINK in (before.mode, after.mode, now.mode):
        raise _ConflictError("has been changed since, and is a link")
    mode = after.mode if after.mode != before.mode else now.mode
    return Entry(mode, _merged_content(before.content, after.content, now.content, own))


def _merged_content(before: bytes, after: bytes, now: bytes, own: OwnGit) -> bytes:
    if now in (before, after):
        return after
    if before == after:
        return now
    with tempfile.TemporaryDirectory(dir=own.folder) as scratch:
        files = [Path(scratch, name) for name in ("now", "before", "after")]
        for file, content in zip(files, (now, before, after), strict=True):
            file.write_bytes(content)
        try:
            return own("merge-file", "-p", "-q", *map(str, files))
        except GitError:  # Its code is the number of conflicts, or that a file is binary.
            raise _ConflictError("has been changed since in the same lines") from None


def _put(place: Path, entry: Entry | None) -> None:
    """Give a place its new state."""
    if entry is None:
        with suppress(FileNotFoundError):
            remove_place(place)
        return
    with opened_folder(place.parent, make=True) as folder:
        if entry.mode == _LINK:
            folder.link(place.name, os.fsdecode(entry.content))
            return
        status = folder.status(place.name)
        is_file = status is not None and stat.S_ISREG(status.st_mode)
        mode = stat.S_IMODE(status.st_mode) if status is not None and is_file else None
        folder.replace(place.name, entry.content, mode)
        status = folder.status(place.name)
        mode = stat.S_IMODE(status.st_mode) if status is not None else 0
        wanted = mode | (mode & 0o444) >> 2 if entry.mode == _EXECUTABLE else mode & ~0o111
        if wanted != mode:
            folder.set_mode(place.name, wanted)


def _remove_empty(folder: Path, most: int) -> None:
    """Remove folders that have no file any more, as git does; so many at most."""
    with suppress(OSError):
        for _ in range(most):
            folder.rmdir()
            folder = folder.parent
