"""Budgets: of a tree, as in axe, and of each agent for itself."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import BudgetError, RunTimeoutError
from axe_lsp.runtime.events import AgentEnd, ToolBegin, ToolEnd, TurnBegin
from axe_lsp.runtime.providers.provider import Provider
from axe_lsp.runtime.recordings.recorder import Recorder
from axe_lsp.runtime.recordings.recording import RecordedError
from axe_lsp.runtime.usage import BudgetUse
from support.answers import DIALECTS
from support.engines import Bench, agent, bench
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider, calls_agent

HAIKU = "anthropic/claude-haiku-4-5"

READ = Call("read_file", {"path": "notes.txt"})
"""A tool call that costs no tokens. An answer costs 15, unless a test says otherwise."""


def team(parent: dict[str, Any] | None = None, child: dict[str, Any] | None = None) -> Any:
    """Return a parent and its helper, which may read files, with these budgets."""
    more = {"sub_agents": ["helper"], **({"budget": parent} if parent else {})}
    own = {"tools": ["read_file"], **({"budget": child} if child else {})}
    return agent("parent", **more) | agent("helper", **own)


def ends(work: Bench) -> dict[str, tuple[str, str | None]]:
    """Return how each agent has ended, and why."""
    return {end.run.agent: (end.status, end.reason) for end in work.of(AgentEnd)}


def last_message(provider: ScriptedProvider, model: str) -> str:
    """Return what the last request to a model ends with."""
    text: str = provider.asked(model)[-1].body["messages"][-1]["content"]
    return text


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_no_tool_is_executed_once_the_budget_is_used_up(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-solo", Says("Reading.", [READ]), Says("never"))
    agents = agent("solo", dialect, tools=["read_file"], budget={"max_tokens": 10})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError) as caught:
            await work.run("solo")
    error = caught.value
    assert str(error) == "budget exceeded: used 15 of 10 tokens"
    assert (error.kind, error.exit_code) == ("budget", 4)
    assert error.partial is not None
    assert (error.partial.content, error.partial.status) == ("Reading.", "killed")
    assert error.partial.budget == BudgetUse(10, 15, exceeded=True)
    assert ends(work) == {"solo": ("killed", "budget")}
    assert work.of(AgentEnd)[0].error == str(error)
    assert work.of(ToolBegin) == []
    assert len(provider.requests) == 1


async def test_the_budget_is_used_up_when_all_of_it_is_used(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("1", [READ], usage=(9, 1)), Says("2", usage=(9, 1)))
    agents = agent("solo", tools=["read_file"], budget={"max_tokens": 20})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError, match="used 20 of 20 tokens") as caught:
            await work.run("solo")
    assert caught.value.partial is not None
    assert caught.value.partial.content == "2"


async def test_a_run_within_its_budget_says_how_much_it_has_used(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Answer(Says("done"), repeat=True))
    async with bench(provider, tmp_path, agent("solo", budget={"max_tokens": 16})) as work:
        result = await work.run("solo")
        assert (result.status, result.budget) == ("completed", BudgetUse(16, 15, exceeded=False))
        assert ends(work) == {"solo": ("completed", None)}
    async with bench(provider, tmp_path, agent("solo", budget={"max_tokens": 0})) as work:
        assert (await work.run("solo")).budget is None


async def test_what_is_asked_for_counts_before_the_file(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Answer(Says("done"), repeat=True))
    async with bench(provider, tmp_path, agent("solo", budget={"max_tokens": 1000})) as work:
        assert (await work.run("solo", max_tokens=0)).status == "completed"
        with pytest.raises(BudgetError, match="used 15 of 5 tokens"):
            await work.run("solo", max_tokens=5)


@pytest.mark.req("002-25")
async def test_what_children_use_is_charged_to_the_parent(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("never"))
    provider.script("m-helper", Says("What I found.", usage=(10, 10)))
    async with bench(provider, tmp_path, team({"max_tokens": 30})) as work:
        with pytest.raises(BudgetError, match="used 35 of 30 tokens") as caught:
            await work.run("parent")
    # The child had come to its end, and its text is a result like any other.
    assert ends(work) == {"helper": ("completed", "budget"), "parent": ("killed", "budget")}
    (call,) = work.of(ToolEnd)
    assert (call.content, call.is_error) == ("What I found.", False)
    assert len(provider.asked("m-parent")) == 1
    partial = caught.value.partial
    assert partial is not None
    assert (partial.content, partial.input_tokens, partial.output_tokens) == ("Asking.", 10, 5)


async def test_a_child_stops_at_once_when_the_parents_budget_is_used_up(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("never"))
    provider.script("m-helper", Says("Reading.", [READ]), Says("never"))
    async with bench(provider, tmp_path, team({"max_tokens": 30})) as work:
        with pytest.raises(BudgetError, match="used 30 of 30 tokens"):
            await work.run("parent")
    assert ends(work) == {"helper": ("completed", "budget"), "parent": ("killed", "budget")}
    (call,) = work.of(ToolEnd)
    assert (call.name, call.content, call.is_error) == ("call_agent", "Reading.", False)
    assert len(provider.requests) == 2


async def test_children_at_work_finish_their_requests_and_all_are_charged(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    calls = [calls_agent("helper", "quick"), calls_agent("helper", "slow")]
    provider.script("m-parent", Says("Asking.", calls), Says("never"))
    provider.script("m-helper", Answer(Says("fast"), match="quick"))
    provider.script("m-helper", Answer(Says("late", [READ]), match="slow", hold=hold))
    async with bench(provider, tmp_path, team({"max_tokens": 30})) as work:
        run = asyncio.create_task(work.run("parent"))
        await work.heard(AgentEnd)
        hold.release()
        with pytest.raises(BudgetError, match="used 45 of 30 tokens"):
            await run
    assert {end.content for end in work.of(ToolEnd)} == {"fast", "late"}


@pytest.mark.req("002-19", "002-5")
async def test_a_childs_own_budget_ends_the_child_and_nobody_else(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("coped"))
    provider.script("m-helper", Says("Reading.", [READ]), Says("never"))
    async with bench(provider, tmp_path, team(child={"max_tokens": 10})) as work:
        result = await work.run("parent")
    assert result.content == "coped"
    assert last_message(provider, "m-parent") == (
        'Error: sub-agent "helper" failed - budget exceeded: used 15 of 10 tokens. '
        "You may retry or proceed without this result.\n\nReading."
    )
    assert work.of(ToolEnd)[0].is_error
    assert ends(work) == {"helper": ("killed", "budget"), "parent": ("completed", None)}
    child, parent = work.of(AgentEnd)
    assert child.run.run_id != parent.run.run_id
    assert (child.input_tokens, parent.input_tokens) == (10, 20)


async def test_a_child_without_a_word_has_no_partial_text(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]), Says("coped"))
    provider.script("m-helper", Says("", [READ]))
    async with bench(provider, tmp_path, team(child={"max_tokens": 10})) as work:
        await work.run("parent")
    assert last_message(provider, "m-parent").endswith("proceed without this result.")


@pytest.mark.req("002-25")
async def test_with_scope_self_a_run_pays_for_itself_only(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("done"))
    provider.script("m-helper", Says("expensive", usage=(10_000, 10_000)))
    agents = team({"max_tokens": 40, "scope": "self"})
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("parent")
    assert (result.content, result.budget) == ("done", BudgetUse(40, 30, exceeded=False))


async def test_a_limit_that_is_asked_for_is_for_all_whatever_scope_the_file_has(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("never"))
    provider.script("m-helper", Says("one", [READ]), Says("two", [READ]), Says("never"))
    agents = team({"max_tokens": 10, "max_tool_calls": 2, "scope": "self"})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError, match="used 45 of 40 tokens") as caught:
            await work.run("parent", max_tokens=40)
    assert caught.value.partial is not None
    assert caught.value.partial.budget == BudgetUse(40, 45, exceeded=True)
    assert ends(work) == {"parent": ("killed", "budget"), "helper": ("completed", "budget")}


async def test_tool_calls_keep_the_scope_of_the_file_beside_such_a_limit(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("done"))
    provider.script("m-helper", Says("one", [READ]), Says("two", [READ]), Says("fine"))
    async with bench(provider, tmp_path, team({"max_tool_calls": 1, "scope": "self"})) as work:
        assert (await work.run("parent", max_tokens=1000)).content == "done"


async def test_each_run_above_with_the_scope_of_a_tree_is_charged(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-top", Says("Asking.", [calls_agent("middle", "t")]), Says("never"))
    provider.script("m-middle", Says("Asking.", [calls_agent("leaf", "t")]), Says("middle"))
    provider.script("m-leaf", Says("leaf", usage=(50, 50)))
    agents = (
        agent("top", sub_agents=["middle"], budget={"max_tokens": 145})
        | agent("middle", sub_agents=["leaf"], budget={"max_tokens": 50, "scope": "self"})
        | agent("leaf")
    )
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError, match="used 145 of 145 tokens"):
            await work.run("top")
    assert ends(work) == {
        "leaf": ("completed", None),
        "middle": ("completed", "budget"),
        "top": ("killed", "budget"),
    }


async def test_a_budget_in_the_middle_ends_what_is_below_it_and_not_the_root(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-top", Says("Asking.", [calls_agent("middle", "t")]), Says("coped"))
    provider.script("m-middle", Says("Asked.", [calls_agent("leaf", "t")]), Says("never"))
    provider.script("m-leaf", Says("leaf", [READ]), Says("never"))
    agents = (
        agent("top", sub_agents=["middle"])
        | agent("middle", sub_agents=["leaf"], budget={"max_tokens": 30})
        | agent("leaf", tools=["read_file"])
    )
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("top")
    assert result.content == "coped"
    assert ends(work)["leaf"] == ("completed", "budget")
    assert ends(work)["middle"] == ("killed", "budget")
    assert last_message(provider, "m-top").endswith("this result.\n\nAsked.")


@pytest.mark.req("002-19")
async def test_tool_calls_beyond_the_budget_are_not_made(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("one", [READ]), Says("two", [READ, READ]), Says("never"))
    agents = agent("solo", tools=["read_file"], budget={"max_tool_calls": 2})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError) as caught:
            await work.run("solo")
    assert str(caught.value) == "budget exceeded: used 1 of 2 tool calls, 2 more asked for"
    assert len(work.of(ToolBegin)) == 1
    assert caught.value.partial is not None
    assert (caught.value.partial.content, caught.value.partial.tool_calls) == ("two", 1)


async def test_all_tool_calls_of_the_budget_may_be_made(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("one", [READ]), Says("two", [READ]), Says("done"))
    agents = agent("solo", tools=["read_file"], budget={"max_tool_calls": 2})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "done"


async def test_tool_calls_of_children_are_charged_to_the_parent_too(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("never"))
    provider.script("m-helper", Says("one", [READ]), Says("two", [READ]), Says("never"))
    async with bench(provider, tmp_path, team({"max_tool_calls": 2})) as work:
        with pytest.raises(BudgetError, match="used 2 of 2 tool calls, 1 more asked for"):
            await work.run("parent")
    assert ends(work)["helper"] == ("completed", "budget")


async def test_tool_calls_of_children_do_not_count_with_scope_self(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("done"))
    provider.script("m-helper", Says("one", [READ]), Says("two", [READ]), Says("fine"))
    async with bench(provider, tmp_path, team({"max_tool_calls": 1, "scope": "self"})) as work:
        assert (await work.run("parent")).content == "done"


@pytest.mark.req("002-19")
async def test_a_run_has_no_more_turns_than_its_budget(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("one", [READ]), Says("two", [READ]), Says("never"))
    agents = agent("solo", tools=["read_file"], budget={"max_turns": 2})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError, match="budget exceeded: used 2 of 2 turns"):
            await work.run("solo")
    assert len(work.of(TurnBegin)) == 2
    # Nobody would have seen what the second call came to.
    assert len(work.of(ToolBegin)) == 1


async def test_an_answer_in_the_last_turn_is_an_answer(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("one", [READ]), Says("done"))
    agents = agent("solo", tools=["read_file"], budget={"max_turns": 2})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "done"


@pytest.mark.slow
@pytest.mark.req("002-19")
async def test_a_childs_own_time_ends_it_as_its_budget_does(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("coped"))
    provider.script("m-helper", Says("Reading.", [READ]), Answer(Says("late"), hold=hold))
    async with bench(provider, tmp_path, team(child={"max_wall_time": 3})) as work:
        started = time.monotonic()
        result = await work.run("parent")
        await hold.hung_up()
    assert result.content == "coped"
    assert 3 <= time.monotonic() - started < 60
    assert last_message(provider, "m-parent") == (
        'Error: sub-agent "helper" failed - budget exceeded: used 3 of 3 seconds. '
        "You may retry or proceed without this result.\n\nReading."
    )
    assert ends(work)["helper"] == ("killed", "budget")


@pytest.mark.slow
async def test_the_time_of_a_run_may_be_over_before_that_of_its_budget(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Answer(Says("late"), hold=Hold()))
    async with bench(provider, tmp_path, agent("solo", budget={"max_wall_time": 100})) as work:
        with pytest.raises(RunTimeoutError, match="timeout after 1s"):
            await work.run("solo", timeout=1)
    assert ends(work) == {"solo": ("timeout", None)}


async def test_only_runs_within_all_budgets_are_remembered(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]))
    provider.script("m-helper", Says("What I found."))
    memory = {"enabled": True}
    agents = agent("parent", sub_agents=["helper"], memory=memory, budget={"max_tokens": 30})
    agents |= agent("helper", memory=memory)
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError):
            await work.run("parent")
    assert list((tmp_path / "data").rglob("*.md")) == []


@pytest.mark.slow
async def test_a_recording_tells_that_the_time_of_the_budget_was_over(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Answer(Says("late"), hold=Hold()))
    recorders: list[Recorder] = []

    def record(real: Provider) -> Provider:
        recorders.append(Recorder(real))
        return recorders[-1]

    agents = agent("solo", budget={"max_wall_time": 3})
    async with bench(provider, tmp_path, agents, provider_hook=record) as work:
        with pytest.raises(BudgetError):
            await work.run("solo")
    (turn,) = recorders[0].recording(frozenset()).runs[0].turns
    assert turn.answer == RecordedError("timeout", "budget exceeded: used 3 of 3 seconds")


@pytest.mark.parametrize("used", [(20_000, 0), (0, 4_000)])
async def test_a_run_ends_when_it_has_cost_what_it_may(
    provider: ScriptedProvider, tmp_path: Path, used: tuple[int, int]
) -> None:
    """Of this model a million tokens cost 1 dollar, and 5 where it writes them."""
    provider.script("claude-haiku-4-5", Says("Reading.", [READ], usage=used), Says("never"))
    agents = agent("solo", tools=["read_file"], budget={"max_cost": 0.02})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(BudgetError) as caught:
            await work.run("solo", model=HAIKU)
    assert str(caught.value) == "budget exceeded: used $0.0200 of $0.02"
    assert caught.value.exit_code == 4
    assert ends(work) == {"solo": ("killed", "budget")}
    assert work.warnings == []


@pytest.mark.parametrize(
    ("scope", "asked_for", "ended"),
    [("tree", 0, True), ("self", 0, False), ("self", 0.01, True)],
)
async def test_what_children_cost_counts_as_the_scope_says_or_if_it_was_asked_for(
    provider: ScriptedProvider, tmp_path: Path, scope: str, asked_for: float, ended: bool
) -> None:
    provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]), Says("done"))
    provider.script("claude-haiku-4-5", Says("found", usage=(50_000, 0)))
    agents = team({"max_cost": 0.01, "scope": scope}) | {
        "helper": f'name = "helper"\nmodel = "{HAIKU}"\n'
    }
    async with bench(provider, tmp_path, agents) as work:
        if ended:
            with pytest.raises(BudgetError, match=r"used \$0\.0500 of \$0\.01"):
                await work.run("parent", max_cost=asked_for)
        else:
            assert (await work.run("parent")).content == "done"


async def test_a_price_that_nobody_knows_is_warned_of_once(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("Reading.", [READ]), Says("done"))
    agents = agent("solo", tools=["read_file"], budget={"max_cost": 0.01})
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo")).content == "done"
    (warning,) = work.warnings
    assert warning == (
        "budget.max_cost can't be enforced: the price of m-solo is not known, so its cost does not count"
    )
