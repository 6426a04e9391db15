"""Text that can be sent and shown: no lone surrogates, no undecodable bytes, nothing in disguise.

They come from file names, the command line and answers of providers. Each becomes U+FFFD, as Go's
encoder makes it, instead of an exception in the middle of a run.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

_SURROGATES = "[\ud800-\udfff]+"
_OBEYED = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e]"
"""No language needs the last two, which turn any text round."""

_CONTROL_PICTURES = 0x2400
_TURNS_TEXT = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that make a terminal show text in another order than it has."""


_UNSEEN = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
"""Fillers, joiners and variation selectors: printable by their category, and nothing is to be seen."""


def valid_text(text: str) -> str:
    """Replace what UTF-8 can't express by U+FFFD."""
    return text if text.isascii() else re.sub(_SURROGATES, "\N{REPLACEMENT CHARACTER}", text)


def decode(data: bytes) -> str:
    """Decode UTF-8; invalid bytes become U+FFFD."""
    return data.decode("utf-8", "replace")


def shown_path(path: Path | str) -> str:
    """Return a path for people and prompts."""
    return valid_text(str(path))


def os_fault(error: OSError) -> str:
    """Return the system's message, with the file and without the number."""
    reason = error.strerror or str(error)
    return f"{shown_path(str(error.filename))}: {reason}" if error.filename else reason


def digest_of(content: str | bytes) -> str:
    """Return a name of 64 digits for a content, which may be long. It is not for people."""
    from hashlib import sha256

    return sha256(_bytes_of(content)).hexdigest()


def short_digest(content: str | bytes) -> str:
    """Return the same of 32 digits, as many as an id of a run has."""
    from hashlib import blake2b

    return blake2b(_bytes_of(content), digest_size=16).hexdigest()


def _bytes_of(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


def visible(text: str) -> str:
    """Replace each character that a terminal would obey or hide by a visible sign."""
    return text if text.isprintable() else "".join(map(_visible, text))


def escaped(text: str) -> str:
    r"""Replace each invisible character by an escape such as `\u202e`.

    For what a person decides about. Tabs stay; other blanks than the plain one do not.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_escaped, text))


def escaped_lines(text: str) -> str:
    """Return the same for a text of several lines."""
    return "\n".join(escaped(line) for line in text.split("\n"))


def harmless(text: str) -> str:
    """Replace control characters by visible signs. Line breaks and all scripts stay."""
    return re.sub(_OBEYED, lambda match: _visible(match[0]), text.replace("\r\n", "\n"))


def _escaped(character: str) -> str:
    if character == "\t" or (character.isprintable() and not re.match(_UNSEEN, character)):
        return character
    return character.encode("unicode_escape").decode()


def _visible(character: str) -> str:
    if character == "\t":
        return character
    if character < " ":
        return chr(_CONTROL_PICTURES + ord(character))
    if character == "\x7f":
        return "␡"
    is_hidden = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
    return "\N{REPLACEMENT CHARACTER}" if is_hidden or character in _TURNS_TEXT else character
