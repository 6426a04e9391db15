"""Server-sent events, as far as providers use them: the data of each event (HTML standard, 9.2).

Some servers report an error in no event: Google and proxies put its JSON between the events as it is, and
llama.cpp until the end of 2025 wrote a field `error`. The standard lets clients skip both; here they are
read as events.
"""

from __future__ import annotations

from axe_lsp.runtime.plain_text import decode


class SseParser:
    """Collects lines until an event is whole."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._is_bare = False

    def feed(self, line: bytes) -> str:
        """Take a line without its end; returns the data of the event that it completes, or "".

        An empty line completes what has come, also at the end of a stream whose last line lacks it.
        """
        if not line:
            data, self._data, self._is_bare = "\n".join(self._data), [], False
            return data
        text = decode(line)
        field, _, value = text.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
        elif field == "error":
            self._data.append(f'{{"error":{value}}}')
        elif self._is_bare or text[:1] in ("{", "["):
            self._is_bare = True
            self._data.append(text)
        return ""
