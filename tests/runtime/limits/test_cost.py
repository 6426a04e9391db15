"""What runs cost: by the price list, for the run and for all that it called, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.schema.models import known_model
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import AgentEnd, TurnEnd
from axe_lsp.runtime.recordings.file import load_recording, save_recording
from axe_lsp.runtime.recordings.recorder import Recorder
from axe_lsp.runtime.recordings.replay import Replay
from axe_lsp.runtime.usage import Usage, cost_of
from support.engines import agent, bench
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider, calls_agent

SOL = "openai/gpt-6.1-sol"
"""2 dollars in, 10 out, 0.1 from the cache and 2.5 into it, for a million tokens each."""

HAIKU = "anthropic/claude-haiku-4-5"
"""1 dollar in, 5 out."""


def team(child_model: str = HAIKU) -> dict[str, str]:
    parent = agent("parent", sub_agents=["helper"])["parent"].replace("openai/m-parent", SOL)
    child = agent("helper")["helper"].replace("openai/m-helper", child_model)
    return {"parent": parent, "helper": child}


def script(provider: ScriptedProvider, child: str = "claude-haiku-4-5") -> None:
    """The parent uses 2,000 tokens and writes 300, its helper 1,000 and 100."""
    call = calls_agent("helper", "t")
    provider.script("gpt-6.1-sol", Says(calls=[call], usage=(500, 100)))
    provider.script("gpt-6.1-sol", Says("done", usage=(1500, 200)))
    provider.script(child, Says("helped", usage=(1000, 100)))


@pytest.mark.parametrize(
    ("used", "cost"),
    [
        (Usage(1_000_000, 0), 4.0),
        (Usage(100_000, 10_000), 0.3),
        (Usage(100_000, 0, cache_read_tokens=100_000), 0.01),
        (Usage(100_000, 0, cache_write_tokens=100_000), 0.25),
        (Usage(100_000, 1, cache_read_tokens=60_000, cache_write_tokens=20_000), 0.09601),
        (Usage(1, 0), 0.000002),
    ],
)
def test_an_answer_is_paid_for_by_the_price_list(used: Usage, cost: float) -> None:
    model = known_model(SOL)
    assert model is not None
    assert cost_of(model, used) == cost


def test_a_long_prompt_makes_all_of_its_request_dearer() -> None:
    model = known_model(SOL)
    assert model is not None
    assert model.dearer_above == 272_000
    assert cost_of(model, Usage(272_000, 1_000)) == 0.554
    assert cost_of(model, Usage(272_001, 1_000)) == 1.103004
    cached = Usage(300_000, 0, cache_read_tokens=100_000, cache_write_tokens=100_000)
    assert cost_of(model, cached) == 0.92
    assert cost_of(replace(model, dearer_above=0), Usage(272_001, 0)) == 0.544002


async def test_answers_to_long_prompts_count_for_a_budget_of_money(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    text = agent("main", budget={"max_cost": 0.5}, tools=["list_directory"])["main"]
    agents = {"main": text.replace("openai/m-main", "anthropic/claude-haiku-5-5")}
    look = Call("list_directory", {"path": "."})
    provider.script("claude-haiku-5-5", Says(calls=[look], usage=(900_000, 100_000)))
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(RunError) as caught:
            await work.run("main")
    assert "used $0.7000 of $0.5" in str(caught.value)


def test_a_price_that_doubles_does_so_on_its_day() -> None:
    model = known_model("google/gemini-4-argon")
    assert model is not None
    used = Usage(100_000, 10_000, cache_read_tokens=50_000)
    costs = [cost_of(model, used, day) for day in ("2026-11-30", "2026-12-01", "2027-01-01")]
    assert costs == [0.205, 0.41, 0.41]


def test_a_sum_with_something_unknown_is_unknown() -> None:
    assert Usage(1, 2, 3, 4, 0.1) + Usage(10, 20, 30, 40, 0.2) == Usage(11, 22, 33, 44, 0.3)
    assert (Usage(cost=0.1) + Usage(cost=None)).cost is None
    assert (Usage(cost=None) + Usage(cost=0.1)).cost is None


@pytest.mark.req("000-30")
async def test_a_run_tells_its_own_cost_and_that_of_its_tree(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    script(provider)
    async with bench(provider, tmp_path, team()) as work:
        result = await work.run("parent")
    assert result.cost == 0.007
    assert result.tree == Usage(3000, 400, cost=0.0085)
    assert [turn.cost for turn in work.of(TurnEnd)] == [0.002, 0.0015, 0.005]
    child, parent = work.of(AgentEnd)
    assert (child.cost, child.tree) == (0.0015, None)
    assert (parent.cost, parent.tree) == (result.cost, result.tree)


async def test_with_an_unknown_price_there_is_no_cost(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    script(provider, child="m-helper")
    async with bench(provider, tmp_path, team("openai/m-helper")) as work:
        result = await work.run("parent")
    assert result.cost == 0.007
    assert result.tree == Usage(3000, 400)
    assert work.of(AgentEnd)[0].cost is None


async def test_what_was_not_answered_has_no_cost(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("gpt-6.1-sol", Refuses(400))
    async with bench(provider, tmp_path, team()) as work:
        with pytest.raises(RunError) as caught:
            await work.run("parent")
    assert caught.value.partial is not None
    assert (caught.value.partial.cost, caught.value.partial.tree) == (None, None)


async def test_replays_cost_nothing_and_say_nothing_of_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    script(provider)
    recorders: list[Recorder] = []

    def record(real: Any) -> Recorder:
        recorders.append(Recorder(real))
        return recorders[-1]

    async with bench(provider, tmp_path, team(), provider_hook=record) as work:
        assert (await work.run("parent")).cost == 0.007
    recording = recorders[0].recording(frozenset())
    path = tmp_path / "recording.toml"
    save_recording(path, recording)
    replay = Replay(load_recording(path), {})
    async with bench(provider, tmp_path, team(), provider_hook=lambda _: replay) as work:
        result = await work.run("parent")
    assert (result.content, result.input_tokens, result.cost) == ("done", 2000, None)
    assert result.tree == Usage(3000, 400)


async def test_an_answer_that_refuses_is_marked(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-solo", Says("I'm sorry, but I cannot do this."), Says("Done."))
    async with bench(provider, tmp_path, agent("solo")) as work:
        assert (await work.run("solo")).refused
        assert not (await work.run("solo")).refused
