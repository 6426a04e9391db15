"""A server that answers byte by byte what a test wants, valid HTTP or not, over real connections."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from support.answers import asked_at

Respond = Callable[[str], bytes]
"""All that is written to a connection after a request for a model, head included."""


@dataclass
class RawServer:
    """Answers one request on each connection, and closes it."""

    respond: Respond
    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                model = await _asked_model(reader)
                self.asked.append(model)
                writer.write(self.respond(model))
                await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def raw_server(respond: Respond) -> AsyncIterator[RawServer]:
    server = RawServer(respond)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=512)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield server


async def _asked_model(reader: asyncio.StreamReader) -> str:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = int(head.lower().partition("content-length:")[2].partition("\r\n")[0])
    body = json.loads(await reader.readexactly(length))
    _, model, _ = asked_at(head.split(" ")[1], body)
    return model


def http(body: bytes, media_type: str, framing: str = "length", status: str = "200 OK") -> bytes:
    """Return a whole answer. `framing`: what tells where the body ends."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}"]
    if framing == "length":
        lines.append(f"Content-Length: {len(body)}")
    elif framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
        pieces = [body[start : start + 200] for start in range(0, len(body), 200)]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (*pieces, b""))
    else:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body
