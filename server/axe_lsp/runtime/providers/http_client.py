"""The only module that knows httpx, and that it runs on aiohttp's connections.

httpx's own pool is quadratic in waiting requests, so a thousand children would wait on it; aiohttp's
is not. There is one client for all providers, without a limit on connections, and without timeouts:
a run's deadline is the only clock. Redirects are not followed, since they would take the key along.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.request import getproxies

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from axe_lsp import __version__
from axe_lsp.runtime.errors import ProviderError


class HttpAnswer:
    """An answer whose head has arrived."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        media_type = response.headers.get("content-type", "").partition(";")[0]
        self.media_type = media_type.strip().lower()

    async def read(self) -> bytes:
        """The whole body."""
        return await self._response.aread()

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of the body as they arrive, without their ends.

        They end at LF or CR LF only. httpx would also end them at U+2028 and others, which may
        stand in the JSON of an event.
        """
        pending: list[bytes] = []
        async for chunk in self._response.aiter_bytes():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield b"".join((*pending, end)).removesuffix(b"\r")
                pending = []
            pending.append(rest)
        if any(pending):
            yield b"".join(pending)


class HttpClient:
    """Sends requests."""

    def __init__(self) -> None:
        context = httpx.create_ssl_context()
        # The usual proxy variables count, as they do for axe. Where there is no proxy aiohttp isn't
        # told to look: it would do so for every request, in a thread, and read ~/.netrc as well.
        has_proxy = bool(getproxies())
        transport = AiohttpTransport(
            verify=context,
            client=lambda: aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=context), trust_env=has_proxy
            ),
        )
        self._client = httpx.AsyncClient(
            transport=transport,
            timeout=None,  # noqa: S113 - the run's deadline ends the request.
            follow_redirects=False,
            headers={"user-agent": f"axe-lsp/{__version__}"},
        )

    @asynccontextmanager
    async def post(
        self, url: str, headers: dict[str, str], body: bytes
    ) -> AsyncIterator[HttpAnswer]:
        """Send a request; the answer's body is read inside. Raises ProviderError."""
        # ValueError: what httpx and aiohttp think of some addresses and headers.
        with _as_provider_errors(ValueError, httpx.InvalidURL):
            place, login = _without_login(httpx.URL(url), headers)
            request = self._client.build_request("POST", place, headers=headers, content=body)
            response = await self._client.send(request, stream=True, auth=login)
        try:
            with _as_provider_errors():
                yield HttpAnswer(response)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _without_login(
    url: httpx.URL, headers: dict[str, str]
) -> tuple[httpx.URL, httpx.BasicAuth | None]:
    """The address, and the user and password that stood in it if no key takes their place."""
    login = httpx.BasicAuth(url.username, url.password) if url.userinfo else None
    return url.copy_with(userinfo=b""), None if "authorization" in headers else login


@contextmanager
def _as_provider_errors(*others: type[Exception]) -> Iterator[None]:
    expected: tuple[type[Exception], ...] = (httpx.HTTPError, aiohttp.ClientError, OSError)
    try:
        yield
    except (*expected, *others) as error:
        raise ProviderError("server", _reason(error)) from error


def _reason(error: Exception) -> str:
    """What went wrong, in words. Some of these errors have no message of their own."""
    refused = isinstance(error.__cause__, aiohttp.ClientConnectorError) and isinstance(
        error.__cause__.os_error, ConnectionRefusedError
    )
    if refused:
        return "connection refused"
    if isinstance(error.__cause__, aiohttp.ServerDisconnectedError):
        return "the connection was closed before an answer arrived"
    if isinstance(error, httpx.ReadError):
        return f"the connection was closed in the middle of the answer ({error})"
    return str(error) or type(error).__name__
