"""Whose certificates are trusted."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from axe_lsp.runtime.certificates import read_ahead, trusted_authorities
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.http_client import HttpClient
from axe_lsp.runtime.tools.tool import ToolError
from axe_lsp.runtime.tools.web import Network, fetch
from support.scripted_provider import PATIENCE

_NEW_CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=server "
    "-addext subjectAltName=IP:127.0.0.1,DNS:models.example -keyout key.pem -out own.pem"
)

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate")


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    read_ahead.cache_clear()
    yield
    read_ahead.cache_clear()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of a server on this machine. It is signed by nobody else."""
    subprocess.run(_NEW_CERTIFICATE.split(), cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "own.pem"


@needs_openssl
async def test_a_server_is_believed_whose_certificate_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert await _status(certificate) == 200


@needs_openssl
async def test_a_server_is_not_believed_whom_nobody_vouches_for(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(ProviderError, match=r"is not accepted: .*SSL_CERT_FILE names"):
        await _status(certificate)


@needs_openssl
async def test_a_server_behind_a_proxy_proves_who_it_is_and_only_it_reads_the_request(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    for name in ("no_proxy", "NO_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    passed = bytearray()
    async with _server(certificate) as url, _tunnel(url, passed) as proxy:
        monkeypatch.setenv("https_proxy", proxy)
        assert await _answer_of("https://models.example/v1") == 200
        with pytest.raises(ProviderError, match="certificate is not accepted: Hostname mismatch"):
            await _answer_of("https://other.example/v1")
    assert passed.startswith(b"CONNECT models.example:443 HTTP/1.1\r\n")
    assert b"Basic dXNlcjp3b3Jk" in passed
    assert b"POST" not in passed


@needs_openssl
async def test_a_page_comes_from_a_server_that_proves_to_be_the_host_in_its_address(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    async def here(_: str) -> list[str]:
        return ["127.0.0.1"]

    network = Network(here, lambda _: True)
    async with _server(certificate, until=b"\r\n\r\n") as url:
        port = url.rstrip("/").rpartition(":")[2]
        page = await fetch(f"https://models.example:{port}/", (), network, PATIENCE)
        assert page.status == 200
        with pytest.raises(ToolError, match="Hostname mismatch"):
            await fetch(f"https://other.example:{port}/", (), network, PATIENCE)


def test_a_file_of_authorities_that_is_empty_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own.pem").touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "missing"))
    assert trusted_authorities().get_ca_certs() == []


def test_a_system_without_authorities_trusts_those_of_mozilla(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert len(trusted_authorities().get_ca_certs()) > 100


async def _status(certificate: Path) -> int:
    """Of the answer to a request to a server with that certificate."""
    async with _server(certificate) as url:
        return await _answer_of(url)


async def _answer_of(url: str) -> int:
    client = HttpClient()
    try:
        async with client.post(url, {}, b"{}") as answer:
            return answer.status
    finally:
        await client.close()


@asynccontextmanager
async def _tunnel(url: str, passed: bytearray) -> AsyncIterator[str]:
    """Provide a proxy that leads to one server, whatever is asked for. What clients send is added to `passed`."""
    port = int(url.rstrip("/").rpartition(":")[2])
    tunnels = []

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tunnels.append(asyncio.current_task())
        passed.extend(await reader.readuntil(b"\r\n\r\n"))
        there = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copy(there[0], writer, bytearray()), _copy(reader, there[1], passed))

    async with await asyncio.start_server(connect, "127.0.0.1", 0) as listener:
        yield f"http://user:word@127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        await asyncio.gather(*tunnels)


async def _copy(
    source: asyncio.StreamReader, target: asyncio.StreamWriter, passed: bytearray
) -> None:
    with suppress(ConnectionError):
        while data := await source.read(1 << 16):
            passed.extend(data)
            target.write(data)
    target.close()


@asynccontextmanager
async def _server(certificate: Path, until: bytes = b"{}") -> AsyncIterator[str]:
    """Answers requests that end like that."""
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate, certificate.with_name("key.pem"))
    listener = await asyncio.start_server(partial(_answer, until), "127.0.0.1", 0, ssl=own)
    async with listener:
        yield f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"


async def _answer(until: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(until)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()
