"""The only module that knows how requests to providers travel: by the connections of httpcore2, the transport of httpx2.

There is no client of httpx2 on top, nor httpcore2's own pool (decision 10 of ARCHITECTURE.md). Redirects, which would
take the key along, cookies, and passwords from ~/.netrc are not wanted. The only timeout is that of a handshake:
otherwise a run's deadline is the only clock.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import sys
import zlib
from base64 import b64encode
from codecs import BOM_UTF8
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import SplitResult, quote, unquote, urlsplit

import httpcore2
from anyio import CancelScope
from msgspec import Struct

from axe_lsp import __version__
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.certificates import trusted_authorities
from axe_lsp.runtime.errors import NoAnswerError
from axe_lsp.tasks import Tasks

_HEADERS = {
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "user-agent": f"axe-lsp/{__version__}",
}

LARGEST_ANSWER = 64_000_000
"""Bytes. No model writes as much, and what has no end would fill the memory."""

_BEGINNING = 2000

_IDLE_SECONDS = 15.0
"""How long a connection is kept for the next request."""

_CLOSING_SECONDS = 1.0

_PIECE = 1 << 20
"""Bytes that are decompressed at once, however many there are."""

HANDSHAKE_SECONDS = 30.0
"""For so long a server may say nothing that begins an encrypted connection."""

_TIMEOUTS = {"timeout": {"connect": HANDSHAKE_SECONDS}}
"""For connections through a proxy, which httpcore2 makes."""

_DEFAULT_PORTS = {"http": 80, "https": 443}

_IN_PATHS = "/%:@!$&'()*+,;=~"
"""Characters of a path or a query that stay as they are (RFC 3986, 3.3), beside letters and digits."""

_CUT = "peer closed connection"
"""With these words h11 tells of a body that ends too early."""

_FAULTS = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.TimeoutException,
    OSError,
    ValueError,  # An address or a header that can't be sent.
)

_PASSING_FAULTS = (
    httpcore2.NetworkError,
    httpcore2.RemoteProtocolError,
    httpcore2.TimeoutException,
    OSError,
)
"""Faults that the same request may not meet again."""

_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
"""OpenSSL's word for a certificate that is not trusted, and won't be a moment later."""

_FIRST_REFUSAL = 300


class HttpAnswer:
    """An answer whose head has arrived."""

    def __init__(self, response: httpcore2.Response) -> None:
        self.status = response.status
        self.headers: Mapping[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in reversed(response.headers)
        }
        """By their names in small letters; the first of several with one name."""
        self.media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.beginning = b""
        """The beginning of the body, as far as it has been read, for error messages."""
        self._response = response
        self._body = response.aiter_stream()

    async def read(self) -> bytes:
        """Return the whole body."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of the body as they arrive, without their ends.

        They end at LF, CR LF or CR (HTML standard, 9.2.6), and not at U+2028 and others, which may stand
        in the JSON of an event. A byte order mark before the first one is none of its text.
        """
        pending: list[bytes] = []
        mark, ended_at_cr = BOM_UTF8, False
        async for chunk in self.chunks():
            piece = chunk
            if ended_at_cr:  # An LF at the beginning belongs to it.
                piece, ended_at_cr = piece.removeprefix(b"\n"), not piece
            if b"\r" in piece:
                ended_at_cr = piece.endswith(b"\r")
                piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            *ends, rest = piece.split(b"\n")
            for end in ends:
                yield b"".join((*pending, end)).removeprefix(mark)
                pending, mark = [], b""
            pending.append(rest)
        if any(pending):
            yield b"".join(pending).removeprefix(mark)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes of the body as they arrive, decompressed. Raises NoAnswerError."""
        size = 0
        encoding = self.headers.get("content-encoding", "").strip().lower()
        is_plain = encoding in ("", "identity")
        try:
            async for chunk in self._body if is_plain else _decompressed(self._body, encoding):
                if len(self.beginning) < _BEGINNING:
                    self.beginning += chunk[:_BEGINNING]
                size += len(chunk)
                if size > LARGEST_ANSWER:
                    raise NoAnswerError(
                        "server", f"the answer has more than {LARGEST_ANSWER:,} bytes"
                    )
                yield chunk
        except (*_FAULTS, zlib.error) as error:
            failure = NoAnswerError("server", _broken_off(error))
            is_transport = not isinstance(error, zlib.error)
            failure.is_unanswered = is_transport and not size and self.status < _FIRST_REFUSAL
            raise failure from error

    async def close(self) -> None:
        """Let go of the connection. It is closed, unless the whole body has been read."""
        await self._body.aclose()
        await self._response.aclose()


