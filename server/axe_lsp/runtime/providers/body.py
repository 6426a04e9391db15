"""The bytes of requests. What was sent before is not encoded again, so a long run costs what it says.

Every request of a conversation begins with the one before, and grows by two messages: the pieces
are kept and joined. Prompt caches, too, want the beginning to be the same to the byte.

Answers in the words of their wire go back as they came, until their provider refuses to read them again. What was
refused stays out of the conversation, and what the model says afterwards is kept as usual.
"""

from __future__ import annotations

from msgspec.structs import replace

from axe_lsp.runtime.messages import Json, Message, Request
from axe_lsp.runtime.providers.restrictions import (
    Restrictions,
    caches,
    marked_messages,
    with_taken_fields,
)
from axe_lsp.runtime.providers.wire import WireFormat, to_json


def encode_body(
    wire_format: WireFormat,
    request: Request,
    stream: bool,
    restrictions: Restrictions | None = None,
) -> bytes:
    """Return the body of a request."""
    kept = request.kept.setdefault(wire_format.path("", False), _Pieces(wire_format))
    pieces: _Pieces = kept
    return pieces.body(request, stream, restrictions or Restrictions())


class _Pieces:
    """The part of a conversation that has been encoded."""

    def __init__(self, wire_format: WireFormat) -> None:
        self._format = wire_format
        self._head: tuple[object, bytes] = (None, b"")
        self._messages: dict[tuple[int, bool], tuple[Message, bytes]] = {}
        self._restrictions = Restrictions()

    def body(self, request: Request, stream: bool, restrictions: Restrictions) -> bytes:
        if restrictions.message_fields != self._restrictions.message_fields:
            self._messages.clear()
        self._restrictions = restrictions
        marked = marked_messages(request, restrictions) if self._format.SHAPE.cache_mark else ()
        messages = [
            self._message(message, index in marked)
            for index, message in enumerate(request.messages)
        ]
        # Put together at once, since a megabyte is copied for each time.
        messages[0] = self._beginning(request, stream, restrictions) + messages[0]
        messages[-1] += b"]}"
        return b",".join(messages)

    def _beginning(self, request: Request, stream: bool, restrictions: Restrictions) -> bytes:
        """Return all up to the first message. It stays the same but for what restrictions and turns change."""
        said = (
            *(request.model, request.system, request.tools, request.response_format),
            request.continuation,
        )
        asked = (
            request.temperature,
            request.max_tokens,
            stream,
            restrictions,
            caches(request, restrictions),
        )
        same = (said, asked, request.params)
        if self._head[0] != same:
            self._head = (same, self._encode_beginning(request, stream, restrictions))
        return self._head[1]

    def _encode_beginning(
        self, request: Request, stream: bool, restrictions: Restrictions
    ) -> bytes:
        shape = self._format.SHAPE
        head = {**self._format.head(request, stream, restrictions), **request.params.extra}
        head.pop(shape.messages, None)
        # A body that has nothing but messages begins with them.
        comma = "," if head else ""
        is_first = shape.system_message and request.system
        system = to_json({"role": "system", "content": request.system}) + "," if is_first else ""
        return f'{to_json(head)[:-1]}{comma}"{shape.messages}":[{system}'.encode()

    def _message(self, message: Message, marked: bool) -> bytes:
        key = (id(message), marked)
        kept = self._messages.get(key)
        if kept is None:
            # The message is kept as well: its id is nobody else's as long as it exists.
            kept = (message, self._encode(message, marked))
            self._messages[key] = kept
        return kept[1]

    def _encode(self, message: Message, marked: bool) -> bytes:
        before = self._messages.get((id(message), True))
        if before is not None and message.tool_results:
            # They are long, and marked at first only. No text holds the mark, whose quotes would be escaped.
            beginning, _, end = before[1].rpartition(self._format.SHAPE.cache_mark)
            return beginning + end
        encoded: list[Json] = self._format.encode_message(message, marked)
        return ",".join(map(to_json, with_taken_fields(encoded, self._restrictions))).encode()


_KEPT = "without originals"
"""Where in `Request.kept` the answers are that have lost theirs, by the id of the message."""


def forget_originals(request: Request) -> bool:
    """Send the answers so far in plain words from now on; False if they are already.

    A message is kept beside the one that is sent for it, so its id is nobody else's.
    """
    told = _told(request)
    new = [each for each in request.messages if each.original is not None and id(each) not in told]
    told.update((id(each), (each, replace(each, original=None))) for each in new)
    return bool(new)


def with_readable(request: Request) -> Request:
    """Return the request without the originals that were forgotten."""
    told = _told(request)
    if not told:
        return request
    messages = (told.get(id(each), (each, each))[1] for each in request.messages)
    return replace(request, messages=tuple(messages))


def _told(request: Request) -> dict[int, tuple[Message, Message]]:
    told: dict[int, tuple[Message, Message]] = request.kept.setdefault(_KEPT, {})
    return told
