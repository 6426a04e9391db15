"""Texts of files, models and servers in our Markdown, where they have no effect: no link, no picture, no HTML.

An editor that renders a picture loads it, which tells its owner that somebody has looked at the file.
"""

from __future__ import annotations

import re


def as_code(text: str) -> str:
    """Return `text` as a code span of CommonMark: on one line, since a blank line would end it."""
    return "`" + (" ".join(text.splitlines()).replace("`", "'") or " ") + "`"


_SPECIAL = re.compile(
    r"[\\`*\[\]<>~]"
    r"|(?<!\w)_|_(?!\w)"
    r"|:(?=//)|(?<=www)\.|@"  # GitHub's autolinks
    r"|^[#+=-]|(?<=^\d)[.)]"
)


def as_text(text: str) -> str:
    """Return `text` as prose of one paragraph, with a backslash before each character that would have an effect."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def without_links(message: str) -> str:
    """Return the text of a `window/showMessage` in which no client finds a link.

    VS Code takes `[text](command:…)` in a message for a link that executes the command.
    """
    return message.replace("](", "]\u200b(")
