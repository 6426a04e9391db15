"""AWS's event streams, `application/vnd.amazon.eventstream`: messages of headers and a payload.

All numbers are big-endian. A message is its length and that of its headers, each in four bytes; the
CRC-32 of these eight bytes; the headers; the payload; and the CRC-32 of all before.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from zlib import crc32

from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.providers.wire import WireError

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_LENGTH = struct.Struct(">H")

_LARGEST = 24 * 1024 * 1024
"""Bytes of a message. AWS sends smaller ones; a damaged length is noticed before it is waited for."""

_FIXED_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type: booleans, numbers, times and ids."""

_TEXT, _BYTES = 7, 6


class StreamMessage(NamedTuple):
    """A message. Of the headers only those that hold text are kept, by name."""

    headers: Mapping[str, str]
    payload: bytes


class EventStreamParser:
    """Collects bytes until a message is whole."""

    def __init__(self) -> None:
        self._pending = bytearray()

    @property
    def is_between_messages(self) -> bool:
        """Whether all that came was in whole messages."""
        return not self._pending

    def feed(self, chunk: bytes) -> Iterator[StreamMessage]:
        """Take bytes; yields the messages that they complete. Raises WireError for damaged ones."""
        self._pending += chunk
        while len(self._pending) >= _PRELUDE.size:
            size, headers_size, checksum = _PRELUDE.unpack_from(self._pending)
            if crc32(self._pending[: _PRELUDE.size - _CRC.size]) != checksum:
                raise WireError("a message of the stream is damaged: its lengths have another sum")
            if not _PRELUDE.size + headers_size + _CRC.size <= size <= _LARGEST:
                raise WireError(f"a message of the stream can't have {size} bytes")
            if len(self._pending) < size:
                return
            message = bytes(self._pending[:size])
            del self._pending[:size]
            if crc32(message[: -_CRC.size]) != _CRC.unpack_from(message, size - _CRC.size)[0]:
                raise WireError("a message of the stream is damaged: it has another sum")
            end = _PRELUDE.size + headers_size
            headers = _headers(message[_PRELUDE.size : end])
            yield StreamMessage(headers, message[end : -_CRC.size])


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    place = 0
    try:
        while place < len(data):
            name_end = place + 1 + data[place]
            name, kind, place = data[place + 1 : name_end], data[name_end], name_end + 1
            if kind in (_TEXT, _BYTES):
                (size,) = _LENGTH.unpack_from(data, place)
                place += _LENGTH.size
                if kind == _TEXT:
                    found[decode(name)] = decode(data[place : place + size])
            else:
                size = _FIXED_SIZES[kind]
            place += size
    except (IndexError, KeyError, struct.error):
        raise WireError("the headers of a message of the stream can't be read") from None
    return found
