"""Which key goes to which address, and who gets to see it: nobody else."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.runtime.errors import (
    AgentError,
    ConfigError,
    MissingKeyError,
    ProviderError,
)
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.providers.http_provider import service_of
from support.engines import agent, bench
from support.scripted_provider import (
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

pytestmark = pytest.mark.req("001-T1")


async def test_a_user_and_a_password_may_stand_in_a_base_url(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    place = f"http://user:p%40ss@127.0.0.1:{provider.port}"
    changed = {"AXE_OLLAMA_BASE_URL": place, "AXE_OPENAI_BASE_URL": place}
    provider.script("m-l", Says("r"))
    provider.script("m-o", Says("r"))
    async with bench(provider, tmp_path, agent("l", "ollama") | agent("o"), changed) as work:
        await work.run("l")
        await work.run("o")
    without_key, with_key = (request.headers["authorization"] for request in provider.requests)
    assert without_key == "Basic " + b64encode(b"user:p@ss").decode()
    assert with_key == "Bearer key-openai"


@pytest.mark.parametrize(
    "url",
    ["nonsense", "ftp://x", "http://", "http://[::1", "http://h:x", "http://user:p4ss@h:99999"],
)
async def test_a_base_url_that_is_none_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path, url: str
) -> None:
    async with bench(provider, tmp_path, agent("o"), {"AXE_OPENAI_BASE_URL": url}) as work:
        with pytest.raises(ConfigError, match="AXE_OPENAI_BASE_URL") as caught:
            await work.run("o")
    assert "p4ss" not in str(caught.value)


@pytest.mark.req("001-5.7c")
async def test_without_a_key_nothing_is_sent(provider: ScriptedProvider, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, agent("o"), {"OPENAI_API_KEY": ""}) as work:
        with pytest.raises(MissingKeyError) as caught:
            await work.run("o")
    assert str(caught.value) == (
        'API key for provider "openai" is not configured (set OPENAI_API_KEY or add to config.toml)'
    )
    assert caught.value.exit_code == 3
    assert provider.requests == []


CONFIG = """
[providers.groq]
wire = "openai-chat"
base_url = "https://example.com"
[providers.half]
base_url = "https://example.com"
"""


@pytest.mark.parametrize(
    ("name", "told", "hint"),
    [
        ("grok", "edenai, groq", "Did you mean groq?"),
        ("half", "[providers.half] of config.toml has no wire", ""),
        ("nobody", "edenai, groq", "[providers.nobody] with `wire` and `base_url` in config.toml"),
    ],
)
async def test_a_provider_that_nobody_knows_is_named_with_what_can_be_done(
    provider: ScriptedProvider, tmp_path: Path, name: str, told: str, hint: str
) -> None:
    (tmp_path / "config/axe").mkdir(parents=True)
    (tmp_path / "config/axe/config.toml").write_text(CONFIG)
    agents = agent("o", model=f"{name}/m")
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(AgentError, match=f'^unsupported provider "{name}": ') as caught:
            await work.run("o")
    assert told in str(caught.value)
    assert hint in caught.value.hint
    assert "half" not in str(caught.value) or name == "half"


async def test_a_key_that_cannot_be_sent_is_not_shown(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, agent("o"), {"OPENAI_API_KEY": "sk-é\nx"}) as work:
        with pytest.raises(ConfigError) as caught:
            await work.run("o")
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "sk-" not in str(caught.value)


async def test_a_key_that_the_provider_repeats_is_not_shown(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-o", Refuses(401, "Incorrect API key provided: key-openai."))
    async with bench(provider, tmp_path, agent("o")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("o")
    assert str(caught.value) == "auth: Incorrect API key provided: [redacted]."
    assert "key-openai" not in repr(work.events)


@pytest.mark.req("001-7.3.9")
async def test_keys_go_to_their_own_provider(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-p", Says(calls=[calls_agent("o", "1"), calls_agent("l", "2")]), Says("F"))
    provider.script("m-o", Says("r"))
    provider.script("m-l", Says("r"))
    agents = (
        agent("p", "anthropic", sub_agents=["o", "l"]) | agent("o", "openai") | agent("l", "ollama")
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    p, o, ollama = (provider.asked(model)[0].headers for model in ("m-p", "m-o", "m-l"))
    assert (p["x-api-key"], p["anthropic-version"]) == ("key-anthropic", "2023-06-01")
    assert o["authorization"] == "Bearer key-openai"
    assert "key-openai" not in str(p)
    assert "key-" not in str(ollama)


@pytest.mark.req("001-C4")
async def test_a_key_is_read_when_it_is_needed(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-o", Says("one"), Says("two"))
    async with bench(provider, tmp_path, agent("o")) as work:
        await work.run("o")
        work.environment["OPENAI_API_KEY"] = "another"
        await work.run("o")
    keys = [request.headers["authorization"] for request in provider.requests]
    assert keys == ["Bearer key-openai", "Bearer another"]


@pytest.mark.parametrize(
    ("model", "path", "header"),
    [
        ("claude-sonnet-5-5", "messages", "authorization"),
        ("gpt-6-sol", "responses", "authorization"),
        ("gemini-3.1-pro", "models/gemini-3.1-pro:generateContent", "x-goog-api-key"),
        ("kimi-k2.5", "chat/completions", "authorization"),
    ],
)
def test_opencode_has_each_family_on_the_wire_of_its_maker(
    tmp_path: Path, model: str, path: str, header: str
) -> None:
    environment = {"OPENCODE_API_KEY": "key", "XDG_CONFIG_HOME": str(tmp_path)}
    service = service_of(ModelName("opencode", model), load_user_config(environment))
    url = service.url(model, stream=False)
    assert url == f"https://opencode.ai/zen/v1/{path}"
    assert list(service.proof(url, {}, b"")) == [header]
    assert service.is_own
