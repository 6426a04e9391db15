"""File globs as axe understands them: Go's `filepath.Match` for a segment, and `**` across folders.

A leading dot is nothing special and matching is case-sensitive. Python's own globs differ in all
of this (and `[!a]`, and what an unclosed bracket means), so the patterns are translated here.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache

ANY_FOLDERS = "**"
"""The segment that stands for any number of folders, also none."""


class BadPatternError(ValueError):
    """The pattern is malformed."""


def segments_of(pattern: str) -> tuple[str, ...]:
    """The segments of a whole pattern. Raises BadPatternError.

    As in axe, a leading slash does not leave the folder where the pattern starts.
    """
    segments = tuple(posixpath.normpath(pattern).lstrip("/").split("/"))
    for segment in segments:
        if segment != ANY_FOLDERS:
            compile_segment(segment)
    return segments


def may_be_bad(pattern: str) -> bool:
    """Whether it takes a closer look: only a class or an escape can be malformed."""
    return "[" in pattern or "\\" in pattern


@cache
def compile_segment(pattern: str) -> re.Pattern[str]:
    """A regular expression for one segment of a path. Raises BadPatternError."""
    translated = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "*":
            translated.append(".*")
        elif character == "?":
            translated.append(".")
        elif character == "[":
            part, position = _character_class(pattern, position)
            translated.append(part)
        else:
            literal, position = _literal(pattern, position - 1)
            translated.append(re.escape(literal))
    return re.compile("".join(translated), re.DOTALL)


def has_magic(segment: str) -> bool:
    """Whether a segment is more than a name."""
    return any(character in segment for character in "*?[\\")


def matches(segments: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether the segments of a pattern, `**` among them, match those of a path."""
    if not segments:
        return not path
    if segments[0] == ANY_FOLDERS:
        return any(matches(segments[1:], path[start:]) for start in range(len(path) + 1))
    if not path or not compile_segment(segments[0]).fullmatch(path[0]):
        return False
    return matches(segments[1:], path[1:])


def may_match_below(segments: tuple[str, ...], folder: tuple[str, ...]) -> bool:
    """Whether anything in a folder, or below it, can match."""
    for segment, name in zip(segments, folder, strict=False):
        if segment == ANY_FOLDERS:
            return True
        if not compile_segment(segment).fullmatch(name):
            return False
    return len(folder) < len(segments)


def _character_class(pattern: str, position: int) -> tuple[str, int]:
    """Translate a class; `position` is behind its opening bracket."""
    negated = pattern.startswith("^", position)
    position += negated
    ranges: list[str] = []
    while not (ranges and pattern.startswith("]", position)):
        low, position = _bound(pattern, position)
        high = low
        if pattern.startswith("-", position):
            high, position = _bound(pattern, position + 1)
        if low <= high:  # A range that runs backwards matches nothing, but it is no mistake.
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            ranges.append("")
    inside = "".join(ranges)
    if not inside:
        return ("." if negated else "(?!)"), position + 1
    return f"[{'^' if negated else ''}{inside}]", position + 1


def _bound(pattern: str, position: int) -> tuple[str, int]:
    """One character of a class, perhaps escaped."""
    if position >= len(pattern) or pattern[position] in "-]":
        raise BadPatternError("syntax error in pattern")
    literal, position = _literal(pattern, position)
    if position >= len(pattern):  # The closing bracket is missing.
        raise BadPatternError("syntax error in pattern")
    return literal, position


def _literal(pattern: str, position: int) -> tuple[str, int]:
    """The character at `position`, or the one that a backslash there protects."""
    if pattern[position] != "\\":
        return pattern[position], position + 1
    if position + 1 >= len(pattern):
        raise BadPatternError("syntax error in pattern")
    return pattern[position + 1], position + 2
