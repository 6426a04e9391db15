"""From an answer's bytes to a Response, at once or while they arrive."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from axe_lsp.runtime.messages import Delta, Response
from axe_lsp.runtime.providers.provider import OnDelta
from axe_lsp.runtime.providers.wire import WireError, WireFormat, parse_json
from axe_lsp.runtime.safety.redaction import StreamRedactor, without

if TYPE_CHECKING:
    from axe_lsp.runtime.providers.http_client import HttpAnswer


async def read_answer(
    wire_format: WireFormat,
    answer: HttpAnswer,
    on_delta: OnDelta | None,
    key: str,
    heard: Callable[[], object] = bool,
) -> Response:
    """The answer, piece by piece if it is streamed. Who asked for a stream may get none.

    `heard` is called whenever a piece of a stream arrives, also if it adds nothing to the answer. A key that a provider repeats goes no further. Raises WireError or ProviderError.
    """
    if on_delta is None or answer.media_type not in wire_format.SHAPE.stream_types:
        body = parse_json(await answer.read())
        if body is None:  # Which would read as an object without anything in it.
            raise WireError("it is null")
        response = _without_key(wire_format.decode(body), key)
        if on_delta is not None and (response.content or response.thoughts):
            on_delta(Delta(response.content, response.thoughts))
        return response
    return _without_key(await _read_stream(wire_format, answer, on_delta, key, heard), key)


def _without_key(response: Response, key: str) -> Response:
    content, thoughts = without(response.content, key), without(response.thoughts, key)
    if (content, thoughts) == (response.content, response.thoughts):
        return response
    return replace(response, content=content, thoughts=thoughts)


async def _read_stream(
    wire_format: WireFormat,
    answer: HttpAnswer,
    on_delta: OnDelta,
    key: str,
    heard: Callable[[], object],
) -> Response:
    decoder = wire_format.stream_decoder()
    text, thought = StreamRedactor(key), StreamRedactor(key)
    pieces = answer.chunks() if wire_format.SHAPE.is_binary else answer.lines()

    def show(delta: Delta) -> None:
        shown = Delta(text.feed(delta.text), thought.feed(delta.thought))
        if shown.text or shown.thought:
            on_delta(shown)

    async for piece in pieces:
        heard()
        show(decoder.feed(piece))
    # The last event may lack its end. Where a part of it is missing as well, `finish` tells better.
    with suppress(WireError):
        show(decoder.feed(b""))
    response = decoder.finish()
    rest = Delta(text.rest(), thought.rest())
    if rest.text or rest.thought:
        on_delta(rest)
    return response
