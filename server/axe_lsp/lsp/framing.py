"""Cuts a stream of bytes into the bodies of messages, and puts headers before bodies.

Knows the header part of the base protocol (LSP 3.17, "Base Protocol") and no JSON; does no I/O.

It is liberal, because a server that goes deaf over one bad byte leaves its user with nothing: header
names in any case and order, lines that end in LF alone, and whatever stands between two messages is
skipped. A length that is no number, negative or beyond `LARGEST_BODY` is reported as `BadHeader`,
and reading goes on at the next header.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from msgspec import Struct

LARGEST_BODY = 256 * 1024 * 1024

# No header line comes near this; what is longer and has no line end yet is garbage.
_LONGEST_LINE = 64 * 1024

# How nearly all clients begin their messages.
_USUAL_HEADER = re.compile(rb"Content-Length: ([0-9]{1,8})\r\n\r\n")

# The name need not begin the line: the end of a body whose length was too small stands before it.
_CONTENT_LENGTH = re.compile(rb"content-length[ \t]*:(.*)", re.IGNORECASE | re.DOTALL)
_HEADER = re.compile(rb"[a-z-]+[ \t]*:", re.IGNORECASE)

_log = logging.getLogger(__name__)


class BadHeader(Struct, frozen=True):
    """A header that leaves no way to find the body behind it."""

    reason: str


class FrameReader:
    """Takes bytes as they come and gives the bodies that have become complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._in_body = False
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | BadHeader]:
        """Bodies and bad headers, in order, as far as `data` completes them."""
        self._buffer += data
        while True:
            if self._in_body:
                if len(self._buffer) < (self._length or 0):
                    return
                yield self._take_body()
            elif (usual := _USUAL_HEADER.match(self._buffer)) is not None:
                self._length, self._in_body = int(usual[1]), True
                self._take(usual.end())
            else:
                line = self._take_line()
                if line is None:
                    return
                if (bad_header := self._read_header(line)) is not None:
                    yield bad_header

    def _take_body(self) -> bytes:
        body = self._take(self._length or 0)
        self._length, self._in_body, self._skipping = None, False, False
        return body

    def _take_line(self) -> bytes | None:
        end = self._buffer.find(b"\n")
        if end >= 0:
            return self._take(end + 1).rstrip(b"\r\n")
        if len(self._buffer) > _LONGEST_LINE:
            self._note_garbage()
            # What is kept may be the beginning of a header.
            self._take(len(self._buffer) - 64)
        return None

    def _read_header(self, line: bytes) -> BadHeader | None:
        if (match := _CONTENT_LENGTH.search(line)) is not None:
            return self._read_length(match[1].strip().decode("ascii", "replace"))
        if not line:
            self._in_body = self._length is not None
        elif not _HEADER.match(line):
            self._note_garbage()
        return None

    def _read_length(self, value: str) -> BadHeader | None:
        self._length = None
        if not re.fullmatch("[0-9]{1,18}", value):
            return BadHeader(f"Content-Length is {value[:40]!r}, which is no number of bytes")
        if int(value) > LARGEST_BODY:
            return BadHeader(f"Content-Length is {value}; more than {LARGEST_BODY} is refused")
        self._length = int(value)
        return None

    def _take(self, count: int) -> bytes:
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _note_garbage(self) -> None:
        if not self._skipping:
            self._skipping = True
            _log.warning("the client sent something that is no LSP message; skipping it")


def frame(body: bytes) -> bytes:
    """The body with its header. `Content-Type` is left out: its default is what we send."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
