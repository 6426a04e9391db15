"""A provider that answers as a test tells it to: real HTTP on loopback, in a thread of its own.

It speaks the wire formats of the providers, streamed and whole, and remembers what it was asked.
Each model has its own script:

    with ScriptedProvider() as provider:
        provider.script("m-parent", Says(calls=[calls_agent("helper", "do it")]), Says("done"))
        provider.script("m-helper", Refuses(500, "boom"))
        ... run something with provider.environment ...
        assert provider.requests[0].body["model"] == "m-parent"

Nothing sleeps: an answer with a `Hold` waits until the test releases it, and the test can wait until
the request is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import math
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.answers import (
    Call,
    Dialect,
    Says,
    asked_at,
    calls_agent,
    content_type,
    error_body,
    stream_chunks,
    whole_body,
)

__all__ = [
    "Answer",
    "Call",
    "Hold",
    "Raw",
    "Received",
    "Refuses",
    "Says",
    "ScriptedProvider",
    "calls_agent",
    "name_providers",
]

_NAMED = {"responses": "openai-responses", "mistral": "openai-chat", "deepseek": "openai-chat"}
"""The wires of providers that are not built in."""

PATIENCE = 60.0
"""Seconds after which waiting for something that should happen is a failure."""


@dataclass(frozen=True)
class Refuses:
    """An answer with an error status."""

    status: int
    message: str = "boom"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """An answer byte by byte. With `cut` the connection ends after so many bytes of the body.

    With `chunk` the body is sent in HTTP chunks of that many bytes.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    chunk: int = 0


class Hold:
    """Keeps an answer back until `release`.

    `chunk` lets a streamed answer begin: it is held before its chunk of that number.
    """

    def __init__(self, chunk: int = 0) -> None:
        self.chunk = chunk
        self._arrived: Future[None] = Future()
        self._released: Future[None] = Future()
        self._hung_up: Future[None] = Future()

    def release(self) -> None:
        """Let the answer go on."""
        _set(self._released)

    async def arrived(self) -> None:
        """Wait until the request is there (and what comes before the held chunk was sent)."""
        await asyncio.wait_for(asyncio.wrap_future(self._arrived), PATIENCE)

    def wait_until_arrived(self) -> None:
        """The same without an event loop."""
        self._arrived.result(PATIENCE)

    async def hung_up(self) -> None:
        """Wait until the client has closed the connection instead of waiting on."""
        await asyncio.wait_for(asyncio.wrap_future(self._hung_up), PATIENCE)

    def wait_until_hung_up(self) -> None:
        """The same without an event loop."""
        self._hung_up.result(PATIENCE)

    async def keep(self, reader: asyncio.StreamReader) -> bool:
        """In the provider: wait for the release; False when the client hangs up before it."""
        _set(self._arrived)
        released: asyncio.Future[Any] = asyncio.wrap_future(self._released)
        hangup: asyncio.Future[Any] = asyncio.ensure_future(reader.read(1))
        done, _ = await asyncio.wait([released, hangup], return_when=asyncio.FIRST_COMPLETED)
        if hangup in done:
            _set(self._hung_up)
            return False
        hangup.cancel()
        await asyncio.wait([hangup])
        return True


@dataclass(frozen=True)
class Answer:
    """An answer and its circumstances.

    `match` is a part of the request's body that the answer is meant for. `repeat` makes the answer
    good for any number of requests. `whole` answers unstreamed, although a stream was asked for.
    `delay` is the time before the answer, `pace` the time before each piece of its body, in seconds.
    """

    what: Says | Refuses | Raw
    match: str = ""
    hold: Hold | None = None
    repeat: bool = False
    whole: bool = False
    delay: float = 0
    pace: float = 0


