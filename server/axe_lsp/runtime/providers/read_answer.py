"""From an answer's bytes to a Response, at once or while they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.providers.provider import OnText
from axe_lsp.runtime.providers.wire import WireFormat, parse_json
from axe_lsp.runtime.safety.redaction import StreamRedactor, without

if TYPE_CHECKING:
    from axe_lsp.runtime.providers.http_client import HttpAnswer


async def read_answer(
    wire_format: WireFormat, answer: HttpAnswer, on_text: OnText | None, key: str
) -> Response:
    """The answer, piece by piece if it is streamed. Who asked for a stream may get none.

    A key that a provider repeats goes no further. Raises WireError or ProviderError.
    """
    if on_text is None or answer.media_type not in wire_format.STREAM_TYPES:
        response = _without_key(wire_format.decode(parse_json(await answer.read())), key)
        if on_text is not None and response.content:
            on_text(response.content)
        return response
    response = await _read_stream(wire_format, answer, on_text, StreamRedactor(key))
    return _without_key(response, key)


def _without_key(response: Response, key: str) -> Response:
    content = without(response.content, key)
    return response if content == response.content else replace(response, content=content)


async def _read_stream(
    wire_format: WireFormat, answer: HttpAnswer, on_text: OnText, redactor: StreamRedactor
) -> Response:
    decoder = wire_format.stream_decoder()
    async for line in answer.lines():
        text = redactor.feed(decoder.feed(line))
        if text:
            on_text(text)
    response = decoder.finish()
    if rest := redactor.rest():
        on_text(rest)
    return response