_Connection = httpcore2.AsyncConnectionInterface


class _Server:
    """The connections to a server, or to one behind a proxy. Each takes one request at a time."""

    def __init__(self, origin: httpcore2.Origin, proxy: httpcore2.Proxy | None) -> None:
        is_encrypted = b"https" in (origin.scheme, proxy.url.scheme if proxy else b"")
        self._authorities = trusted_authorities() if is_encrypted else None
        if proxy is not None:
            proxy.ssl_context = self._authorities
        self.is_proxied = proxy is not None
        self._origin = origin
        self._proxy = proxy
        self._network = httpcore2.AnyIOBackend()
        self._idle: deque[_Connection] = deque()
        """Those that wait for a request, the last that had one at the end."""
        self._timer: asyncio.TimerHandle | None = None
        self._tasks = Tasks()
        self._is_closed = False

    async def send(self, request: httpcore2.Request) -> tuple[_Connection, httpcore2.Response]:
        """Send, and once more if the connection that was kept from an earlier request is gone.

        Servers close what is idle whenever they like, and that is often noticed by using it only.
        The connection is the caller's until `take_back`.
        """
        if (kept := await self._kept()) is not None:
            try:
                return kept, await _asked(kept, request)
            except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
                if not _was_closed(error):
                    raise
        connection = await self._connect()
        return connection, await _asked(connection, request)

    async def take_back(self, connection: _Connection) -> None:
        """Keep a connection for the next request, if it can have one."""
        if not connection.is_idle():
            if not connection.is_closed():  # The task was cancelled before the answer was closed.
                await connection.aclose()
            return
        if self._is_closed:
            await connection.aclose()
            return
        self._idle.append(connection)
        self._look_later()

    async def close(self) -> None:
        """Close all connections, those in use as soon as they are given back."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        idle, self._idle = self._idle, deque()
        stop = partial(self._tasks.stop, within=_CLOSING_SECONDS)
        await _closed_all([*(each.aclose for each in idle), stop])

    async def _connect(self) -> _Connection:
        if self._proxy is not None:
            return httpcore2.AsyncConnectionPool(
                ssl_context=self._authorities,
                proxy=self._proxy,
                keepalive_expiry=_IDLE_SECONDS,
            ).create_connection(self._origin)
        host = self._origin.host.decode()
        stream = await self._network.connect_tcp(host, self._origin.port)
        if self._origin.scheme == b"https":
            assert self._authorities is not None
            try:
                stream = await stream.start_tls(self._authorities, host, HANDSHAKE_SECONDS)
            except BaseException:
                with CancelScope(shield=True):  # httpcore2 leaves it open when this is cancelled.
                    await stream.aclose()
                raise
        return httpcore2.AsyncHTTP11Connection(self._origin, stream, _IDLE_SECONDS)

    async def _kept(self) -> _Connection | None:
        """Return a connection that is still open, as far as one can tell."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return None

    def _look_later(self) -> None:
        """Close idle connections, as long as there are some."""
        if self._idle and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._look)

    def _look(self) -> None:
        self._timer = None
        self._tasks.start_unattended(self._close_unused(), "closing unused connections")

    async def _close_unused(self) -> None:
        while self._idle and self._idle[0].has_expired():
            await self._idle.popleft().aclose()
        self._look_later()


class _Route(Struct, frozen=True):
    """The way to an address, and the headers of every request to it."""

    url: httpcore2.URL
    headers: Mapping[str, str]
    server: _Server

    def request(self, headers: Mapping[str, str], body: bytes) -> httpcore2.Request:
        """Return a request with these headers, which replace those of the route."""
        named = {name.lower(): value for name, value in headers.items()}
        whole = {**self.headers, **named, "content-length": str(len(body))}
        encoded = [(name.encode(), value.encode()) for name, value in whole.items()]
        return httpcore2.Request(
            "POST", self.url, headers=encoded, content=body, extensions=_TIMEOUTS
        )


