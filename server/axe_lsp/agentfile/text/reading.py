"""The bytes of a file as text, and the values of a TOML text as tomli reads them: a run needs no positions."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import Any

import tomli

from axe_lsp.agentfile.text.ranges import LineIndex


def values_of(text: str) -> Mapping[str, Any] | None:
    """Return the values of a text; None if it is not TOML."""
    return judge(text)[0]


def judge(text: str) -> tuple[Mapping[str, Any] | None, tomli.TOMLDecodeError | None]:
    """Return the values of a text, or why it is not TOML."""
    try:
        return tomli.loads(text.removeprefix("\ufeff")), None
    except tomli.TOMLDecodeError as error:
        return None, error
    except RecursionError:
        return None, tomli.TOMLDecodeError("Values are nested too deep", text, 0)
    except ValueError as error:  # Python refuses integers of thousands of digits.
        return None, tomli.TOMLDecodeError(str(error), text, _place_of_digits(text))


_MANY_DIGITS = r"(?<=[=\[,\s+-])[0-9](?:_?[0-9]){4299,}"


def _place_of_digits(text: str) -> int:
    """Return where the first integer begins that Python refuses, counted as tomli counts."""
    match = re.search(_MANY_DIGITS, text.removeprefix("\ufeff").replace("\r\n", "\n"))
    return match.start() if match is not None else 0


class NotUtf8Error(ValueError):
    """The message is for a person. `text` is what can be read, `offset` where that ends to be right."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        super().__init__(message)
        self.text = text
        self.offset = offset


def decode_utf8(raw: bytes) -> str:
    """Return the text, without a byte order mark. Raises NotUtf8Error."""
    raw = raw.removeprefix(BOM_UTF8)  # Not by the codec `utf-8-sig`, which is written in Python.
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        text = raw.decode(errors="replace")
        offset = len(raw[: error.start].decode())
        raise NotUtf8Error(_message(raw, text, error.start, offset), text, offset) from None


def _message(raw: bytes, text: str, place: int, offset: int) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "not UTF-8 but UTF-16"
    line, column = LineIndex(text).position(offset, "utf-32")
    return f"not UTF-8 (line {line + 1}, column {column + 1}: byte 0x{raw[place]:02X})"
