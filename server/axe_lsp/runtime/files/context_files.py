"""The files that an agent shows to its model: `files`, resolved and read (axe M3).

No symbolic link leads out of the working directory. `..` does, as in axe: an agent that asks for a
file beside it means it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, field

from axe_lsp.agentfile.text.globs import (
    ANY_FOLDERS,
    BadPatternError,
    compile_segment,
    has_magic,
    matches,
    may_match_below,
    segments_of,
)
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.images import LARGEST_IMAGE, image_of, media_type
from axe_lsp.runtime.files.opening import opened_file
from axe_lsp.runtime.files.regular_files import LARGEST_FILE, is_folder, rest_of
from axe_lsp.runtime.messages import Image
from axe_lsp.runtime.plain_text import decode, shown_path, valid_text

BINARY_PROBE = 512
"""A NUL among the first bytes makes a file binary."""


class ContextFile(Struct, frozen=True):
    """A file for the prompt: its path below the working directory, its text, its size in bytes.

    A picture has no text and goes with the first message.
    """

    path: str
    content: str
    size: int
    image: Image | None = None


class ContextFiles(Struct, frozen=True):
    """The files found, sorted by path, and notes for a person about the others."""

    files: tuple[ContextFile, ...] = ()
    notes: tuple[str, ...] = field(default=())


def find_context_files(patterns: Sequence[str], folder: Path) -> ContextFiles:
    """Return the text files below `folder` that match. Raises ConfigError for a malformed pattern."""
    compiled = [_segments(pattern) for pattern in patterns]
    if not compiled or not is_folder(folder):
        return ContextFiles()
    found: dict[str, Path] = {}
    for segments in compiled:
        for name, path in matching_files(segments, folder):
            found.setdefault(name, path)
    root = folder.resolve()
    files: list[ContextFile] = []
    notes: list[str] = []
    room = LARGEST_FILE
    for number, name in enumerate(sorted(found)):
        file, note = read_context_file(name, found[name], root)
        room -= file.size if file else 0
        if room < 0:
            limit, rest = LARGEST_FILE // 2**20, len(found) - number
            notes.append(
                f"context files have more than {limit} MB together; "
                f"{quoted(shown_path(name))} and what follows, {rest:,} in all, are left out"
            )
            break
        files += [file] if file else []
        notes += [note] if note else []
    return ContextFiles(tuple(files), tuple(notes))


def _segments(pattern: str) -> tuple[str, ...]:
    try:
        return segments_of(pattern)
    except BadPatternError as error:
        raise ConfigError(
            f"invalid glob pattern {quoted(pattern)}: {error}",
            step="failed to resolve files for agent",
        ) from error


def matching_files(
    segments: tuple[str, ...], folder: Path, go_on: Callable[[], bool] = lambda: True
) -> Iterator[tuple[str, Path]]:
    """Yield the matches of a pattern: names as seen from `folder`, and paths.

    Folders may be endless as far as an editor is concerned: it asks `go_on` before each one.
    """
    for path in _matching_paths(folder, segments, go_on):
        yield Path(os.path.relpath(path, folder)).as_posix(), path


def read_context_file(name: str, path: Path, root: Path) -> tuple[ContextFile | None, str]:
    """Return the file, unless it is binary, no file, or outside; and a note about it, or "".

    Of binary files only pictures count.
    `root` is the working directory without links.
    """
    try:
        place = path.resolve()
        if _is_led_out(name, place, root) or place.is_dir():
            return None, ""
        if not place.is_file():  # A link that leads nowhere, or a pipe, for which one would wait.
            is_there = path.exists()
            note = f"context file {quoted(shown_path(name))} is not a regular file"
            return None, note if is_there else ""
        with opened_file(place) as file:
            beginning, size = _beginning(file)
            picture = media_type(beginning)
            if b"\0" in beginning and not picture:
                return None, ""
            if picture and size > LARGEST_IMAGE:
                return None, _too_large_picture(name)
            data = beginning + rest_of(file, LARGEST_FILE)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle (Python < 3.13).
        reason = getattr(error, "strerror", None) or error
        return None, f"context file {quoted(shown_path(name))} could not be read: {reason}"
    return _contained(valid_text(name), data)


def _contained(name: str, data: bytes) -> tuple[ContextFile | None, str]:
    if media_type(data):
        image = image_of(data)
        if image is None:
            return None, _too_large_picture(name)
        return ContextFile(name, "", len(data), image), ""
    if b"\0" in data[:BINARY_PROBE]:
        return None, ""
    content = decode(data)
    note = ""
    if "\N{REPLACEMENT CHARACTER}" in content and not _is_utf8(data):
        note = f"context file {quoted(shown_path(name))} is not UTF-8; bad bytes were replaced"
    return ContextFile(name, content, len(data)), note


def _too_large_picture(name: str) -> str:
    too_large = f"is larger than {LARGEST_IMAGE:,} bytes, so no model accepts it"
    return f"the picture {quoted(shown_path(name))} {too_large}"


def measure_context_file(name: str, path: Path, root: Path) -> tuple[int, bool] | None:
    """Return the size in bytes of a file that would be read, and whether it is a picture, without reading it.

    None if it would not be read.
    """
    try:
        place = path.resolve()
        if _is_led_out(name, place, root) or not place.is_file():
            return None
        with opened_file(place) as file:
            beginning, size = _beginning(file)
        is_picture = bool(media_type(beginning))
        is_left_out = b"\0" in beginning and not is_picture
    except (OSError, RuntimeError):  # RuntimeError: links in a circle (Python < 3.13).
        return None
    return None if is_left_out else (size, is_picture)


def _beginning(file: BinaryIO) -> tuple[bytes, int]:
    """Return the first bytes of a file, and its size."""
    return file.read(BINARY_PROBE), os.fstat(file.fileno()).st_size


def _matching_paths(
    folder: Path, segments: tuple[str, ...], go_on: Callable[[], bool]
) -> Iterator[Path]:
    if ANY_FOLDERS not in segments:
        yield from _descend(folder, segments, go_on)
        return
    for parent, below, names in os.walk(folder):
        if not go_on():
            return
        here = Path(parent).relative_to(folder).parts
        below[:] = [name for name in below if may_match_below(segments, (*here, name))]
        for name in names:
            if matches(segments, (*here, name)):
                yield Path(parent, name)


_MOST_LINKS = 3
"""On the way to a file, where a pattern finds them: two links to their own folder would double the ways at each step."""


def _descend(
    folder: Path, segments: tuple[str, ...], go_on: Callable[[], bool], links: int = 0
) -> Iterator[Path]:
    if not go_on():
        return
    segment, rest = segments[0], segments[1:]
    for name in _children(folder, segment):
        path = folder / name
        if rest:
            more = links + (has_magic(segment) and path.is_symlink())
            if more <= _MOST_LINKS:
                yield from _descend(path, rest, go_on, more)
        else:
            yield path


def _children(folder: Path, segment: str) -> list[str]:
    if not has_magic(segment):
        return [segment] if os.path.lexists(folder / segment) else []
    pattern = compile_segment(segment)
    try:
        return [path.name for path in folder.iterdir() if pattern.fullmatch(path.name)]
    except OSError:
        return []


def _is_led_out(name: str, place: Path, root: Path) -> bool:
    """Return whether the file, whose links are resolved, lies outside, and not where its name says."""
    return not place.is_relative_to(root) and place != Path(os.path.normpath(root / name))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
