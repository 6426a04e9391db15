"""The bytes of a file as text; where they aren't UTF-8, as TOML has to be, where and what else."""

from __future__ import annotations

from codecs import BOM_UTF8

from axe_lsp.agentfile.text.ranges import LineIndex


class NotUtf8Error(ValueError):
    """The message is for a person. `text` is what can be read, `offset` where that ends to be right."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        super().__init__(message)
        self.text = text
        self.offset = offset


def decode_utf8(raw: bytes) -> str:
    """The text, without a byte order mark. Raises NotUtf8Error."""
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
