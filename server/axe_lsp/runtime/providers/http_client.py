"""The only module that knows how requests to providers travel, which is by aiohttp.

Its pool takes a thousand waiting requests at no cost; httpx's is quadratic, and httpx on aiohttp's
connections takes twice the time of aiohttp alone. All providers share the connections, which have
no limit and no timeouts: a run's deadline is the only clock. No redirect is followed, which would
take the key along, and no cookie kept, since one run is no business of the next.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct
from yarl import URL

from axe_lsp import __version__
from axe_lsp.runtime.certificates import none_read, trusted_authorities
from axe_lsp.runtime.errors import ConfigError, NoAnswerError
from axe_lsp.runtime.providers.wire import is_http_address

with none_read():
    import aiohttp
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.http_exceptions import ContentLengthError, TransferEncodingError

_HEADERS = {
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "user-agent": f"axe-lsp/{__version__}",
}

LARGEST_ANSWER = 64_000_000
"""Bytes. No model writes as much, and what has no end would fill the memory."""

_BEGINNING = 2000

_connection_is_new: ContextVar[bool] = ContextVar("connection_is_new")
"""Whether the request went out on a connection of its own, and none that an earlier one had left open."""


class HttpAnswer:
    """An answer whose head has arrived."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content
        self.status = response.status
        media_type = response.headers.get("content-type", "").partition(";")[0]
        self.media_type = media_type.strip().lower()
        self.location = response.headers.get("location", "")
        self.headers: Mapping[str, str] = response.headers
        """By name, whose case does not matter."""
        self.beginning = b""
        """Of the body, as far as it has been read: enough for people to see what it is."""

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of the body as they arrive, without their ends.

        They end at LF or CR LF only, and not at U+2028 and others, which may stand in the JSON of an
        event.
        """
        pending: list[bytes] = []
        async for chunk in self.chunks():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield b"".join((*pending, end)).removesuffix(b"\r")
                pending = []
            pending.append(rest)
        if any(pending):
            yield b"".join(pending)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body in pieces as they arrive."""
        size = 0
        async for chunk in self._content.iter_any():
            if len(self.beginning) < _BEGINNING:
                self.beginning += chunk[:_BEGINNING]
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise NoAnswerError("server", f"the answer has more than {LARGEST_ANSWER:,} bytes")
            yield chunk


class _Route(Struct, frozen=True):
    """The way to an address: the address without a login, that login, and who goes there."""

    url: URL
    login: Mapping[str, str]
    session: aiohttp.ClientSession


class HttpClient:
    """Sends requests."""

    def __init__(self) -> None:
        self._proxies = getproxies()
        self._sessions: dict[tuple[str, bool], aiohttp.ClientSession] = {}
        self._routes: dict[str, _Route] = {}

    @asynccontextmanager
    async def post(
        self, url: str, headers: dict[str, str], body: bytes
    ) -> AsyncIterator[HttpAnswer]:
        """Send a request; the answer's body is read inside. Raises RunError."""
        with _as_provider_errors(ValueError):  # What aiohttp thinks of some addresses and headers.
            route = self._routes.get(url) or self._find_route(url)
            response = await _send(route, {**route.login, **headers}, body)
        async with response:
            with _as_provider_errors():
                yield HttpAnswer(response)

    async def close(self) -> None:
        """Close all connections."""
        for session in self._sessions.values():
            await session.close()

    def _find_route(self, url: str) -> _Route:
        """Found once: runs send to the same few addresses all the time."""
        whole = URL(url)
        place = whole.with_user(None)
        self._routes[url] = _Route(place, _basic_login(whole), self._session_for(place))
        return self._routes[url]

    def _session_for(self, url: URL) -> aiohttp.ClientSession:
        """The connections to an address: those through each proxy, and those that go without."""
        proxy = _proxy_for(url, self._proxies)
        is_encrypted = "https" in (url.scheme, URL(proxy).scheme)
        place = proxy, is_encrypted
        if place not in self._sessions:
            # aiohttp would find a proxy by itself, but then it looks for passwords in ~/.netrc, too.
            self._sessions[place] = aiohttp.ClientSession(
                connector=_Connector(limit=0, ssl=trusted_authorities() if is_encrypted else True),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
                timeout=aiohttp.ClientTimeout(total=None),
                proxy=proxy or None,
            )
        return self._sessions[place]


