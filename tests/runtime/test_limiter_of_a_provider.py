"""Many runs at one provider: they take turns, and a refusal of one is a refusal of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.events import AgentEnd, TurnRetry, TurnWait
from support.engines import agent, bench, running
from support.passing_time import passing_time
from support.scripted_provider import (
    Answer,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

FAN = agent("p", "anthropic", sub_agents=["c"]) | agent("c")


def fans_out(provider: ScriptedProvider, children: int) -> None:
    """A parent with so many children, which ask another provider than it does."""
    calls = [calls_agent("c", f"t{number}") for number in range(children)]
    provider.script("m-p", Says(calls=calls), Says("done"))


@pytest.mark.parametrize("headers", [{}, {"retry-after-ms": "50"}])
async def test_twenty_children_at_a_provider_that_takes_five_all_complete(
    provider: ScriptedProvider, tmp_path: Path, headers: dict[str, str]
) -> None:
    fans_out(provider, 20)
    provider.limit("m-c", 5, Refuses(429, "too many", headers), seconds=0.2)
    provider.script("m-c", Answer(Says("fine"), repeat=True))
    async with bench(provider, tmp_path, FAN) as work:
        assert (await work.run("p")).content == "done"
    assert {end.status for end in work.of(AgentEnd)} == {"completed"}
    assert {retry.max_attempts for retry in work.of(TurnRetry)} == {2}


async def test_no_more_requests_are_sent_than_config_toml_allows(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "axe" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[providers.openai]\nmax_concurrent = 2\n")
    fans_out(provider, 8)
    provider.limit("m-c", 2, Refuses(429))
    provider.script("m-c", Answer(Says("fine"), repeat=True))
    async with bench(provider, tmp_path, FAN) as work:
        assert (await work.run("p")).content == "done"
    assert len(provider.asked("m-c")) == 8
    waits = work.of(TurnWait)
    assert len(waits) == 6
    assert {(wait.run.agent, wait.provider, wait.wait_ms) for wait in waits} == {
        ("c", "openai", None)
    }


async def test_a_wait_that_one_run_is_told_holds_the_others(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Refuses(429, "slow", {"Retry-After": "300"}), Says("a"))
    provider.script("m-b", Says("b"))
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agent("a") | agent("b")) as work,
            running(work.run("a")) as first,
        ):
            await work.heard(TurnRetry)
            async with running(work.run("b")) as held:
                wait = await work.heard(TurnWait)
                assert wait.wait_ms is not None
                assert 290_000 < wait.wait_ms <= 375_000
                assert provider.asked("m-b") == []
                await passing.goes_by(376)
                assert (await held).content == "b"
            assert (await first).content == "a"


async def test_a_run_that_has_less_time_than_that_fails_at_once_and_says_so(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Refuses(429, "slow", {"Retry-After": "300"}))
    async with bench(provider, tmp_path, agent("a") | agent("b")) as work:
        for name in "ab":
            with pytest.raises(ProviderError, match=r"slow \(it could be sent again in 3"):
                await work.run(name, timeout=60)
    assert provider.asked("m-b") == []


async def test_another_key_has_another_limiter(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-a", Refuses(429, "slow", {"Retry-After": "300"}))
    provider.script("m-b", Says("b"))
    async with (
        bench(provider, tmp_path, agent("a") | agent("b")) as work,
        running(work.run("a")),
    ):
        await work.heard(TurnRetry)
        work.environment["OPENAI_API_KEY"] = "another"
        assert (await work.run("b")).content == "b"
