"""docs/providers.md: what it tells users to write works, and its table is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from axe_lsp.agentfile.schema.providers import PROVIDERS, WIRES
from support import answers
from support.engines import bench
from support.scripted_provider import Says, ScriptedProvider

PAGE = (Path(__file__).parents[3] / "docs/providers.md").read_text("utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
AGENTS = [block for block in BLOCKS if block.startswith("model = ")]
CONFIG = [block for block in BLOCKS if block.startswith("[providers")]

PLACES: dict[str, tuple[str, answers.Dialect]] = {
    "anthropic/claude-sonnet-5-5": ("/v1/messages", "anthropic"),
    "openai/gpt-6.1-terra": ("/v1/responses", "responses"),
    "azure/gpt-6-sol": ("/openai/v1/responses", "responses"),
    "google/gemini-4-carbon": (
        "/v1beta/models/gemini-4-carbon:generateContent",
        "google",
    ),
    "bedrock/us.anthropic.claude-opus-5-v1:0": (
        "/model/us.anthropic.claude-opus-5-v1%3A0/converse",
        "bedrock",
    ),
    "openrouter/anthropic/claude-sonnet-5.5": ("/v1/chat/completions", "openai"),
    "ollama/qwen3:8b": ("/api/chat", "ollama"),
    "minimax/MiniMax-M3": ("/v1/messages", "anthropic"),
    "opencode/claude-sonnet-5-5": ("/v1/messages", "anthropic"),
    "deepseek/deepseek-reasoner": ("/v1/chat/completions", "openai"),
}
"""Where the page's models are asked for, with its configuration but another host."""


def model_of(block: str) -> str:
    return block.partition("\n")[0].removeprefix('model = "').removesuffix('"')


def test_every_model_of_the_page_is_tried() -> None:
    assert {model_of(block) for block in AGENTS} == PLACES.keys()


@pytest.mark.parametrize("block", AGENTS, ids=model_of)
async def test_an_agent_of_the_page_gets_its_answer(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    model = model_of(block)
    name, _, served = model.partition("/")
    path, dialect = PLACES[model]
    monkeypatch.setitem(answers.PATHS, path, dialect)
    provider.script(served, Says("hello"))
    own = [each for each in CONFIG if f"[providers.{name}]" in each and name not in PROVIDERS]
    config = re.sub(r"https?://[^/\"]+", provider.url, "\n".join(own))
    (tmp_path / "config/axe").mkdir(parents=True)
    (tmp_path / "config/axe/config.toml").write_text(config)
    keys = {variable: "a-key" for row in PROVIDERS.values() for variable in row.key_variables}
    environment = {
        **keys,
        **dict.fromkeys(re.findall(r'api_key_env = "(\w+)"', config), "a-key"),
        "AWS_REGION": "eu-central-1",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        **({f"AXE_{name.upper()}_BASE_URL": provider.url} if name in PROVIDERS else {}),
    }
    agents = {"solo": f'name = "solo"\n{block}'}
    async with bench(provider, tmp_path, agents, environment) as work:
        assert (await work.run("solo", "hi")).content == "hello"
    assert [each.path for each in provider.requests] == [path]
    assert work.warnings == []


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
