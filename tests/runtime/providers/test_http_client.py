"""What of the user's surroundings a request takes notice of, and what not."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.runtime.providers.http_client import HttpClient
from support.scripted_provider import ScriptedProvider

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def post(url: str) -> int:
    client = HttpClient()
    try:
        async with client.post(url, {}, b"{}") as answer:
            await answer.read()
            return answer.status
    finally:
        await client.close()


async def test_a_proxy_that_the_environment_names_is_asked(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", provider.url)
    await post("http://models.example/v1/messages")
    assert [each.path for each in provider.requests] == ["http://models.example/v1/messages"]


async def test_passwords_of_other_programs_are_not_sent(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    await post(f"{provider.url}/v1/messages")
    assert "authorization" not in provider.requests[0].headers
