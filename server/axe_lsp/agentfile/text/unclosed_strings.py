"""The ends of strings. An unclosed string ends before a line that can only begin a statement."""

from __future__ import annotations

import re

# Lines that can only begin a statement, even where something was left open above them. A line of a
# nested array cannot look like the header: its elements would be values, not bare words.
_HEADER_LINE = (
    r"[ \t]*\[\[?[ \t]*(?!(?:true|false|inf|nan)[ \t]*\])[A-Za-z_][\w-]*"
    r"(?:[ \t]*\.[^\[\]\r\n]*|[ \t]*)\]\]?[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)"
)
HEADER_ANCHOR = re.compile(_HEADER_LINE)
"""A line that is a header, from end to end."""

ANCHOR = re.compile(_HEADER_LINE + r"|[ \t]*[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*[ \t]*=")
"""The same, or the beginning of an entry."""

# The next two are compiled when a string is left open, for which no start has to wait.

# In an unclosed multi-line string only lines at the margin count that look like a statement from end
# to end: prompts are prose, and prose may well hold an equals sign.
_ANCHOR_IN_PROSE = r"(?m)^(?:\[\[?[A-Za-z_][\w.-]*\]\]?|[a-z_]+[ \t]*=[ \t]*(?:[\"'\[{].*|true|false|\d+))[ \t]*\r?$"
# A `"` string ends with its line. If prose follows it, the prose was meant to stand in the string; it
# ends before what looks like the beginning of a statement, finished or not.
_ANCHOR_IN_PASTED = (
    rf"(?m)^(?:{_HEADER_LINE}|[ \t]*\[\[?[A-Za-z_][\w.-]*[ \t]*\r?$"
    r"|[A-Za-z0-9_.-]+[ \t]*=[ \t]*(?:[\"'\[{#]|true\b|false\b|[+-]?\d|\r?$))"
)
_TWO_WORDS = re.compile(r"^[ \t]*[^#\s]\S*[ \t]+\S", re.MULTILINE)


def closing_quotes(text: str, start: int, quotes: str) -> int:
    """Return the first quotes that are not escaped; -1 if there are none."""
    found = text.find(quotes, start)
    if quotes == "'''":
        return found
    escape = text.find("\\", start, found)
    while 0 <= escape < found:
        behind = escape + 2
        if behind > found:
            found = text.find(quotes, behind)
        escape = text.find("\\", behind, found)
    return found


def end_of_prose(text: str, first_line_end: int) -> int:
    """Return where a string of several lines ends that nothing closes."""
    anchor = re.compile(_ANCHOR_IN_PROSE).search(text, first_line_end)
    return len(text) if anchor is None else _line_break_before(text, anchor.start())


def end_of_pasted(text: str, first_line_end: int, quote: str) -> int | None:
    """Return the end of a text of several lines that was pasted into a string of one line; None if it is not one.

    It ends with a line that has the missing quote at its end, or before the next statement.
    """
    anchor = re.compile(_ANCHOR_IN_PASTED).search(text, first_line_end)
    limit = len(text) if anchor is None else _line_break_before(text, anchor.start())
    pasted = text[first_line_end:limit]
    closing = re.search(quote + r"[ \t]*(?=[\r\n]|\Z)", pasted)
    if closing is not None:
        return first_line_end + closing.start() + 1
    return first_line_end + len(pasted.rstrip()) if _TWO_WORDS.search(pasted) else None


def _line_break_before(text: str, line_start: int) -> int:
    end = line_start - 1
    return end - 1 if text[end - 1 : end + 1] == "\r\n" else end
