"""From an answer's bytes to a Response, at once or while they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

from anyio import CancelScope, current_time
from msgspec.structs import replace

from axe_lsp.runtime.errors import NoAnswerError
from axe_lsp.runtime.messages import Delta, Response
from axe_lsp.runtime.providers.provider import OnDelta
from axe_lsp.runtime.providers.thinking_tags import (
    TagSplitter,
    is_whole,
    without_tagged_thoughts,
)
from axe_lsp.runtime.providers.wire import (
    Shape,
    StreamDecoder,
    WireError,
    WireFormat,
    parse_json,
)
from axe_lsp.runtime.safety.redaction import StreamRedactor, without
from axe_lsp.runtime.sources import redacted_sources

if TYPE_CHECKING:
    from axe_lsp.runtime.providers.http_client import HttpAnswer


async def read_answer(
    wire_format: WireFormat,
    answer: HttpAnswer,
    on_delta: OnDelta | None,
    key: str,
    *,
    heard: Callable[[], object] = bool,
    model: str = "",
) -> Response:
    """Read an answer as what its server sends, a stream or one body, whichever was requested.

    A stream of server-sent events is read as such whatever its media type is, as the official clients do.
    With `on_delta` the pieces of a stream are shown as they arrive.
    `heard` is called whenever a piece of a stream arrives, also if it adds nothing to the answer. A key that
    a provider repeats goes no further. `model` is the one that was asked. Raises WireError or ProviderError.
    """
    shape = wire_format.SHAPE
    pieces = answer.chunks() if shape.is_binary else answer.lines()
    begun = [piece async for piece in _beginning(pieces)]
    first = begun[-1] if begun else b""
    is_stream_type = answer.media_type in shape.stream_types
    tags = TagSplitter(model) if shape.has_tags else None
    reader = _Reader(wire_format.stream_decoder(), key, on_delta or _unshown, heard, tags)
    if _begins_stream(first, shape, is_stream_type=is_stream_type):
        return _ready(await reader.read(_chain(begun, pieces)), shape, key, model)
    begun += [piece async for piece in pieces]
    body = (b"" if shape.is_binary else b"\n").join(begun)
    try:
        value = parse_json(body)
    except WireError:
        is_in_lines = is_stream_type or not (shape.is_binary or _EVENTS in shape.stream_types)
        if not (is_in_lines and first.startswith(_JSON)):
            raise
        return _ready(await reader.read(_chain(begun, pieces)), shape, key, model)
    if value is None:  # Which would read as an object without anything in it.
        raise WireError("it is null")
    response = _ready(wire_format.decode(value), shape, key, model)
    if on_delta is not None and (response.content or response.thoughts):
        on_delta(Delta(response.content, response.thoughts))
    return response


def _unshown(_delta: Delta) -> None:
    """Take a piece of an answer that is shown as a whole."""


def _begins_stream(first: bytes, shape: Shape, *, is_stream_type: bool) -> bool:
    """Return whether an answer is a stream by its first bytes that are not blank, else by its media type.

    A stream in lines of JSON (Ollama) begins as one body does, so its media type decides.
    """
    if shape.is_binary:  # The length of its first message, in four bytes, begins with a zero.
        return first.startswith(b"\0") or (is_stream_type and not first.startswith(_JSON))
    if _EVENTS not in shape.stream_types:
        return is_stream_type
    return first.startswith(_FIELDS) or (is_stream_type and not first.startswith(_JSON))


_EVENTS = "text/event-stream"

_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""How the first line of server-sent events begins. JSON begins with none of these."""

_JSON = (b"{", b"[")
"""How an answer in one body begins, and JSON that a server puts between events as it is."""


