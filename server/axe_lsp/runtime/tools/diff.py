"""The change of a file, as a person reads it before agreeing to it."""

from __future__ import annotations

import difflib

from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.safety.questions import Change
from axe_lsp.runtime.tools.paths import NamedFile

MOST_COMPARED = 512 * 1024
"""Bytes: comparing more would take too long for a waiting user."""

MOST_SENT = 256 * 1024
"""Bytes of a file before and after together."""


def rehearsal(
    verb: str, named: NamedFile, old: bytes | None, new: bytes, if_large: str
) -> Rehearsal:
    """Return a change for a person to agree to; `old` is None where there is no file yet.

    `if_large` says the same change in other words, for a file that is too large to compare.
    """
    path = named.shown
    is_sent = old != new and len(old or b"") + len(new) <= MOST_SENT
    change = Change(path, decode(old or b""), decode(new)) if is_sent else None
    purpose = f"{verb} {path}{named.through}"
    if old is not None and len(old) + len(new) > MOST_COMPARED:
        details = f"{path} is too large to compare; {if_large}"
    else:
        details = _unified(path, old, new)
    return Rehearsal(purpose, details, change, str(named.place), "this file")


def marked_lines(mark: str, data: bytes) -> str:
    """Return a text with the sign of a diff before each line, so that no line passes for our own words."""
    return "\n".join(mark + line for line in decode(data).split("\n"))


def _unified(path: str, old: bytes | None, new: bytes) -> str:
    lines = difflib.unified_diff(
        _lines(old or b""),
        _lines(new),
        path if old is not None else "/dev/null",
        path,
        lineterm="",
    )
    return "\n".join(lines) or f"{path} would stay as it is"


def _lines(data: bytes) -> list[str]:
    """Return the lines, with git's remark behind a last one that does not end."""
    *lines, rest = decode(data).split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
