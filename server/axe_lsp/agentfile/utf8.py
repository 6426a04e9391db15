"""The bytes of a file as text; where they aren't UTF-8, as TOML has to be, where and what else."""

from __future__ import annotations

from axe_lsp.agentfile.text import LineIndex


class NotUtf8Error(ValueError):
    """The message is for a person. `text` is what can be read, `offset` where that ends to be right."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        super().__init__(message)
        self.text = text
        self.offset = offset


def decode_utf8(raw: bytes) -> str:
    """The text, without a byte order mark. Raises NotUtf8Error."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8-sig", "replace")
        offset = len(raw[: error.start].decode("utf-8-sig"))
        raise NotUtf8Error(_message(raw, text, error.start, offset), text, offset) from None


def _message(raw: bytes, text: str, place: int, offset: int) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "not UTF-8 but UTF-16"
    line, column = LineIndex(text).position(offset, "utf-32")
    return f"not UTF-8 (line {line + 1}, column {column + 1}: byte 0x{raw[place]:02X})"
