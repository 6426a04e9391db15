"""docs/providers.md: what it tells users to write works, and its table is true."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from axe_lsp.agentfile.schema.providers import PROVIDERS, WIRES
from support import answers
from support.engines import bench
from support.scripted_provider import Received, Says, ScriptedProvider

PAGE = (Path(__file__).parents[3] / "docs/providers.md").read_text("utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
AGENTS = [block for block in BLOCKS if block.startswith("model = ")]
CONFIG = [block for block in BLOCKS if block.startswith("[providers")]
ADDED = [block for block in BLOCKS if block.startswith("[params")]
EXPORTED = re.findall(r"^export (\w+)=", PAGE, re.MULTILINE)

BEARER, OWN = "Bearer {}", "{}"

Tried = tuple[str, answers.Dialect, str, str]
"""Where a model is asked for, on which wire, and the header with the key: its name and its form."""

BY_AGENT: dict[str, Tried] = {
    "anthropic/claude-sonnet-5-5": ("/v1/messages", "anthropic", "x-api-key", OWN),
    "openai/gpt-6.1-terra": ("/v1/responses", "responses", "authorization", BEARER),
    "azure/gpt-6-sol": ("/openai/v1/responses", "responses", "api-key", OWN),
    "google/gemini-4-carbon": (
        "/v1beta/models/gemini-4-carbon:generateContent",
        "google",
        "x-goog-api-key",
        OWN,
    ),
    "bedrock/us.anthropic.claude-opus-5-v1:0": (
        "/model/us.anthropic.claude-opus-5-v1%3A0/converse",
        "bedrock",
        "authorization",
        BEARER,
    ),
    "openrouter/anthropic/claude-sonnet-5.5": (
        "/v1/chat/completions",
        "openai",
        "authorization",
        BEARER,
    ),
    "ollama/qwen3:8b": ("/api/chat", "ollama", "authorization", ""),
    "minimax/MiniMax-M3": ("/v1/messages", "anthropic", "x-api-key", OWN),
    "opencode/claude-sonnet-5-5": ("/v1/messages", "anthropic", "authorization", BEARER),
    "deepseek/deepseek-v4-pro": ("/v1/chat/completions", "openai", "authorization", BEARER),
}
"""The page's agents, with its configuration but another host."""

BY_PROVIDER: dict[str, tuple[str, Tried]] = {
    "openai": ("gpt-6.1-terra", ("/v1/chat/completions", "openai", "authorization", BEARER)),
    "azure": ("gpt-6-sol", ("/openai/v1/responses", "responses", "api-key", OWN)),
    "azure-old": (
        "DEPLOYMENT",
        (
            "/openai/deployments/DEPLOYMENT/chat/completions?api-version=2024-10-21",
            "openai",
            "api-key",
            OWN,
        ),
    ),
    "bedrock-eu": ("nova", ("/model/nova/converse", "bedrock", "authorization", BEARER)),
    "ollama": ("qwen3", ("/api/chat", "ollama", "authorization", BEARER)),
    "groq": ("m", ("/openai/v1/chat/completions", "openai", "authorization", BEARER)),
    "deepseek": ("m", ("/v1/chat/completions", "openai", "authorization", BEARER)),
    "mistral": ("m", ("/v1/chat/completions", "openai", "authorization", BEARER)),
    "local": ("m", ("/v1/chat/completions", "openai", "authorization", "")),
}
"""A model of each provider in the page's configuration."""

VARIABLES = {
    **{row.name: row.key_variables for row in PROVIDERS.values()},
    "ollama": ("OLLAMA_API_KEY",),
}


def model_of(block: str) -> str:
    return block.partition("\n")[0].removeprefix('model = "').removesuffix('"')


def table_of(name: str) -> str:
    """Return what the page says of a provider in config.toml, "" if nothing."""
    tables = re.split(r"^(?=\[)", "\n".join(CONFIG), flags=re.MULTILINE)
    return "".join(each for each in tables if each.startswith(f"[providers.{name}]"))


def variable_of(name: str, config: str) -> str:
    """Return the variable in which the page wants the key."""
    named = re.search(r'api_key_env = "(\w+)"', config)
    return named[1] if named else VARIABLES.get(name, ("",))[0]