@dataclass(frozen=True)
class Received:
    """A request as it arrived. Header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes
    model: str
    dialect: Dialect | None
    streams: bool


@dataclass
class _Limit:
    """How many requests are taken at once, and how many are."""

    most: float
    refusal: Refuses
    seconds: float
    taken: int = 0


_NO_LIMIT = _Limit(math.inf, Refuses(429), 0)


class ScriptedProvider:
    """The provider; a context manager.

    `rules` returns why a request is refused with the status 400, "" if it is not.
    """

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.rules: Callable[[Received], str] = lambda _: ""
        self._scripts: dict[str, list[Answer]] = {}
        self._limits: dict[str, _Limit] = {}
        self._writers: list[asyncio.StreamWriter] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._listening: Future[int] = Future()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> ScriptedProvider:
        self._thread.start()
        self.port = self._listening.result(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make axe-lsp ask here, with keys as it wants them."""
        return {
            "ANTHROPIC_API_KEY": "key-anthropic",
            "OPENAI_API_KEY": "key-openai",
            "AXE_ANTHROPIC_BASE_URL": self.url,
            "AXE_OPENAI_BASE_URL": self.url,
            "AXE_OLLAMA_BASE_URL": self.url,
            "GEMINI_API_KEY": "key-google",
            "AXE_GOOGLE_BASE_URL": self.url,
            "RESPONSES_API_KEY": "key-responses",
            "AXE_RESPONSES_BASE_URL": self.url,
            "AWS_BEARER_TOKEN_BEDROCK": "key-bedrock",
            "AWS_REGION": "eu-central-1",
            "AXE_BEDROCK_BASE_URL": self.url,
        }

    def script(self, model: str, *answers: Answer | Says | Refuses | Raw) -> None:
        """Add answers for a model. Each is used once, the first one that fits a request."""
        for answer in answers:
            given = answer if isinstance(answer, Answer) else Answer(answer)
            self._scripts.setdefault(model, []).append(given)

    def limit(self, model: str, most: int, refusal: Refuses, seconds: float = 0.05) -> None:
        """Take at most so many requests for a model at once, each for so long, and refuse the others."""
        self._limits[model] = _Limit(most, refusal, seconds)

    def asked(self, model: str) -> list[Received]:
        """Return the requests to one model."""
        return [request for request in self.requests if request.model == model]

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.close()

    async def _listen(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(
            self._greet, "127.0.0.1", 0, backlog=1024, limit=1 << 26
        )
        self._listening.set_result(server.sockets[0].getsockname()[1])
        await self._stop.wait()
        # A server that is closed before a connection has been accepted wholly would leave it open.
        while accepting := asyncio.all_tasks() - self._connections - {asyncio.current_task()}:
            await asyncio.wait(accepting)
        server.close()
        for connection in (connections := [*self._connections]):
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()  # Whoever has not read to the end by now never will.
        await asyncio.sleep(0)

    def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """No coroutine: a task that is cancelled before it has begun would leave its connection open."""
        self._writers.append(writer)
        connection = self._loop.create_task(self._connection(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False ends the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        pairs = (line.partition(":") for line in head[1:] if ":" in line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        received = _received(path, headers, raw)
        self.requests.append(received)
        limit = self._limits.get(received.model, _NO_LIMIT)
        async with self._counted():
            if limit.taken >= limit.most:
                return await self._answer(received, Answer(limit.refusal), reader, writer)
            limit.taken += 1
            try:
                await asyncio.sleep(limit.seconds)
                return await self._answer(received, self._pick(received), reader, writer)
            finally:
                limit.taken -= 1

    @contextlib.asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1

    async def _answer(
        self,
        received: Received,
        answer: Answer,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        status, headers, chunks, cut = _rendered(answer, received)
        hold = answer.hold
        if hold and not hold.chunk and not await hold.keep(reader):
            return False
        await asyncio.sleep(answer.delay)
        reason = http.client.responses.get(status, "Unknown")
        lines = [f"HTTP/1.1 {status} {reason}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if cut != 0:
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        for number, chunk in enumerate(chunks):
            if hold and hold.chunk and hold.chunk == number:
                await writer.drain()
                if not await hold.keep(reader):
                    return False
            if answer.pace:
                await asyncio.sleep(answer.pace)
            writer.write(chunk if cut is None else chunk[:cut])
        await writer.drain()
        return cut is None

    def _pick(self, received: Received) -> Answer:
        if refusal := self.rules(received):
            return Answer(Refuses(400, refusal))
        script = self._scripts.get(received.model, [])
        text = received.raw.decode("utf-8", "replace")
        for index, answer in enumerate(script):
            if answer.match in text:
                return answer if answer.repeat else script.pop(index)
        return Answer(Refuses(500, f"the script of {received.model} has no further answer"))


def name_providers(config: Path, texts: Iterable[str]) -> None:
    """Write a config.toml with the providers of these texts that are not built in, unless there is one."""
    named = {name for name in _NAMED for text in texts if f"{name}/" in text}
    if named and not (config / "axe" / "config.toml").exists():
        (config / "axe").mkdir(parents=True, exist_ok=True)
        tables = [f'[providers.{name}]\nwire = "{_NAMED[name]}"\n' for name in sorted(named)]
        (config / "axe" / "config.toml").write_text("".join(tables), "utf-8")


def _received(path: str, headers: dict[str, str], raw: bytes) -> Received:
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    dialect, model, streams = asked_at(path, body)
    return Received(path, headers, body, raw, model, dialect, streams)


def _rendered(
    answer: Answer, received: Received
) -> tuple[int, dict[str, str], Sequence[bytes], int | None]:
    """Status, headers, the chunks of the body, and where it is cut."""
    what, dialect = answer.what, received.dialect
    if isinstance(what, Raw) and what.chunk:
        pieces = _http_chunks(what.body, what.chunk)
        return what.status, {"Transfer-Encoding": "chunked", **what.headers}, pieces, None
    if isinstance(what, Raw):
        headers = {"Content-Length": str(len(what.body)), **what.headers}
        return what.status, headers, [what.body], what.cut
    if dialect is None:
        return _whole(404, {"error": f"no such path: {received.path}"})
    if isinstance(what, Refuses):
        status, headers, chunks, _ = _whole(what.status, error_body(dialect, what.message))
        return status, {**headers, **what.headers}, chunks, None
    if received.streams and not answer.whole:
        return _streamed(dialect, what, received.model)
    return _whole(200, whole_body(dialect, what, received.model))


def _whole(status: int, body: Any) -> tuple[int, dict[str, str], Sequence[bytes], None]:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data))}
    return status, headers, [data], None


def _streamed(
    dialect: Dialect, says: Says, model: str
) -> tuple[int, dict[str, str], Sequence[bytes], None]:
    pieces = [_http_chunk(piece) for piece in stream_chunks(dialect, says, model)]
    headers = {"Content-Type": content_type(dialect, True), "Transfer-Encoding": "chunked"}
    return 200, headers, [*pieces, _http_chunk(b"")], None


def _http_chunks(body: bytes, size: int) -> list[bytes]:
    """Return a body in chunks of `size` bytes, as HTTP/1.1 transfers them."""
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    return [*map(_http_chunk, pieces), _http_chunk(b"")]


def _http_chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _set(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)
