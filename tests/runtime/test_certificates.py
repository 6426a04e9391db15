"""Whose certificates are trusted."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from axe_lsp.runtime.certificates import trusted_authorities


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    trusted_authorities.cache_clear()
    yield
    trusted_authorities.cache_clear()


def test_authorities_that_the_environment_names_are_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own.pem").touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "missing"))
    assert trusted_authorities() is True


def test_a_system_without_authorities_trusts_those_of_mozilla(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    context = trusted_authorities()
    assert isinstance(context, ssl.SSLContext)
    assert len(context.get_ca_certs()) > 100
