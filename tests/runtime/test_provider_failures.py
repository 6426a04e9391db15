"""Runs whose provider fails them: answers that are broken, odd or no answers, servers that are not there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import (
    AgentError,
    ConfigError,
    NoAnswerError,
    ProviderError,
)
from axe_lsp.runtime.events import ToolEnd
from axe_lsp.runtime.providers.next_steps import Asked, next_step
from support.answers import DIALECTS
from support.engines import agent, bench
from support.scripted_provider import (
    Call,
    Raw,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.secrets import OPENAI_KEY

pytestmark = pytest.mark.req("001-T1")


@pytest.mark.req("001-13.5", "001-5.6e")
async def test_a_failure_of_the_parents_own_provider_ends_the_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Says("thinking", [calls_agent("h", "t")]), Refuses(429, "slow down"))
    provider.script("m-h", Says("r"))
    async with bench(provider, tmp_path, agent("p", sub_agents=["h"]) | agent("h")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("p")
    error = caught.value
    assert str(error) == "rate_limit: slow down"
    assert error.exit_code == 3
    assert error.partial is not None
    assert error.run_id == error.partial.run_id != ""
    assert (error.partial.content, error.partial.tool_calls) == ("thinking", 1)


@pytest.mark.req("001-3.4", "001-13.1")
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("depth", [150, 600])
async def test_arguments_without_a_bottom_are_none(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, depth: int
) -> None:
    """A model that repeats itself writes one bracket after the other; it can do better next time."""
    task: list[object] = []
    for _ in range(depth):
        task = [task]
    call = Call("call_agent", {"agent": "h", "task": task})
    provider.script("m-p", Says(calls=[call]), Says("better"))
    agents = agent("p", dialect, sub_agents=["h"]) | agent("h")
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("p")).content == "better"
        assert "argument is required" in work.of(ToolEnd)[0].content


@pytest.mark.req("001-5.6g")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_empty_answer_is_an_answer(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-solo", Says(""))
    async with bench(provider, tmp_path, agent("solo", dialect)) as work:
        assert (await work.run("solo")).content == ""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Raw(b"<html>"),
            "server: failed to parse response: it is not JSON: Expecting value (line 1",
        ),
        (Raw(b" "), "server: failed to parse response: it is empty"),
        (Raw(b'{"choices": {}}'), "server: failed to parse response: response.choices is not an"),
        (Raw(b'{"choices": []}', cut=5), "server: the connection was closed in the middle of"),
        (Raw(b"", status=302, headers={"Location": "/v1/elsewhere"}), "server: Found"),
        (
            Raw(b"\x1f\x8bnonsense", headers={"Content-Encoding": "gzip"}),
            "server: the answer can't be decompressed (openai at http://127.0.0.1:",
        ),
    ],
)
@pytest.mark.req("001-13.5", "001-C3")
async def test_a_broken_answer_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path, answer: Raw, message: str
) -> None:
    provider.script("m-solo", answer)
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert str(caught.value).startswith(message)
    assert len(provider.requests) == 1, "neither repeated nor redirected"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Raw(status=302, headers={"Location": "https://me:word@login.example/x?token=abc"}),
            "server: Found: {url}/v1/chat/completions redirects to https://login.example/x, "
            "which is not followed (check the base URL)",
        ),
        (
            Raw(b"<html>", status=404, headers={"Content-Type": "text/html"}),
            "bad_request: Not Found: {url}/v1/chat/completions (check the base URL)",
        ),
        (
            Raw(b'{"detail":"Not Found"}', status=404),
            "bad_request: Not Found: {url}/v1/chat/completions (check the base URL)",
        ),
        (
            Raw(b"<html>", headers={"Content-Type": "text/html; charset=utf-8"}),
            "server: failed to parse response: it is not JSON: Expecting value (line 1, column 1) "
            '(status 200, text/html from {url}/v1/chat/completions, which begins with "<html>")',
        ),
        (
            Raw(b" ", headers={"Content-Type": ""}),
            "server: failed to parse response: it is empty "
            "(status 200, no content type from {url}/v1/chat/completions)",
        ),
    ],
)
async def test_what_a_wrong_base_url_leads_to_names_the_address(
    provider: ScriptedProvider, tmp_path: Path, answer: Raw, message: str
) -> None:
    provider.script("m-solo", answer)
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert str(caught.value) == message.format(url=provider.url)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_comes_in_place_of_a_stream_is_shown_as_far_as_one_line_goes(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    page = b"<html>\r\n  <h1>Proxy</h1>\n" + b"Sign in, please. " * 1000
    provider.script("m-solo", Raw(page, status=203, headers={"Content-Type": "text/html"}))
    async with bench(provider, tmp_path, agent("solo", dialect), streams=lambda _: True) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    shown = "<html> <h1>Proxy</h1> " + "Sign in, please. " * 3 + "Sign in"
    assert "it is not JSON: Expecting value (line 1, column 1) (status 203, text/html from" in (
        str(caught.value)
    )
    assert str(caught.value).endswith(f', which begins with "{shown}")')


RETRY = "`[retry]` with `max_retries` in the agent file, or in config.toml for all agents, sends such a request again"
PAGE = b"<html><head><style>a{b:c}</style></head><h1>Blocked</h1>\n by <b>ACME</b> proxy"


@pytest.mark.parametrize(
    ("answer", "told", "hint"),
    [
        (
            Raw(PAGE, 403, {"Content-Type": "text/html"}),
            "auth: Forbidden",
            '"Blocked by ACME proxy"',
        ),
        (
            Raw(b"upstream connect error", 503, {"Content-Type": "text/plain"}),
            "server: Service Unavailable",
            '"upstream connect error"',
        ),
        (
            Raw(PAGE, 401, {"Content-Type": "text/html"}),
            "auth: Unauthorized",
            "Check the key, which",
        ),
        (Raw(b"<html></html>", 502, {"Content-Type": "text/html"}), "server: Bad Gateway", RETRY),
        (Raw(b'{"message": "no"}', 502, {"Content-Type": "text/plain"}), "server: no", RETRY),
    ],
)
async def test_the_page_of_a_proxy_is_a_hint(
    provider: ScriptedProvider, tmp_path: Path, answer: Raw, told: str, hint: str
) -> None:
    provider.script("m-solo", answer)
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert str(caught.value) == told
    assert hint in caught.value.hint
    assert caught.value.may_pass == caught.value.hint.endswith(RETRY)


async def test_a_key_is_not_shown_with_what_came(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    page = b"not json but a key, some way behind the beginning: " + OPENAI_KEY.encode()
    provider.script("m-solo", Raw(page))
    async with bench(provider, tmp_path, agent("solo"), {"OPENAI_API_KEY": OPENAI_KEY}) as work:
        with pytest.raises(ProviderError, match='which begins with "not json but') as caught:
            await work.run("solo")
    assert OPENAI_KEY[:8] not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "shown"),
    [
        ("ftp://me:se@cret@host/v1", "ftp://host/v1"),
        ("htps://host/v1?api_key=secret", "htps://host/v1"),
        ("postgres://me:secret", "postgres://me:…"),
        ("me:secret@host://x", "host://x"),
        ("http://me:secret@[::1/x", "http://[::1/x"),
        ("http://me:secret@host:99999/x", "http://host:99999/x"),
    ],
)
async def test_a_base_url_that_can_not_be_used_is_shown_without_its_secrets(
    provider: ScriptedProvider, tmp_path: Path, base_url: str, shown: str
) -> None:
    changed = {"AXE_OPENAI_BASE_URL": base_url}
    async with bench(provider, tmp_path, agent("solo"), changed) as work:
        with pytest.raises(ConfigError) as caught:
            await work.run("solo")
    assert f'base URL "{shown}" of provider "openai"' in str(caught.value)
    assert "cret" not in str(caught.value)


async def test_an_answer_that_is_no_http_is_a_clear_error(tmp_path: Path) -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    with ScriptedProvider() as provider:
        changed = {"AXE_OPENAI_BASE_URL": place}
        async with server, bench(provider, tmp_path, agent("solo"), changed) as work:
            with pytest.raises(ProviderError) as caught:
                await work.run("solo")
    said = f"server: the answer is not valid HTTP: illegal status line (openai at {place})"
    assert str(caught.value) == said


async def test_a_provider_that_is_not_there_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    nowhere = {
        "AXE_OPENAI_BASE_URL": "http://127.0.0.1:1",
        "AXE_OLLAMA_BASE_URL": "http://user:pass@127.0.0.1:1",
    }
    agents = agent("o") | agent("l", "ollama")
    async with bench(provider, tmp_path, agents, nowhere) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("o")
        assert str(caught.value) == "server: connection refused (openai at http://127.0.0.1:1)"
        told = "Start the server, or check the base URL, which is that of $AXE_OPENAI_BASE_URL"
        assert caught.value.hint == told
        with pytest.raises(ProviderError) as caught:
            await work.run("l")
    assert str(caught.value) == (
        "server: connection refused: is Ollama running? (expected at http://127.0.0.1:1)"
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('model "m-l" not found', 'model "m-l" not found (`ollama pull m-l` fetches it)'),
        ('model "m-l" not found, try pulling it first',) * 2,
    ],
)
async def test_a_model_that_ollama_lacks_is_named_with_the_command_that_fetches_it(
    provider: ScriptedProvider, tmp_path: Path, said: str, told: str
) -> None:
    provider.script("m-l", Refuses(404, said))
    async with bench(provider, tmp_path, agent("l", "ollama")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("l")
    assert str(caught.value) == f"bad_request: {told}"


@pytest.mark.parametrize(
    ("dialect", "name", "hint"),
    [
        ("openai", "gpt-6-1-sol", "Did you mean openai/gpt-6.1-sol?"),
        (
            "openai",
            "gpt-4-turbo",
            "openai/gpt-4-turbo ended on 2026-10-23; its provider names openai/gpt-5.6-sol in its place",
        ),
        ("openai", "gpt-5.1-codex", "openai/gpt-5.1-codex ended on 2026-07-23"),
        ("openai", "gpt-4o", "openai/gpt-4o ends on 2027-01-14"),
        ("google", "gemini-2.0-flash", "in its place"),
        ("openai", "gpt-99", "/v1/models lists the models of this server"),
        ("anthropic", "claude-99", ""),
    ],
)
async def test_a_model_that_its_provider_lacks_comes_with_the_one_that_it_has(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, name: str, hint: str
) -> None:
    provider.script(name, Refuses(404, f"The model `{name}` does not exist"))
    agents = {"solo": f'name = "solo"\nmodel = "{dialect}/{name}"\n'}
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ProviderError, match="does not exist") as caught:
            await work.run("solo")
    assert hint in caught.value.hint
    assert bool(hint) == bool(caught.value.hint)


LOCAL = """
[providers.local]
wire = "openai-chat"
base_url = "{url}/v1"
auth = "none"
"""
BASE_URL = "Check the base URL, which is that of config.toml. {url}/v1/chat/completions was asked"
ANSWERS = {
    "llama.cpp's model": (503, {"message": "Loading model", "type": "unavailable_error"}),
    "llama.cpp's key": (401, {"message": "Invalid API Key", "type": "authentication_error"}),
    "llama.cpp's path": (404, {"message": "File Not Found", "type": "not_found_error"}),
    "vLLM's model": (404, {"message": "The model `m-solo` does not exist.", "code": 404}),
    "LM Studio's path": (200, "Unexpected endpoint or method. (POST /chat/completions)"),
    "LM Studio's model": (404, {"message": "No models loaded.", "code": "model_not_found"}),
    "OpenAI's path": (404, {"message": "Invalid URL (POST /v1/v1/chat/completions)"}),
    "OpenRouter's model": (400, {"message": "m-solo is not a valid model ID", "code": 400}),
    "Kimi's model": (404, {"message": "Not found the model m-solo or Permission denied"}),
    "Kong's path": (404, {"message": "no Route matched with those values"}),
    "a proxy's network": (502, {"message": "dial tcp 10.0.0.1:80: connect: no route to host"}),
}
STEPS = {
    "llama.cpp's model": "Try again when the server has loaded the model, or set `[retry]` in the agent file",
    "llama.cpp's key": 'No key was sent: in [providers.local] of config.toml, replace `auth = "none"` by '
    "`api_key_env`, the name of the variable that holds the key",
    "llama.cpp's path": BASE_URL,
    "vLLM's model": "{url}/v1/models lists the models of this server",
    "LM Studio's path": BASE_URL,
    "LM Studio's model": "",
    "OpenAI's path": BASE_URL,
    "OpenRouter's model": "{url}/v1/models lists the models of this server",
    "Kimi's model": "{url}/v1/models lists the models of this server",
    "Kong's path": BASE_URL,
    "a proxy's network": RETRY,
}


@pytest.mark.parametrize("whose", ANSWERS)
async def test_the_errors_of_local_servers_come_with_the_next_step(
    provider: ScriptedProvider, tmp_path: Path, whose: str
) -> None:
    status, error = ANSWERS[whose]
    provider.script("m-solo", Raw(json.dumps({"error": error}).encode(), status))
    config = tmp_path / "own" / "axe" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(LOCAL.format(url=provider.url))
    agents = {"solo": 'name = "solo"\nmodel = "local/m-solo"\n'}
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "own")}
    async with bench(provider, tmp_path, agents, environment) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert caught.value.hint == STEPS[whose].format(url=provider.url)


@pytest.mark.parametrize(
    ("model", "config", "hint"),
    [
        (
            "local/m-solo",
            LOCAL + '[providers.local.headers]\nx-token = "abc"\n',
            "Check `headers` in [providers.local] of config.toml",
        ),
        (
            "local/m-solo",
            LOCAL + 'api_key_env = "OPENAI_API_KEY"\n',
            STEPS["llama.cpp's key"],
        ),
        (
            "ollama/m-solo",
            "",
            "No key was sent: `api_key_env` in [providers.ollama] of config.toml names the variable that "
            "holds it",
        ),
    ],
)
async def test_who_asks_without_a_key_is_told_how_to_name_one(
    provider: ScriptedProvider, tmp_path: Path, model: str, config: str, hint: str
) -> None:
    provider.script("m-solo", Refuses(401, "who?"))
    folder = tmp_path / "own" / "axe"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(config.format(url=provider.url))
    agents = {"solo": f'name = "solo"\nmodel = "{model}"\n'}
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "own")}
    async with bench(provider, tmp_path, agents, environment) as work:
        with pytest.raises(ProviderError, match="who") as caught:
            await work.run("solo")
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("https://api.openai.com/v1", "Check the network, or name the proxy in HTTPS_PROXY"),
        # Ollama's message says more.
        ("http://localhost:11434/api/chat", ""),
    ],
)
def test_a_proxy_is_no_way_to_this_machine(url: str, hint: str) -> None:
    asked = Asked("p", "m-solo", url, "bearer", False, "", "")
    assert next_step(NoAnswerError("server", "connection refused"), asked) == hint


async def test_a_host_that_can_not_be_found_comes_with_the_next_step(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    changed = {"AXE_OPENAI_BASE_URL": "http://models.invalid/v1"}
    async with bench(provider, tmp_path, agent("solo"), changed) as work:
        with pytest.raises(ProviderError, match="the host can't be found") as caught:
            await work.run("solo")
    assert caught.value.hint.startswith("Start the server, or check the base URL")


async def test_a_model_without_a_provider_comes_with_the_known_one(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, {"solo": 'name = "solo"\nmodel = "gpt-4o"\n'}) as work:
        with pytest.raises(AgentError, match="expected provider/model-name") as caught:
            await work.run("solo")
    assert caught.value.hint == "Did you mean openai/gpt-4o?"


async def test_a_wrong_address_with_the_model_in_it_is_no_missing_model(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("gemini-2.0-flash", Raw(b"", 404))
    agents = {"solo": 'name = "solo"\nmodel = "google/gemini-2.0-flash"\n'}
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(
            ProviderError, match=r"gemini-2.0-flash.* \(check the base URL\)"
        ) as caught:
            await work.run("solo")
    assert caught.value.hint == ""


async def test_a_number_that_json_does_not_have_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = {"o": 'name = "o"\nmodel = "openai/m-o"\n[params]\ntemperature = inf'}
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ConfigError, match="must be a finite number"):
            await work.run("o")


async def test_ten_megabytes_in_a_line_are_no_trouble(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    text = "x" * 10_000_000
    provider.script("m-o", Says(text), Says(text))
    async with bench(provider, tmp_path, agent("o")) as work:
        assert (await work.run("o")).content == text
    async with bench(provider, tmp_path, agent("o"), streams=lambda _: True) as work:
        assert (await work.run("o")).content == text


async def test_lines_end_where_the_standard_says(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """U+2028 and U+0085 may stand in the JSON of an event."""
    provider.script("m-o", Says("one\u2028two \x85 three"))
    async with bench(provider, tmp_path, agent("o"), streams=lambda _: True) as work:
        assert (await work.run("o")).content == "one\u2028two \x85 three"
