"""Server-sent events, as far as providers use them: the data of each event (HTML standard, 9.2).

Some servers report an error in no event: Google and proxies put its JSON between the events as it is, and
llama.cpp until the end of 2025 wrote a field `error`. The standard lets clients skip both; here they are
read as events.
"""

from __future__ import annotations

from axe_lsp.runtime.plain_text import decode

DONE = "[DONE]"
"""The data of the last event of OpenAI's streams. Proxies add it to those of others."""

_WITHOUT_DATA = ("event", "id", "retry", "")
"""The fields of an event that say nothing here. A comment is a field without a name."""


class SseParser:
    """Collects lines until an event is whole."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._kind = ""

    def feed(self, line: bytes) -> str:
        """Take a line without its end; returns the data of the event that it completes, or "".

        An empty line completes what has come, also at the end of a stream whose last line lacks it.
        Between an event and JSON as it is, there may be none.
        """
        if not line:
            return self._begin("")
        text = decode(line)
        field, _, value = text.partition(":")
        if field == "data":
            kind, text = field, value.removeprefix(" ")
        elif field == "error":
            kind, text = field, f'{{"error":{value}}}'
        elif field not in _WITHOUT_DATA and (self._kind == _BARE or text[:1] in ("{", "[")):
            kind = _BARE
        else:
            return ""
        whole = self._begin(kind) if kind != self._kind else ""
        self._data.append(text)
        return whole

    def _begin(self, kind: str) -> str:
        """Another event; returns the data of the last one."""
        data, self._data, self._kind = "\n".join(self._data), [], kind
        return data


_BARE = "bare"
"""The kind of data that stands in no field."""
