"""Whose certificates are trusted."""

import asyncio
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import certifi
import pytest

from axe_lsp.runtime.certificates import none_read, read_ahead, trusted_authorities
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.http_client import HttpClient

_NEW_CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=server "
    "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out own.pem"
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
    with pytest.raises(ProviderError, match="the certificate is not accepted"):
        await _status(certificate)


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


def test_nothing_is_read_where_that_is_left_out_but_by_who_reads_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certifi.where())
    with none_read():
        assert ssl.create_default_context().get_ca_certs() == []
        assert len(trusted_authorities().get_ca_certs()) > 100
    assert len(ssl.create_default_context().get_ca_certs()) > 100


def test_the_http_client_is_imported_without_reading_authorities() -> None:
    program = (
        "import axe_lsp.runtime.providers.http_client, aiohttp.connector as connector\n"
        "assert connector._SSL_CONTEXT_VERIFIED.get_ca_certs() == []"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


async def _status(certificate: Path) -> int:
    """Of the answer to a request to a server with that certificate."""
    client = HttpClient()
    try:
        async with _server(certificate) as url, client.post(url, {}, b"{}") as answer:
            return answer.status
    finally:
        await client.close()


@asynccontextmanager
async def _server(certificate: Path) -> AsyncIterator[str]:
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate, certificate.with_name("key.pem"))
    listener = await asyncio.start_server(_answer, "127.0.0.1", 0, ssl=own)
    async with listener:
        yield f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"{}")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()
