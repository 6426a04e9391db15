"""Cuts a stream of bytes into the bodies of messages, and puts headers before bodies.

Knows the header part of the base protocol (LSP 3.17, "Base Protocol") and no JSON; does no I/O.

With a client that has started us it is liberal, because a server that goes deaf over one bad byte
leaves its user with nothing: header names in any case and order, lines that end in LF alone, and
everything between two messages is skipped. A length that is not a number, negative, too large or
given twice is reported as `BadHeader`, and reading goes on at the next header.

With clients that connect to a port it is strict: the first line that is not a header of LSP, or whose
length is not valid, is a `fault`, after which nothing is read. A web page can have a browser send an HTTP request to
any port, and chooses most of the bytes in it.
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

_CONTENT_LENGTH = re.compile(rb"content-length[ \t]*:(.*)", re.IGNORECASE | re.DOTALL)
_CONTENT_TYPE = re.compile(rb"content-type[ \t]*:", re.IGNORECASE)
_HEADER = re.compile(rb"[a-z-]+[ \t]*:", re.IGNORECASE)

_log = logging.getLogger(__name__)


class BadHeader(Struct, frozen=True):
    """A header without a usable length, so that the end of its body is unknown."""

    reason: str


class FrameReader:
    """Takes bytes as they come and yields the bodies that are complete.

    `most` is the largest body, in bytes, that is waited for; it may be changed between two of them.
    """

    def __init__(self, *, is_strict: bool = False, most: int = LARGEST_BODY) -> None:
        self.most = most
        self.fault = ""
        """Why nothing more is read from a client with which we are strict."""
        self._is_strict = is_strict
        self._buffer = bytearray()
        self._length: int | None = None
        self._in_body = False
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | BadHeader]:
        """Yield the bodies and bad headers that `data` completes, in order."""
        self._buffer += data
        while not self.fault:
            if self._in_body:
                if len(self._buffer) < (self._length or 0):
                    return
                yield self._take_body()
            elif self._length is None and (usual := self._usual_header()) is not None:
                self._length, self._in_body = int(usual[1]), True
                self._take(usual.end())
            else:
                line = self._take_line()
                if line is None:
                    return
                bad_header = self._read_header(line)
                if bad_header is not None and self._is_strict:
                    self.fault = bad_header.reason
                elif bad_header is not None:
                    yield bad_header

    def _usual_header(self) -> re.Match[bytes] | None:
        usual = _USUAL_HEADER.match(self._buffer)
        return usual if usual is not None and int(usual[1]) <= self.most else None

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
        length = _CONTENT_LENGTH.match(line)
        if length is None and not _HEADER.match(line) and not self._is_strict:
            # The end of a body whose length was too small stands before the header of the next one.
            length = _CONTENT_LENGTH.search(line)
        if length is not None:
            return self._read_length(length[1].strip().decode("ascii", "replace"))
        if not line and (self._length is not None or not self._is_strict):
            self._in_body = self._length is not None
        elif not (_CONTENT_TYPE if self._is_strict else _HEADER).match(line):
            self._note_garbage()
        return None

    def _read_length(self, value: str) -> BadHeader | None:
        is_second, self._length = self._length is not None, None
        if is_second:
            return BadHeader("Content-Length is given twice")
        if not re.fullmatch("[0-9]{1,18}", value):
            return BadHeader(f"Content-Length is {value[:40]!r}, which is not a number of bytes")
        if int(value) > self.most:
            return BadHeader(f"Content-Length is {value}; more than {self.most} is refused")
        self._length = int(value)
        return None

    def _take(self, count: int) -> bytes:
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _note_garbage(self) -> None:
        if self._is_strict:
            self.fault = "the client sent a line that is not an LSP header"
        elif not self._skipping:
            self._skipping = True
            _log.warning("the client sent an invalid LSP message; skipping it")


def frame(body: bytes) -> bytes:
    """Return the body with its header. `Content-Type` is left out: its default is what we send."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
