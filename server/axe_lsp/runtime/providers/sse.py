"""Server-sent events, as far as providers use them: the data of each event (HTML standard, 9.2).

Some servers report an error in no event: Google and proxies put its JSON between the events as it is, and
llama.cpp until the end of 2025 wrote a field `error`. The standard lets clients skip both; here they are
read as events.
"""

from __future__ import annotations

from axe_lsp.runtime.messages import Delta, Json
from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.providers.wire import StreamDecoder, parse_json

_DONE = "[DONE]"
"""The data of the last event of OpenAI's streams. Proxies add it to those of others."""

_WITHOUT_DATA = ("event", "id", "retry", "")
"""The fields of an event that say nothing here. A comment is a field without a name."""


class SseStream(StreamDecoder):
    """Reads an answer that comes as events: collects lines until one is whole, of which the wire takes the data."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._kind = ""

    def feed(self, line: bytes) -> Delta:
        """Take a line without its end; returns what it adds to the answer."""
        data = self._completed_by(line)
        if data == _DONE:
            self._end()
        return self._take(parse_json(data)) if data and data != _DONE else Delta()

    def _take(self, body: Json) -> Delta:
        """Take the data of an event; returns what it adds to the answer."""
        raise NotImplementedError

    def _end(self) -> None:
        """Take the end mark of OpenAI, which says nothing where the wire has another one."""

    def _completed_by(self, line: bytes) -> str:
        """Return the data of the event that a line completes, or "".

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
        """Begin an event; return the data of the last one."""
        data, self._data, self._kind = "\n".join(self._data), [], kind
        return data


_BARE = "bare"
"""The kind of data that stands in no field."""