class _Connector(aiohttp.TCPConnector):
    """Remembers who got a connection of their own. aiohttp's tracing would tell, at a tenth of a request."""

    async def _create_connection(self, *request: Any) -> ResponseHandler:
        _connection_is_new.set(True)
        return await super()._create_connection(*request)


async def _send(route: _Route, headers: Mapping[str, str], body: bytes) -> aiohttp.ClientResponse:
    """Send, and once more if the connection that was kept from an earlier request is gone.

    Servers close what is idle whenever they like, and that is often noticed by using it only.
    """
    post = partial(route.session.post, route.url, headers=headers, data=body, allow_redirects=False)
    _connection_is_new.set(False)
    try:
        return await post()
    except aiohttp.ClientConnectionError as error:
        if _connection_is_new.get() or not _was_closed(error):
            raise
    return await post()


def _proxy_for(url: URL, proxies: dict[str, str]) -> str:
    """The proxy that the environment names for an address, or "".

    As for axe, the usual variables count, and this machine itself is never asked through a proxy.
    """
    proxy, host = proxies.get(url.scheme, ""), url.host or ""
    if not proxy or _is_this_machine(host) or proxy_bypass(host):
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not is_http_address(proxy):  # Which is not shown, as it may hold a password.
        raise ConfigError(
            f"the proxy for {url.scheme} addresses is not an http or https address itself "
            f"(check {url.scheme.upper()}_PROXY)"
        )
    return proxy


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _basic_login(url: URL) -> dict[str, str]:
    """The user and the password in an address as a header, which gives way to a key's."""
    if url.raw_user is None:
        return {}
    login = f"{url.user}:{url.password or ''}".encode()
    return {"authorization": f"Basic {b64encode(login).decode()}"}


@contextmanager
def _as_provider_errors(*others: type[Exception]) -> Iterator[None]:
    expected: tuple[type[Exception], ...] = (aiohttp.ClientError, OSError, *others)
    try:
        yield
    except expected as error:
        raise NoAnswerError("server", _reason(error)) from error


def _reason(error: Exception) -> str:
    """What went wrong, in words. Some of these errors have none, and some tell of a proxy's password."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return _not_connected(error)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy refused: {error.status} {error.message}"
    if _was_closed(error):
        return "the connection was closed before an answer arrived"
    return _broken_off(error) or str(error) or type(error).__name__


def _broken_off(error: Exception) -> str:
    """What is wrong with an answer that had begun."""
    if isinstance(error, aiohttp.ClientResponseError):
        return f"the answer is not valid HTTP: {error.message.partition(':')[0]}"
    if isinstance(error, aiohttp.ClientPayloadError):
        if isinstance(error.__cause__, (ContentLengthError, TransferEncodingError)):
            return "the connection was closed in the middle of the answer"
        return "the answer can't be decompressed"
    return ""


def _not_connected(error: aiohttp.ClientConnectorError) -> str:
    whose = "the proxy" if isinstance(error, aiohttp.ClientProxyConnectionError) else ""
    reason = error.os_error.strerror or str(error.os_error) or "no reason given"
    if isinstance(error.os_error, ConnectionRefusedError):
        return f"{whose} refuses connections" if whose else "connection refused"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"the certificate is not accepted: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientSSLError):
        return "no encrypted connection is possible: is it an http address in place of https?"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"{whose or 'the host'} can't be found: {reason}"
    return f"{whose or 'the host'} can't be reached: {reason}"


def _was_closed(error: Exception) -> bool:
    """Whether there was a connection, and it ended before an answer began."""
    ends = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
    return isinstance(error, ends) and not isinstance(error, aiohttp.ClientConnectorError)
