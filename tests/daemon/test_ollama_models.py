"""Ollama is asked for its models, and nobody waits for it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from axe_lsp.agentfile.schema.models import LocalModel
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.daemon.ollama_models import Ollama
from support.scripted_provider import Answer, Hold, Raw, ScriptedProvider

MODELS = [
    {"name": "gemma3:4b", "size": 3_338_801_804, "details": {"parameter_size": "4.3B"}},
    {"name": "bare"},
    {"name": "odd\nname"},
]
LIST = Raw(json.dumps({"models": MODELS}).encode())
EXPECTED = (LocalModel("gemma3:4b", "4.3B", 3_338_801_804), LocalModel("bare"))


@asynccontextmanager
async def asking(tmp_path: Path, base_url: str) -> AsyncIterator[Ollama]:
    daemon = Daemon({"XDG_CONFIG_HOME": str(tmp_path), "AXE_OLLAMA_BASE_URL": base_url})
    try:
        yield daemon.ollama
    finally:
        await daemon.close()


async def test_models_are_empty_until_ollama_has_answered(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("", Answer(LIST, hold=hold))
    async with asking(tmp_path, f"{provider.url}/") as ollama:
        assert ollama.models() == ()
        assert ollama.is_asked
        await hold.arrived()
        assert ollama.models() == ()
        hold.release()
        await ollama.settled()
        assert ollama.models() == EXPECTED
        assert not ollama.is_asked
        assert [each.path for each in provider.requests] == ["/api/tags"]


@pytest.mark.parametrize(
    "answer",
    [
        Raw(b"{", headers={"Content-Type": "application/json"}),
        Raw(b'{"models": 5}'),
        Raw(b"\xff" * 1000),
        Raw(b"", status=500),
        Raw(b"", status=302, headers={"Location": "/elsewhere"}),
        Raw(b'{"models": []}', cut=3),
    ],
    ids=["no JSON", "another shape", "no text", "an error", "elsewhere", "cut off"],
)
async def test_invalid_answer_means_no_models(
    tmp_path: Path, provider: ScriptedProvider, answer: Raw
) -> None:
    provider.script("", answer)
    async with asking(tmp_path, provider.url) as ollama:
        ollama.models()
        await ollama.settled()
        assert ollama.models() == ()
        assert len(provider.requests) == 1, "what is fresh is not asked for again"


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:1", "nonsense", "http://[", "http://a:b@127.0.0.1:1"]
)
async def test_no_ollama_means_no_models(
    tmp_path: Path, base_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "axe_lsp")
    async with asking(tmp_path, base_url) as ollama:
        ollama.models()
        await ollama.settled()
        assert ollama.models() == ()
    assert "a:b" not in caplog.text
    assert "failed" not in caplog.text


async def test_an_ollama_that_never_answers_is_given_up(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("", Answer(LIST, hold=hold))
    async with asking(tmp_path, provider.url) as ollama:
        ollama.models()
        await hold.hung_up()
        await ollama.settled()
        assert ollama.models() == ()


async def test_a_config_that_cannot_be_read_means_no_models(tmp_path: Path) -> None:
    (tmp_path / "axe").mkdir()
    (tmp_path / "axe" / "config.toml").write_text("[")
    async with asking(tmp_path, "") as ollama:
        ollama.models()
        await ollama.settled()
        assert ollama.models() == ()
