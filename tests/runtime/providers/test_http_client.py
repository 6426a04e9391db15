"""What of the user's surroundings a request takes notice of, and what not; and connections that end."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from axe_lsp.runtime.errors import ConfigError, ProviderError
from axe_lsp.runtime.providers import http_client
from axe_lsp.runtime.providers.http_client import HttpClient
from axe_lsp.runtime.providers.proxies import proxy_for
from support.raw_server import raw_server
from support.scripted_provider import PATIENCE, Raw, ScriptedProvider

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
FAR_AWAY = "http://models.example/v1/messages"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def post(*urls: str) -> list[int]:
    """Return the statuses of requests that are sent one after the other."""
    client = HttpClient()
    try:
        statuses = []
        for url in urls:
            async with client.post(url, {}, b'{"model": "m"}') as answer:
                await answer.read()
                statuses.append(answer.status)
        return statuses
    finally:
        await client.close()


@pytest.mark.parametrize("scheme", ["http://", ""])
async def test_a_proxy_that_the_environment_names_is_asked(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv("http_proxy", f"{scheme}user:word@127.0.0.1:{provider.port}")
    await post(FAR_AWAY)
    assert [each.path for each in provider.requests] == [FAR_AWAY]
    assert provider.requests[0].headers["proxy-authorization"] == "Basic dXNlcjp3b3Jk"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_not_asked_through_a_proxy(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    await post(f"http://{host}:{provider.port}/v1/messages")
    assert [each.path for each in provider.requests] == ["/v1/messages"]


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
async def test_where_no_proxy_is_wanted_none_is_asked(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    with pytest.raises(ProviderError, match="the proxy refuses connections"):
        await post("http://models.invalid/v1/messages")
    monkeypatch.setenv("no_proxy", "models.invalid")
    with pytest.raises(ProviderError, match="the host can't be found: "):
        await post("http://models.invalid/v1/messages")


NAMED = {
    "*": ["http://models.example/", "https://10.1.2.3/"],
    "other.example, *": ["http://models.example/"],
    "models.example": ["http://models.example/", "https://eu.models.example:8080/"],
    "MODELS.example": ["http://Models.example/"],
    ".models.example": ["http://eu.models.example/"],
    "*.models.example": ["http://eu.models.example/"],
    "models.example:8080": ["http://models.example:8080/"],
    "models.example:443": ["https://models.example/"],
    "https://models.example": ["https://models.example/"],
    "http://10.1.2.3": ["http://10.1.2.3/"],
    "10.0.0.0/8": ["http://10.1.2.3/", "https://10.255.0.1:8080/"],
    "10.1.2.3": ["http://10.1.2.3:8080/"],
    "fd00::/8": ["http://[fd00::1]/"],
    "[fd00::1]": ["http://[fd00::1]:8080/"],
    "fd00::1": ["http://[fd00::1]/"],
}
"""Addresses that an entry of NO_PROXY means: to httpx2 as well, but for port 443."""

NOT_NAMED = {
    "": ["http://models.example/"],
    "models.example": ["http://notmodels.example/", "http://models.example.com/"],
    ".models.example": ["http://models.example/"],
    "models.example:8080": ["http://models.example/"],
    "https://models.example": ["http://models.example/"],
    "10.0.0.0/8": ["http://11.1.2.3/", "http://models.example/", "http://[fd00::1]/"],
    "10.0.0.0/99, models.example:x, [": ["http://10.1.2.3/", "http://models.example/"],
}


@pytest.mark.parametrize("entry", [*NAMED, *NOT_NAMED])
def test_no_proxy_names_hosts_domains_networks_and_ports(entry: str) -> None:
    proxies = {"all": "http://proxy.example", "no": entry}
    for url in NAMED.get(entry, []):
        assert proxy_for(urlsplit(url), proxies) == "", url
    for url in NOT_NAMED.get(entry, []):
        assert proxy_for(urlsplit(url), proxies) == "http://proxy.example", url


def test_the_proxy_of_a_scheme_wins() -> None:
    proxies = {"all": "all.example", "http": "http.example", "https": ""}
    assert proxy_for(urlsplit("http://models.example"), proxies) == "http://http.example"
    assert proxy_for(urlsplit("https://models.example"), proxies) == "http://all.example"


@pytest.mark.parametrize("proxy", ["socks5://user:word@127.0.0.1:1", "http://user:word@host:x"])
async def test_a_proxy_that_can_not_be_used_is_a_clear_error_without_its_password(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ConfigError, match="ALL_PROXY"):
        await post(FAR_AWAY)
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(ConfigError, match="HTTP_PROXY") as caught:
        await post(FAR_AWAY)
    assert "word" not in str(caught.value)


async def test_a_proxy_that_refuses_says_so_without_its_password(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", f"http://user:word@127.0.0.1:{provider.port}")
    with pytest.raises(ProviderError, match=r"^server: the proxy refused: 404 Not Found$"):
        await post(FAR_AWAY.replace("http:", "https:"))


@pytest.mark.parametrize("through_proxy", [False, True])
async def test_passwords_of_other_programs_are_not_sent(
    provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    through_proxy: bool,
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    if through_proxy:
        monkeypatch.setenv("http_proxy", provider.url)
    await post(FAR_AWAY if through_proxy else f"{provider.url}/v1/messages")
    assert not [name for name in provider.requests[0].headers if "authorization" in name]


async def test_no_cookie_is_kept(provider: ScriptedProvider) -> None:
    cookie = {"Set-Cookie": "session=1; Path=/"}
    provider.script("m", Raw(b"{}", headers=cookie), Raw(b"{}"))
    place = f"http://localhost:{provider.port}/v1/messages"
    assert await post(place, place) == [200, 200]
    assert "cookie" not in provider.requests[1].headers


async def test_a_kept_connection_that_the_server_has_closed_is_replaced() -> None:
    with closing_server() as server:
        client = HttpClient()
        for _ in range(3):
            server.closed.clear()
            async with client.post(server.url, {}, b"{}") as answer:
                assert await answer.read() == b"ok"
            # While this blocks, the event loop can't notice that the connection has ended.
            assert server.closed.wait(PATIENCE)
        await client.close()


async def test_what_a_server_does_not_want_to_answer_is_not_sent_for_ever(
    provider: ScriptedProvider,
) -> None:
    provider.script("m", Raw(b"{}"), *[Raw(cut=0)] * 10)
    place = f"{provider.url}/v1/messages"
    with pytest.raises(ProviderError, match="closed before an answer arrived"):
        await post(place, place)
    assert len(provider.requests) == 3, "sent once more on a connection of its own"


async def test_a_host_with_several_addresses_of_which_none_answers_refuses(
    monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    async def both(_: object, __: str, port: int, **___: object) -> list[Any]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{last}", port))
            for last in (1, 2)
        ]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", both)
    with pytest.raises(ProviderError, match=r"^server: connection refused$"):
        await post(f"http://localhost:{unused_tcp_port}/v1/messages")


async def test_a_connection_that_nobody_uses_any_more_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_client, "_IDLE_SECONDS", 0.05)
    is_closed = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        is_closed.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        client = HttpClient()
        port = server.sockets[0].getsockname()[1]
        async with client.post(f"http://127.0.0.1:{port}/", {}, b"{}") as head:
            assert await head.read() == b""
        await asyncio.wait_for(is_closed.wait(), PATIENCE)
        await client.close()


async def test_headers_have_names_in_small_letters_and_bytes_come_as_they_are(
    provider: ScriptedProvider,
) -> None:
    sent = bytes(range(256))
    provider.script("m", Raw(sent, headers={"X-Limit": "5", "Content-Type": "A/B; c=d"}))
    client = HttpClient()
    async with client.post(f"{provider.url}/v1/messages", {}, b'{"model": "m"}') as answer:
        assert (answer.headers["x-limit"], answer.media_type) == ("5", "a/b")
        assert b"".join([chunk async for chunk in answer.chunks()]) == sent
    await client.close()


async def test_a_byte_order_mark_before_the_first_line_is_none_of_its_text(
    provider: ScriptedProvider,
) -> None:
    provider.script("m", Raw(b"\xef\xbb\xbfdata: 1\n\xef\xbb\xbfdata: 2\n"))
    client = HttpClient()
    async with client.post(f"{provider.url}/v1/messages", {}, b'{"model": "m"}') as answer:
        lines = [line async for line in answer.lines()]
    await client.close()
    assert lines == [b"data: 1", b"\xef\xbb\xbfdata: 2"]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_lines_end_at_each_line_end_of_the_standard_across_chunks(
    end: bytes, size: int
) -> None:
    wanted = [b"data: a\xe2\x80\xa8b", b"", b": c", b"", b"", b"data: d"]
    body = end.join(wanted)
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in (*pieces, b""))
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with raw_server(lambda _: head + chunks) as server:
        client = HttpClient()
        async with client.post(f"{server.url}/v1/messages", {}, b'{"model": "m"}') as answer:
            assert [line async for line in answer.lines()] == wanted
        await client.close()


@pytest.mark.parametrize("is_bare", [False, True])
async def test_deflate_is_read_with_and_without_the_frame_of_zlib(
    provider: ScriptedProvider, is_bare: bool
) -> None:
    body = b'{"text": "%b"}' % (b"x" * 3_000_000)
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS if is_bare else zlib.MAX_WBITS)
    packed = packer.compress(body) + packer.flush()
    provider.script("m", Raw(packed, headers={"Content-Encoding": "deflate"}))
    client = HttpClient()
    async with client.post(f"{provider.url}/v1/messages", {}, b'{"model": "m"}') as answer:
        assert await answer.read() == body
    await client.close()


async def test_a_compression_that_nobody_asked_for_is_named(provider: ScriptedProvider) -> None:
    provider.script("m", Raw(b"{}", headers={"Content-Encoding": "br"}))
    with pytest.raises(ProviderError, match='compressed with "br", which was not asked for'):
        await post(f"{provider.url}/v1/messages")


class _Server(socketserver.ThreadingTCPServer):
    """Answers a request on each connection, and closes it without having said so."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _OneAnswer)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"
        self.closed = threading.Event()

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.closed.set()


class _OneAnswer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        self.rfile.read(2)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


@contextmanager
def closing_server() -> Iterator[_Server]:
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