async def _beginning(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces up to the first one that holds something."""
    async for piece in pieces:
        yield piece
        if piece.strip():
            return


async def _chain(begun: Sequence[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for piece in begun:
        yield piece
    async for piece in rest:
        yield piece


def _ready(response: Response, shape: Shape, key: str, model: str) -> Response:
    """Return the answer without thoughts in its text, and without the key."""
    if shape.has_tags:
        response = without_tagged_thoughts(response, model)
    content, thoughts = without(response.content, key), without(response.thoughts, key)
    sources = redacted_sources(response.sources, lambda text: without(text, key))
    if (content, thoughts, sources) == (response.content, response.thoughts, response.sources):
        return response
    return replace(response, content=content, thoughts=thoughts, sources=sources)


_REST_SECONDS = 1.0
"""How long the end of a body is waited for behind the end of the answer: with it, the connection can be
used again. Some proxies leave the connection open and say no more."""

_TOKENS_SECONDS = 3.0
"""How long the tokens and the end mark are waited for behind the model's last word. Some servers send none, and
keep the connection open with comments (bifrost#6784, vllm-mlx#101); claude-code-router waits one second."""

_MOST_SECONDS = 10.0
"""How long they are waited for while other lines come."""

_ABRUPT_SECONDS = 20.0
"""How long the next piece is waited for if the last word may be that of a server that says it with each piece."""


class _Reader:
    """Reads a stream, and shows what it adds to the answer without the key."""

    def __init__(
        self,
        decoder: StreamDecoder,
        key: str,
        on_delta: OnDelta,
        heard: Callable[[], object],
        tags: TagSplitter | None,
    ) -> None:
        self._decoder = decoder
        self._text, self._thought = StreamRedactor(key), StreamRedactor(key)
        self._on_delta = on_delta
        self._heard = heard
        self._tags = tags
        self._has_thoughts = False
        self._was_shown = False
        self._latest = inf

    async def read(self, pieces: AsyncIterator[bytes]) -> Response:
        """Return the whole answer. When it breaks off, what was held back of a text that was shown is shown, too."""
        try:
            return await self._read(pieces)
        except BaseException:
            if self._was_shown:  # Else all of it may be requested again.
                self._show_rest(is_whole=False)
            raise

    async def _read(self, pieces: AsyncIterator[bytes]) -> Response:
        try:
            with CancelScope() as scope:
                async for piece in pieces:
                    self._heard()
                    self._show(self._decoder.feed(piece))
                    if self._decoder.is_ending or scope.deadline < inf:
                        scope.deadline = self._last_moment(piece, scope.deadline)
        except NoAnswerError:
            if not self._decoder.is_ending or (
                self._decoder.is_abrupt and not self._decoder.is_over
            ):
                raise  # Else the server has only hung up too early.
        # The last event may lack its end. Where a part of it is missing as well, `finish` tells better.
        with suppress(WireError):
            self._show(self._decoder.feed(b""))
        response = self._decoder.finish()
        self._show_rest(is_whole=is_whole(response))
        return response

    def _last_moment(self, piece: bytes, before: float) -> float:
        """Return how long to wait on after a piece near the end. One that says nothing only keeps the connection open."""
        now = current_time()
        if not self._decoder.is_ending:
            return inf  # The model goes on, whatever was said.
        if self._decoder.is_over:
            return min(before, now + _REST_SECONDS)
        if before == inf:
            wait = _ABRUPT_SECONDS if self._decoder.is_abrupt else _TOKENS_SECONDS
            self._latest = now + max(wait, _MOST_SECONDS)
            return now + wait
        is_news = piece.strip() and not piece.startswith(b":")
        return min(max(before, now + _TOKENS_SECONDS), self._latest) if is_news else before

    def _show(self, delta: Delta) -> None:
        self._redact(delta if self._tags is None else self._split(delta, self._tags))

    def _split(self, delta: Delta, tags: TagSplitter) -> Delta:
        """Return the piece without tags. Where a server writes the thoughts twice, those in the text are left out."""
        if delta.thought and not self._has_thoughts:
            self._has_thoughts = True
            tags.expect_tags()
        split = tags.feed(delta.text) if delta.text else delta
        if tags.is_behind:
            self._tags = None  # All that follows is the answer.
        return Delta(split.text, delta.thought if self._has_thoughts else split.thought)

    def _show_rest(self, *, is_whole: bool) -> None:
        if self._tags is not None:
            self._redact(self._tags.rest(is_whole=is_whole))
        self._tell(Delta(self._text.rest(), self._thought.rest()))

    def _redact(self, delta: Delta) -> None:
        self._tell(Delta(self._text.feed(delta.text), self._thought.feed(delta.thought)))

    def _tell(self, shown: Delta) -> None:
        if shown.text or shown.thought:
            self._was_shown = True
            self._on_delta(shown)