class HttpClient:
    """Sends requests."""

    def __init__(self) -> None:
        self._proxies = _environment_proxies()
        self._routes: dict[str, _Route] = {}
        self._servers: dict[tuple[bytes, bytes, int, str], _Server] = {}

    @asynccontextmanager
    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[HttpAnswer]:
        """Send a request; the answer's body is read inside. Raises RunError."""
        is_proxied = False
        try:
            route = self._routes.get(url) or self._find_route(url)
            is_proxied = route.server.is_proxied
            connection, response = await route.server.send(route.request(headers, body))
        except _FAULTS as error:
            failure = NoAnswerError("server", _reason(error, is_proxied))
            failure.is_unanswered = isinstance(error, _PASSING_FAULTS) and _CERTIFICATE not in str(
                error
            )
            raise failure from error
        answer = HttpAnswer(response)
        try:
            yield answer
            await answer.close()
        except BaseException:
            with CancelScope(shield=True):  # Even closing would not begin in a cancelled run.
                await _closed_all([answer.close, partial(route.server.take_back, connection)])
            raise
        await route.server.take_back(connection)

    async def close(self) -> None:
        """Close all connections."""
        await _closed_all([server.close for server in self._servers.values()])

    def _find_route(self, url: str) -> _Route:
        """Return the route to an address. Cached: runs use the same few addresses."""
        parts = urlsplit(url)
        origin = _origin(parts)
        path, query = quote(parts.path or "/", _IN_PATHS), quote(parts.query, _IN_PATHS + "?")
        target = f"{path}?{query}" if query else path
        place = httpcore2.URL(
            scheme=origin.scheme, host=origin.host, port=parts.port, target=target
        )
        headers = {"host": _host_header(origin), **_HEADERS, **_basic_login(parts)}
        self._routes[url] = _Route(place, headers, self._server(origin, parts))
        return self._routes[url]

    def _server(self, origin: httpcore2.Origin, parts: SplitResult) -> _Server:
        proxy = ""
        if self._proxies:
            from axe_lsp.runtime.providers.proxies import proxy_for

            proxy = proxy_for(parts, self._proxies)
        place = origin.scheme, origin.host, origin.port, proxy
        if place not in self._servers:
            self._servers[place] = _Server(origin, _as_proxy(proxy) if proxy else None)
        return self._servers[place]


