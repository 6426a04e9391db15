"""Line endings and byte order marks: a file that is changed keeps those that it has."""

from __future__ import annotations

import codecs
import re

_ANY_LINE_END = re.compile(rb"\r?\n")


def has_crlf(content: bytes) -> bool:
    """Return whether each line of a file ends in CR LF, and there is one that ends."""
    count = content.count(b"\n")
    return bool(count) and count == content.count(b"\r\n")


def with_crlf(text: bytes) -> bytes:
    """Return a text whose lines all end in CR LF."""
    return _ANY_LINE_END.sub(b"\r\n", text)


def with_lf(text: bytes) -> bytes:
    """Return a text whose lines all end in LF."""
    return text.replace(b"\r\n", b"\n")


def with_mark_of(original: bytes, content: bytes) -> bytes:
    """Return `content` with the byte order mark that `original` begins with."""
    mark = codecs.BOM_UTF8
    is_lost = original.startswith(mark) and not content.startswith(mark)
    return mark + content if is_lost else content


def in_style_of(original: bytes, content: bytes) -> bytes:
    """Return `content` with the line endings and the byte order mark of `original`.

    Where `original` has no line endings, or both kinds, those of `content` stay as they are.
    """
    return with_mark_of(original, with_crlf(content) if has_crlf(original) else content)


def plain(content: bytes) -> bytes:
    """Return `content` without byte order mark, and with LF as its line ending, to compare texts."""
    return with_lf(content.removeprefix(codecs.BOM_UTF8))


def replace_text(content: bytes, old: bytes, new: bytes) -> tuple[bytes, int]:
    """Replace each `old` in a file by `new`; return the new content and how many there were.

    `old` also matches over the other kind of line ending, and what replaces it gets the line endings that the
    file has there.
    """
    if has_crlf(content):
        old, new = with_crlf(old), with_crlf(new)
    count = content.count(old)
    if count or not (b"\r\n" in content or b"\r\n" in old):
        return with_mark_of(content, content.replace(old, new)), count
    pattern = rb"\r?\n".join(map(re.escape, _ANY_LINE_END.split(old)))

    def replacement(match: re.Match[bytes]) -> bytes:
        return with_crlf(new) if b"\r\n" in match[0] else with_lf(new)

    changed, count = re.subn(pattern, replacement, content)
    return with_mark_of(content, changed), count
