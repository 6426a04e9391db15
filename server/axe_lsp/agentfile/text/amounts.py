"""Counts and times as text for people; texts as a line."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`, `1,200 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def as_line(text: str, most: int) -> str:
    """Return the beginning of a text, as much as fits into a line of so many characters."""
    beginning = text[: 10 * most]
    line = " ".join(beginning.split())
    is_whole = len(line) <= most and not text[len(beginning) :].strip()
    return line if is_whole else line[: most - 1].rstrip() + "…"


def duration(milliseconds: int) -> str:
    """Return a duration for people: `120 ms`, `3.4 s`."""
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
