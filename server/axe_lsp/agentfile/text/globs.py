"""File globs as axe understands them: Go's `filepath.Match` for a segment, and `**` across folders.

A leading dot is nothing special and matching is case-sensitive. Python's own globs differ in all
of this (and `[!a]`, and what an unclosed bracket means), so the patterns are translated here.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache, lru_cache

ANY_FOLDERS = "**"
"""The segment that stands for any number of folders, also none."""


class BadPatternError(ValueError):
    """The pattern is malformed."""


def segments_of(pattern: str) -> tuple[str, ...]:
    """Return the segments of a whole pattern. Raises BadPatternError.

    As in axe, a leading slash does not leave the folder where the pattern starts.
    """
    segments = _segments(pattern)
    if segments is None:
        raise BadPatternError(_FAULT)
    return segments


_FAULT = "syntax error in pattern"


@lru_cache(maxsize=4096)  # Each check of a file asks for the same patterns three times.
def _segments(pattern: str) -> tuple[str, ...] | None:
    """Return None for a malformed pattern."""
    segments = tuple(posixpath.normpath(pattern).lstrip("/").split("/"))
    magic = (each for each in segments if has_magic(each) and each != ANY_FOLDERS)
    return None if any(_compiled(each) is None for each in magic) else segments


def compile_segment(pattern: str) -> re.Pattern[str]:
    """Return a regular expression for one segment of a path. Raises BadPatternError.

    What is between two stars is looked for once, at its first place: else a name could take as long as its length to
    the power of the number of stars.
    """
    compiled = _compiled(pattern)
    if compiled is None:
        raise BadPatternError(_FAULT)
    return compiled


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return None for a malformed pattern, so that this is remembered as well."""
    try:
        return _compile(pattern)
    except BadPatternError:
        return None


def _compile(pattern: str) -> re.Pattern[str]:
    pieces: list[list[str]] = [[]]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        translated = pieces[-1]
        if character == "*":
            if translated or len(pieces) == 1:
                pieces.append([])
        elif character == "?":
            translated.append(".")
        elif character == "[":
            part, position = _character_class(pattern, position)
            translated.append(part)
        else:
            literal, position = _literal(pattern, position - 1)
            translated.append(re.escape(literal))
    first, *rest = ("".join(each) for each in pieces)
    between = [f"(?=(?P<p{n}>.*?{piece}))(?P=p{n})" for n, piece in enumerate(rest[:-1])]
    last = [f".*{piece}" for piece in rest[-1:]]
    return re.compile("".join((first, *between, *last)), re.DOTALL)


def has_magic(segment: str) -> bool:
    """Return whether a segment is more than a name."""
    return not _OF_GLOBS.isdisjoint(segment)


_OF_GLOBS = frozenset("*?[\\")


def matches(segments: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Return whether the segments of a pattern, `**` among them, match those of a path."""
    reached = {0}  # How much of the path the segments up to here may match.
    for segment in segments:
        if segment == ANY_FOLDERS:
            reached = set(range(min(reached), len(path) + 1))
        else:
            regex, inside = compile_segment(segment), (at for at in reached if at < len(path))
            reached = {at + 1 for at in inside if regex.fullmatch(path[at])}
        if not reached:
            return False
    return len(path) in reached


def may_match_below(segments: tuple[str, ...], folder: tuple[str, ...]) -> bool:
    """Return whether anything in a folder, or below it, can match."""
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
    """Parse one bound of a range in a class and return it with the position behind it. Raises BadPatternError."""
    if position >= len(pattern) or pattern[position] in "-]":
        raise BadPatternError("syntax error in pattern")
    literal, position = _literal(pattern, position)
    if position >= len(pattern):  # The closing bracket is missing.
        raise BadPatternError("syntax error in pattern")
    return literal, position


def _literal(pattern: str, position: int) -> tuple[str, int]:
    """Return the character at `position`, or the one that a backslash there protects."""
    if pattern[position] != "\\":
        return pattern[position], position + 1
    if position + 1 >= len(pattern):
        raise BadPatternError("syntax error in pattern")
    return pattern[position + 1], position + 2
