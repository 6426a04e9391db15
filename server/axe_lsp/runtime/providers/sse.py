"""Server-sent events, as far as providers use them: the data of each event (HTML standard, 9.2)."""

from __future__ import annotations

from axe_lsp.runtime.plain_text import decode


class SseParser:
    """Collects lines until an event is whole."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def feed(self, line: bytes) -> str:
        """Take a line without its end; returns the data of the event that it completes, or ""."""
        if not line:
            data, self._data = "\n".join(self._data), []
            return data
        field, _, value = decode(line).partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
        return ""