async def asked(
    provider: ScriptedProvider,
    folder: Path,
    agent: str,
    config: str,
    environment: Mapping[str, str],
) -> Received:
    """Return the one request of an agent, if all has gone well."""
    (folder / "config/axe").mkdir(parents=True)
    (folder / "config/axe/config.toml").write_text(
        re.sub(r"https?://[^/\"]+", provider.url, config)
    )
    none = {variable: "" for row in PROVIDERS.values() for variable in row.key_variables}
    settings = {**none, "XDG_CONFIG_HOME": str(folder / "config"), **environment}
    agents = {"solo": f'name = "solo"\n{agent}'}
    async with bench(provider, folder, agents, settings) as work:
        assert (await work.run("solo", "hi")).content == "hello"
    assert work.warnings == []
    (request,) = provider.requests
    return request


def check(request: Received, tried: Tried, key: str) -> None:
    path, _, header, form = tried
    assert request.path == path
    assert request.headers.get(header, "") == form.format(key)


def test_every_block_of_the_page_is_tried() -> None:
    assert {model_of(block) for block in AGENTS} == BY_AGENT.keys()
    assert set(re.findall(r"^\[providers\.([\w-]+)\]", PAGE, re.MULTILINE)) == BY_PROVIDER.keys()
    assert len(BLOCKS) == len(AGENTS) + len(CONFIG) + len(ADDED)
    assert len(ADDED) == 1


@pytest.mark.parametrize("block", AGENTS, ids=model_of)
async def test_an_agent_of_the_page_gets_its_answer(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    name, _, served = model_of(block).partition("/")
    path, dialect, *_ = tried = BY_AGENT[model_of(block)]
    monkeypatch.setitem(answers.PATHS, path, dialect)
    provider.script(served, Says("hello"))
    config = "" if name in PROVIDERS else table_of(name)
    variable = variable_of(name, config)
    assert variable in EXPORTED or config or name == "ollama"
    environment = {"AWS_REGION": "eu-central-1"} | ({} if name == "ollama" else {variable: "a-key"})
    if not config:
        environment[f"AXE_{name.upper()}_BASE_URL"] = provider.url
    check(await asked(provider, tmp_path, block, config, environment), tried, "a-key")


@pytest.mark.parametrize("name", BY_PROVIDER)
async def test_a_provider_of_the_page_is_asked_where_it_says_and_with_its_own_key(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    model, tried = BY_PROVIDER[name]
    monkeypatch.setitem(answers.PATHS, tried[0], tried[1])
    provider.script(model, Says("hello"))
    config = table_of(name)
    environment = dict.fromkeys(EXPORTED, "not its own")
    environment |= {variable_of(name, config): "its-key", "AWS_REGION": "eu-central-1"}
    addresses = [each for each in provider.environment if each.endswith("_BASE_URL")]
    environment |= dict.fromkeys(addresses, "")
    if name == "bedrock-eu":  # Its address follows from the region, which another test looks at.
        environment["AXE_BEDROCK_EU_BASE_URL"] = provider.url
    agent = f'model = "{name}/{model}"\n'
    check(await asked(provider, tmp_path, agent, config, environment), tried, "its-key")


async def test_what_the_page_adds_to_requests_is_sent_on_every_wire(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    for dialect in answers.DIALECTS:
        provider.script(f"m-{dialect}", Says("hello"))
    agents = {
        dialect: f'name = "{dialect}"\nmodel = "{dialect}/m-{dialect}"\n{ADDED[0]}'
        for dialect in answers.DIALECTS
    }
    async with bench(provider, tmp_path, agents) as work:
        for dialect in answers.DIALECTS:
            await work.run(dialect, "hi")
    assert [each.body["service_tier"] for each in provider.requests] == ["flex"] * len(agents)


COLUMNS = ("openai-responses", "openai-chat", "anthropic", "gemini", "bedrock", "ollama")


@pytest.mark.parametrize("param", ["thinking_budget", "top_k", "seed", "stop", "num_ctx", "effort"])
def test_the_table_says_which_wire_has_a_parameter(param: str) -> None:
    (row,) = re.findall(rf"^\| `{param}` \| (.*) \|$", PAGE, re.MULTILINE)
    told = dict(zip(COLUMNS, row.split(" | "), strict=True))
    assert {wire for wire, said in told.items() if said not in ("–", "OpenRouter")} == {
        wire for wire, traits in WIRES.items() if param in traits.params
    }


def test_the_table_names_every_provider_and_its_key() -> None:
    for row in PROVIDERS.values():
        assert f"`{row.name}`" in PAGE
        assert all(f"`{variable}`" in PAGE for variable in row.key_variables)
