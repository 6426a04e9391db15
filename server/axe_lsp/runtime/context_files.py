"""The files that an agent shows to its model: `files`, resolved and read (axe M3).

No symbolic link leads out of the working directory. `..` does, as in axe: an agent that asks for a
file beside it means it.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from axe_lsp.agentfile.text import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.globs import (
    ANY_FOLDERS,
    BadPatternError,
    compile_segment,
    has_magic,
    matches,
)
from axe_lsp.runtime.plain_text import decode, shown_path, valid_text

BINARY_PROBE = 512
"""A NUL among the first bytes makes a file binary."""


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file for the prompt: its path below the working directory, its text, its size in bytes."""

    path: str
    content: str
    size: int


@dataclass(frozen=True, slots=True)
class ContextFiles:
    """What was found, sorted by path, and what a person should know about what was not."""

    files: tuple[ContextFile, ...] = ()
    notes: tuple[str, ...] = field(default=())


def find_context_files(patterns: Sequence[str], folder: Path) -> ContextFiles:
    """The text files below `folder` that match. Raises ConfigError for a malformed pattern."""
    compiled = [_segments(pattern) for pattern in patterns]
    found: dict[str, Path] = {}
    for segments in compiled:
        for path in _matching_paths(folder, segments):
            found.setdefault(Path(os.path.relpath(path, folder)).as_posix(), path)
    root = folder.resolve()
    files, notes = [], []
    for name in sorted(found):
        file, note = _read(name, found[name], root)
        files += [file] if file else []
        notes += [note] if note else []
    return ContextFiles(tuple(files), tuple(notes))


def _segments(pattern: str) -> tuple[str, ...]:
    """The pattern's segments. As in axe, a leading slash does not leave the working directory."""
    segments = tuple(posixpath.normpath(pattern).lstrip("/").split("/"))
    try:
        for segment in segments:
            if segment != ANY_FOLDERS:
                compile_segment(segment)
    except BadPatternError as error:
        raise ConfigError(
            f"invalid glob pattern {quoted(pattern)}: {error}",
            step="failed to resolve files for agent",
        ) from error
    return segments


def _matching_paths(folder: Path, segments: tuple[str, ...]) -> Iterator[Path]:
    if ANY_FOLDERS not in segments:
        yield from _descend(folder, segments)
        return
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if matches(segments, path.relative_to(folder).parts):
                yield path


def _descend(folder: Path, segments: tuple[str, ...]) -> Iterator[Path]:
    segment, rest = segments[0], segments[1:]
    for name in _children(folder, segment):
        path = folder / name
        if rest:
            yield from _descend(path, rest)
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


def _read(name: str, path: Path, root: Path) -> tuple[ContextFile | None, str]:
    """The file, unless it is binary, no file, or outside; and a note about it, or ""."""
    try:
        if _is_led_out(name, path, root) or not path.is_file():
            return None, ""
        data = path.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle (Python < 3.13).
        return None, f"context file {quoted(shown_path(name))} could not be read: {error}"
    if b"\0" in data[:BINARY_PROBE]:
        return None, ""
    content = decode(data)
    note = ""
    if "\N{REPLACEMENT CHARACTER}" in content and not _is_utf8(data):
        note = f"context file {quoted(shown_path(name))} is not UTF-8; bad bytes were replaced"
    return ContextFile(valid_text(name), content, len(data)), note


def _is_led_out(name: str, path: Path, root: Path) -> bool:
    """Whether the file lies outside, and not where its name says."""
    place = path.resolve()
    return not place.is_relative_to(root) and place != Path(os.path.normpath(root / name))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
