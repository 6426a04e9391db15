"""The beginning and the end of an output that is too long for a model: of commands, of terminals, of MCP servers.

Errors stand at the end of an output, and what a command set out to do at its beginning.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable

MAX_OUTPUT = 100 * 1024
"""Bytes of a result."""

_SEAM = 4096
"""Bytes next to the part that is left out in which a line break is looked for."""

_LONGEST_WORD = 256
"""Bytes next to the left-out part in which a blank is looked for, if there is no line break. A key is a word."""

_SHORTEST_PART = 4
"""Characters of a part of a secret that is left out where the secret was cut."""


class LongOutput:
    """An output of any length, of which the first `beginning` bytes and the last `end` bytes are kept.

    `size` is the number of all bytes.
    """

    def __init__(self, beginning: int = MAX_OUTPUT // 2, end: int = MAX_OUTPUT // 2) -> None:
        self.size = 0
        self._most = beginning, end
        self._beginning = bytearray()
        self._end = bytearray()

    def add(self, piece: bytes) -> None:
        """Take the next output. No more than twice the limit is kept at any time."""
        self.size += len(piece)
        most_beginning, most_end = self._most
        left = most_beginning - len(self._beginning)
        self._beginning += piece[:left]
        self._end += piece[left:][-2 * most_end :] if most_end else b""
        if len(self._end) > 2 * most_end:
            del self._end[:-most_end]

    @property
    def beginning(self) -> bytes:
        """The first bytes."""
        return bytes(self._beginning)

    def text(self, secrets: Iterable[str] = ()) -> str:
        """Return the output as text, with a line in place of its middle that states the bytes left out.

        The cut is between lines, else between words, and never within a character or one of the `secrets`: redaction
        does not recognise a part of a secret.
        """
        if self.size <= sum(self._most):
            return (self._beginning + self._end).decode("utf-8", "replace")
        beginning = _decode_beginning(bytes(self._beginning))
        end = _decode_end(bytes(self._end[-self._most[1] :]))
        beginning, end = _up_to_seam(beginning), _from_seam(end)
        for secret in secrets:
            beginning = _without_part(beginning, secret)
            end = _without_part(end[::-1], secret[::-1])[::-1]
        left_out = self.size - len(beginning.encode()) - len(end.encode())
        line = f"... [{left_out:,} bytes left out: the output exceeds 100KB] ..."
        return "\n".join(filter(None, (beginning, line, end)))


def shown_output(text: str, secrets: Iterable[str] = ()) -> str:
    """Return an output that is complete, without its middle if it is too long."""
    output = LongOutput()
    output.add(text.encode("utf-8", "replace"))
    return output.text(secrets)


def shown_end(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the end of an output whose beginning is lost, with a first line that says so."""
    output = LongOutput(beginning=0, end=MAX_OUTPUT)
    output.add(text.encode("utf-8", "replace"))
    end = _from_seam(text) if output.size <= MAX_OUTPUT else output.text(secrets).partition("\n")[2]
    for secret in secrets:
        end = _without_part(end[::-1], secret[::-1])[::-1]
    return f"... [the beginning of the output is left out: there was too much] ...\n{end}"


def _decode_beginning(data: bytes) -> str:
    """Return a text without a character of which the last bytes are missing."""
    return getincrementaldecoder("utf-8")("replace").decode(data)


def _decode_end(data: bytes) -> str:
    """Return a text without a character of which the first bytes are missing."""
    return re.sub(rb"\A[\x80-\xbf]{1,3}", b"", data).decode("utf-8", "replace")


def _up_to_seam(text: str) -> str:
    """Return a beginning up to its last line break that is near its end, else up to its last blank."""
    line = text.rfind("\n", max(0, len(text) - _SEAM))
    if line >= 0:
        return text[:line]
    blank = re.search(rf"\s(?=\S{{0,{_LONGEST_WORD}}}\Z)", text[-_LONGEST_WORD:])
    return text[: len(text) - len(text[-_LONGEST_WORD:]) + blank.start()] if blank else text


def _from_seam(text: str) -> str:
    """Return an end from its first line break that is near its beginning, else from its first blank."""
    line = text.find("\n", 0, _SEAM)
    if line >= 0:
        return text[line + 1 :]
    blank = re.search(r"\s", text[:_LONGEST_WORD])
    return text[blank.end() :] if blank else text


def _without_part(text: str, secret: str) -> str:
    """Return a text without the beginning of a secret that it ends with."""
    lengths = range(min(len(secret) - 1, len(text)), _SHORTEST_PART - 1, -1)
    part = next((n for n in lengths if text.endswith(secret[:n])), 0)
    return text[: len(text) - part]