async def _closed_all(steps: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Take all steps, also after one in which the task is cancelled. The last error is raised."""
    if steps:
        try:
            await steps[0]()
        finally:
            await _closed_all(steps[1:])


async def _asked(connection: _Connection, request: httpcore2.Request) -> httpcore2.Response:
    """Return the head of the answer. A caller that is cancelled meanwhile leaves no connection open."""
    try:
        return await connection.handle_async_request(request)
    except BaseException:
        with CancelScope(shield=True):
            await connection.aclose()
        raise


def _origin(parts: SplitResult) -> httpcore2.Origin:
    host = parts.hostname or ""
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    # A codec of its own for names beyond ASCII, imported for those only.
    encoded = host.encode("ascii") if host.isascii() else host.encode("idna")
    return httpcore2.Origin(parts.scheme.encode(), encoded, port)


def _host_header(origin: httpcore2.Origin) -> str:
    host = origin.host.decode()
    host = f"[{host}]" if ":" in host else host
    is_default = origin.port == _DEFAULT_PORTS[origin.scheme.decode()]
    return host if is_default else f"{host}:{origin.port}"


def _environment_proxies() -> Mapping[str, str]:
    """Return the proxies that the environment names, or else the system, each by its scheme, `all` or `no`."""
    asks_system = sys.platform in ("darwin", "win32")
    if not asks_system and not any(name.lower().endswith("_proxy") for name in os.environ):
        return {}
    from urllib.request import getproxies

    return getproxies()


def _as_proxy(address: str) -> httpcore2.Proxy:
    parts = urlsplit(address)
    origin = _origin(parts)
    url = httpcore2.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target="/")
    if parts.username is None:
        return httpcore2.Proxy(url)
    return httpcore2.Proxy(url, headers={"proxy-authorization": _basic(parts)})


def _basic_login(url: SplitResult) -> dict[str, str]:
    """Return the user and the password in an address as a header, which gives way to a key's."""
    return {} if url.username is None else {"authorization": _basic(url)}


def _basic(url: SplitResult) -> str:
    login = f"{unquote(url.username or '')}:{unquote(url.password or '')}"
    return f"Basic {b64encode(login.encode()).decode()}"


async def _decompressed(body: AsyncIterator[bytes], encoding: str) -> AsyncGenerator[bytes, None]:
    """Yield a body without its compression, in pieces of which none fills the memory."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise NoAnswerError(
            "server", f"the answer is compressed with {quoted(encoding)}, which was not asked for"
        )
    unpacker = None
    async for chunk in body:
        if unpacker is None:
            # "deflate" is zlib's format by the standard (RFC 9110, 8.4.1.2), and bare from some servers.
            is_bare = encoding == "deflate" and chunk[0] & 0x0F != zlib.DEFLATED
            unpacker = zlib.decompressobj(-zlib.MAX_WBITS if is_bare else zlib.MAX_WBITS + 32)
        piece = unpacker.decompress(chunk, _PIECE)
        while piece:
            yield piece
            piece = unpacker.decompress(unpacker.unconsumed_tail, _PIECE)


def _reason(error: Exception, is_proxied: bool) -> str:
    """Return why no answer came, in words. Errors of the transport may hold the key and have few words."""
    if isinstance(error, (httpcore2.ConnectError, httpcore2.ConnectTimeout)):
        return _not_connected(_root(error), "the proxy" if is_proxied else "")
    if isinstance(error, httpcore2.ProxyError):
        return f"the proxy refused: {error}"
    if isinstance(error, httpcore2.LocalProtocolError):
        return "the request has a header that can't be sent"
    if _was_closed(error):
        return "the connection was closed before an answer arrived"
    if isinstance(error, httpcore2.RemoteProtocolError):
        return _invalid(error)
    return str(error) or type(error).__name__


_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
"""OpenSSL's codes of a certificate that is signed by itself, or by an authority that is not known."""

_AUTHORITY = (
    "if you trust the authority that has signed it, SSL_CERT_FILE names the file of trusted ones"
)


def _not_connected(error: BaseException | None, whose: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = f"; {_AUTHORITY}" if error.verify_code in _UNKNOWN_AUTHORITY else ""
        return f"the certificate is not accepted: {error.verify_message}{hint}"
    # Without a number it is our own limit: the server waits for a request that is not encrypted.
    is_silent = isinstance(error, TimeoutError) and not error.errno
    if isinstance(error, ssl.SSLError) or not isinstance(error, OSError) or is_silent:
        return "no encrypted connection is possible: is it an http address in place of https?"
    if isinstance(error, ConnectionRefusedError):
        return f"{whose} refuses connections" if whose else "connection refused"
    if isinstance(error, socket.gaierror):
        return f"{whose or 'the host'} can't be found: {error.strerror or error}"
    reason = os.strerror(error.errno) if error.errno else str(error)
    return f"{whose or 'the host'} can't be reached: {reason or 'no reason given'}"


def _broken_off(error: Exception) -> str:
    """Return the fault of an answer that had begun."""
    if isinstance(error, zlib.error):
        return "the answer can't be decompressed"
    is_invalid = isinstance(error, httpcore2.RemoteProtocolError)
    if is_invalid and not str(error).startswith(_CUT):
        return _invalid(error)
    return "the connection was closed in the middle of the answer"


def _invalid(error: Exception) -> str:
    """Return the error without the part after the colon, which quotes what was sent."""
    return f"the answer is not valid HTTP: {str(error).partition(':')[0]}"


def _was_closed(error: Exception) -> bool:
    """Return whether there was a connection, and it ended before an answer began.

    Of what breaks the protocol, only an end that comes too early is found by httpcore2 itself, and the rest
    by h11, whose error is the cause.
    """
    if isinstance(error, httpcore2.RemoteProtocolError):
        return error.__cause__ is None
    return isinstance(error, (httpcore2.ReadError, httpcore2.WriteError))


def _root(error: BaseException) -> BaseException:
    """Return the first cause of an error. anyio has one error for each address of a host, in a group."""
    for cause in (*getattr(error, "exceptions", ()), error.__cause__):
        if cause is not None:
            return _root(cause)
    return error
