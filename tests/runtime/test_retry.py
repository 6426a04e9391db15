"""Requests that failed for a moment are sent again: which, how often, after which wait."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.agent_definition import RetryConfig
from axe_lsp.runtime.errors import ConfigError, ProviderError, RunCancelledError
from axe_lsp.runtime.events import AgentEnd, TextDelta, TurnBegin, TurnEnd, TurnRetry
from axe_lsp.runtime.recordings.recorder import Recorder
from axe_lsp.runtime.recordings.replay import Replay
from axe_lsp.runtime.retry import delay_ms
from support.answers import DIALECTS, Dialect, content_type, stream_chunks
from support.engines import agent, bench, running
from support.scripted_provider import (
    Answer,
    Hold,
    Raw,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

AT_ONCE = {"max_retries": 3, "backoff": "fixed", "initial_delay_ms": 1}
LONG = {"max_retries": 3, "backoff": "fixed", "initial_delay_ms": 600_000, "max_delay_ms": 600_000}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("status", "category"),
    [(429, "rate_limit"), (500, "server"), (503, "server"), (529, "overloaded")],
)
async def test_what_failed_for_a_moment_is_sent_again(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, status: int, category: str
) -> None:
    provider.script("m-solo", Refuses(status, "wait a bit"), Says("done"))
    async with bench(provider, tmp_path, agent("solo", dialect, retry=AT_ONCE)) as work:
        result = await work.run("solo")
    assert (result.content, result.turns, result.retry_attempts) == ("done", 1, 1)
    first, second = provider.requests
    assert first.raw == second.raw
    (retry,) = work.of(TurnRetry)
    assert (retry.turn, retry.attempt, retry.max_attempts) == (1, 1, 3)
    assert (retry.category, retry.message, retry.wait_ms) == (category, "wait a bit", 1)
    assert [event.seq for event in work.events] == [1, 2, 3, 4, 5]
    assert [type(event) for event in work.events[1:4]] == [TurnBegin, TurnRetry, TurnEnd]


async def test_a_provider_that_does_not_answer_is_asked_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Raw(cut=0), Raw(b'{"choices"', cut=5), Raw(b"garbage"), Says("done"))
    async with bench(provider, tmp_path, agent("solo", retry=AT_ONCE)) as work:
        result = await work.run("solo")
    assert (result.content, result.retry_attempts) == ("done", 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_what_is_wrong_with_the_request_or_the_key_is_not_sent_again(
    provider: ScriptedProvider, tmp_path: Path, status: int
) -> None:
    provider.script("m-solo", Refuses(status), Says("never"))
    async with bench(provider, tmp_path, agent("solo", retry=AT_ONCE)) as work:
        with pytest.raises(ProviderError):
            await work.run("solo")
    assert len(provider.requests) == 1
    assert work.of(TurnRetry) == []


async def test_the_last_error_counts_when_no_attempt_succeeds(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", *(Refuses(500, f"no {number}") for number in range(1, 6)))
    async with bench(provider, tmp_path, agent("solo", retry=AT_ONCE)) as work:
        with pytest.raises(ProviderError, match="server: no 4") as caught:
            await work.run("solo")
    assert len(provider.requests) == 4
    assert caught.value.exit_code == 3
    assert caught.value.partial is not None
    assert caught.value.partial.retry_attempts == 3


async def test_an_error_that_stays_ends_the_attempts(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(429), Refuses(401, "gone"), Says("never"))
    async with bench(provider, tmp_path, agent("solo", retry=AT_ONCE)) as work:
        with pytest.raises(ProviderError, match="auth: gone"):
            await work.run("solo")
    assert len(provider.requests) == 2


async def test_without_retry_nothing_is_sent_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(429), Says("never"))
    async with bench(provider, tmp_path, agent("solo", retry={"backoff": "fixed"})) as work:
        with pytest.raises(ProviderError):
            await work.run("solo")
    assert len(provider.requests) == 1


@pytest.mark.parametrize("status", [402, 429, 500, 503])
async def test_without_retry_a_request_is_sent_again_twice_if_the_provider_names_a_wait(
    provider: ScriptedProvider, tmp_path: Path, status: int
) -> None:
    refusal = Refuses(status, "later", {"retry-after-ms": "1"})
    provider.script("m-solo", refusal, refusal, Says("done"))
    provider.script("m-other", refusal, refusal, refusal, Says("never"))
    async with bench(provider, tmp_path, agent("solo") | agent("other")) as work:
        assert (await work.run("solo")).content == "done"
        with pytest.raises(ProviderError, match="later"):
            await work.run("other")
    assert len(provider.asked("m-other")) == 3


async def test_without_retry_a_refusal_beside_other_requests_is_sent_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-a", Answer(Says("a"), hold=hold))
    provider.script("m-b", Refuses(529), Says("b"))
    provider.script("m-c", Refuses(500, "boom"), Says("never"))
    agents = agent("a") | agent("b") | agent("c")
    async with bench(provider, tmp_path, agents) as work, running(work.run("a")) as other:
        await hold.arrived()
        with pytest.raises(ProviderError, match="server: boom"):
            await work.run("c")
        async with running(work.run("b")) as refused:
            await work.heard(TurnRetry)
            hold.release()
            assert (await refused).content == "b"
        await other
    assert len(provider.asked("m-c")) == 1


async def test_each_request_has_its_own_attempts_and_each_agent_its_own_retry(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    once = {**AT_ONCE, "max_retries": 1}
    provider.script(
        "m-parent",
        *(Refuses(429), Says(calls=[calls_agent("helper", "t")])),
        *(Refuses(429), Says("done")),
    )
    provider.script("m-helper", Refuses(429, "not now"))
    agents = agent("parent", sub_agents=["helper"], retry=once) | agent("helper")
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("parent")
    assert (result.content, result.turns, result.retry_attempts) == ("done", 2, 2)
    assert [(retry.turn, retry.attempt) for retry in work.of(TurnRetry)] == [(1, 1), (2, 1)]
    assert len(provider.asked("m-helper")) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_text_that_was_shown_is_not_written_twice(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect
) -> None:
    body = b"".join(stream_chunks(dialect, Says("one two three four"), "m-solo"))
    headers = {"Content-Type": content_type(dialect, True)}
    cut = body.index(b"three")
    provider.script("m-solo", Raw(body, headers=headers, cut=cut), Says("never"))
    agents = agent("solo", dialect, retry=AT_ONCE)
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        with pytest.raises(ProviderError):
            await work.run("solo")
    assert work.of(TextDelta)
    assert len(provider.requests) == 1
    assert work.of(TurnRetry) == []


async def test_a_streamed_request_that_was_refused_is_sent_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(529), Says("one two"))
    agents = agent("solo", retry=AT_ONCE)
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        result = await work.run("solo")
    assert (result.content, result.retry_attempts) == ("one two", 1)
    assert "".join(event.delta for event in work.of(TextDelta)) == "one two"


@pytest.mark.parametrize(
    ("config", "waits"),
    [
        (RetryConfig(backoff="fixed"), [500, 500, 500]),
        (RetryConfig(backoff="fixed", initial_delay_ms=40_000), [30_000, 30_000, 30_000]),
        (RetryConfig(backoff="linear", initial_delay_ms=100), [100, 200, 300]),
        (RetryConfig(backoff="linear", initial_delay_ms=100, max_delay_ms=250), [100, 200, 250]),
        (RetryConfig(initial_delay_ms=100), [100, 200, 400]),
        (RetryConfig(backoff="exponential", max_delay_ms=1200), [500, 1000, 1200]),
    ],
)
def test_how_waits_grow(config: RetryConfig, waits: list[int]) -> None:
    assert [delay_ms(config, number, lambda: 0) for number in range(3)] == waits


def test_agents_that_failed_together_do_not_all_come_back_together() -> None:
    config = RetryConfig(initial_delay_ms=1000)
    waits = {delay_ms(config, 1) for _ in range(100)}
    assert len(waits) > 10
    assert all(2000 <= wait < 3000 for wait in waits)
    assert delay_ms(RetryConfig(initial_delay_ms=1000, max_delay_ms=2000), 1, lambda: 0.9) == 2000


def test_any_number_of_retries_is_possible() -> None:
    assert delay_ms(RetryConfig(), 1_000_000) == 30_000


async def test_a_provider_says_how_long_it_wants_to_be_left_alone(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(429, "slow down", {"Retry-After": "1"}), Says("done"))
    async with bench(provider, tmp_path, agent("solo", retry=AT_ONCE)) as work:
        started = time.monotonic()
        await work.run("solo")
    assert time.monotonic() - started >= 1
    assert 1000 <= work.of(TurnRetry)[0].wait_ms <= 1250


@pytest.mark.parametrize(("headers", "waits"), [({"retry-after-ms": "1"}, True), ({}, False)])
async def test_a_wait_that_it_names_takes_the_place_of_the_own_one(
    provider: ScriptedProvider, tmp_path: Path, headers: dict[str, str], waits: bool
) -> None:
    provider.script("m-solo", Refuses(429, "slow", headers), Says("done"))
    async with (
        bench(provider, tmp_path, agent("solo", retry=LONG)) as work,
        running(work.run("solo", timeout=10_000)),
    ):
        retry = await work.heard(TurnRetry)
    assert (retry.wait_ms <= 2) == waits


async def test_it_may_say_so_as_a_date(provider: ScriptedProvider, tmp_path: Path) -> None:
    in_an_hour = datetime.now(timezone.utc) + timedelta(hours=1)
    date = format_datetime(in_an_hour, usegmt=True)
    provider.script("m-solo", Refuses(503, "later", {"Retry-After": date}))
    agents = agent("solo", retry=AT_ONCE)
    async with (
        bench(provider, tmp_path, agents) as work,
        running(work.run("solo", timeout=10_000)),
    ):
        retry = await work.heard(TurnRetry)
    assert 3_500_000 < retry.wait_ms <= 1.25 * 3_600_000


@pytest.mark.parametrize(
    ("retry", "headers"), [(LONG, {}), (AT_ONCE, {"Retry-After": "600"})], ids=["own", "asked for"]
)
async def test_a_wait_that_would_pass_the_deadline_is_not_begun(
    provider: ScriptedProvider, tmp_path: Path, retry: dict[str, Any], headers: dict[str, str]
) -> None:
    provider.script("m-solo", Refuses(429, "slow down", headers))
    async with bench(provider, tmp_path, agent("solo", retry=retry)) as work:
        started = time.monotonic()
        with pytest.raises(ProviderError, match="rate_limit: slow down"):
            await work.run("solo", timeout=60)
    assert time.monotonic() - started < 50
    assert work.of(TurnRetry) == []


async def test_a_wait_ends_at_once_when_the_run_is_stopped(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Refuses(429))
    async with (
        bench(provider, tmp_path, agent("solo", retry=LONG)) as work,
        running(work.run("solo", timeout=10_000)) as run,
    ):
        retry = await work.heard(TurnRetry)
        assert work.engine.cancel(retry.run.run_id)
        with pytest.raises(RunCancelledError):
            await asyncio.wait_for(run, 60)
    assert work.of(AgentEnd)[0].status == "cancelled"


async def test_a_recording_holds_each_turn_once(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-solo", Refuses(429), Refuses(500), Says("done"))
    recorders: list[Recorder] = []

    def record(real: Any) -> Recorder:
        recorders.append(Recorder(real))
        return recorders[-1]

    agents = agent("solo", retry=AT_ONCE)
    async with bench(provider, tmp_path, agents, provider_hook=record) as work:
        await work.run("solo", "a task")
    recording = recorders[0].recording(frozenset())
    (turn,) = recording.runs[0].turns
    assert [sent.content for sent in turn.sent or ()] == ["a task"]
    replaying = {"provider_hook": lambda _: Replay(recording, {})}
    async with bench(provider, tmp_path, agents, **replaying) as work:
        result = await work.run("solo", "a task")
    assert (result.content, result.retry_attempts) == ("done", 0)


# -- without `[retry]`, and with that of config.toml


def _write_config(folder: Path, text: str) -> None:
    """Write config.toml where the engine of a test looks for it."""
    path = folder / "own" / "axe" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("failures", [1, 2, 3])
async def test_request_without_a_byte_of_an_answer_is_sent_again_twice(
    provider: ScriptedProvider, tmp_path: Path, failures: int, stream: bool
) -> None:
    provider.script("m-solo", *[Raw(cut=0)] * failures, Says("done"))
    quick = agent("solo", retry={"initial_delay_ms": 1, "backoff": "fixed"})
    async with bench(provider, tmp_path, quick, streams=lambda _: stream) as work:
        if failures < 3:
            assert (await work.run("solo")).content == "done"
        else:
            with pytest.raises(ProviderError, match="before an answer arrived") as caught:
                await work.run("solo")
            assert "[retry]" not in caught.value.hint
    assert len(provider.requests) == min(failures + 1, 3)


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_status_that_names_no_wait_is_one_request_and_the_error_names_retry(
    provider: ScriptedProvider, tmp_path: Path, status: int
) -> None:
    provider.script("m-solo", Refuses(status), Says("never"))
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert len(provider.requests) == 1
    assert "`[retry]` with `max_retries` in the agent file, or in config.toml" in caught.value.hint


@pytest.mark.parametrize(
    ("own", "of_user", "requests"),
    [
        ({}, "max_retries = 2", 3),
        ({"max_retries": 0}, "max_retries = 2", 1),
        ({**AT_ONCE, "max_retries": 1}, "max_retries = 2", 2),
        ({}, "max_retries = 0", 1),
        ({}, "", 1),
    ],
)
async def test_retry_of_config_toml_counts_for_agents_without_their_own(
    provider: ScriptedProvider, tmp_path: Path, own: Any, of_user: str, requests: int
) -> None:
    provider.script("m-solo", *[Refuses(500)] * 4)
    _write_config(tmp_path, f"[retry]\ninitial_delay_ms = 1\nbackoff = 'fixed'\n{of_user}\n")
    agents = agent("solo", retry=own) if own else agent("solo")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "own")}
    async with bench(provider, tmp_path, agents, environment) as work:
        with pytest.raises(ProviderError):
            await work.run("solo")
    assert len(provider.requests) == requests


async def test_retry_of_zero_is_one_request_whatever_fails(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Raw(cut=0), Says("never"))
    async with bench(provider, tmp_path, agent("solo", retry={"max_retries": 0})) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert len(provider.requests) == 1
    assert "[retry]" not in caught.value.hint


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("retry = 1", "retry is not a table"),
        ("retry.max_retries = -1", "retry.max_retries must be a whole number from 0 on"),
        ("retry.max_retries = true", "retry.max_retries must be a whole number from 0 on"),
        ("retry.backoff = 'slow'", "retry.backoff must be one of exponential, linear, fixed"),
    ],
)
async def test_wrong_retry_of_config_toml_ends_the_run_with_the_place(
    provider: ScriptedProvider, tmp_path: Path, line: str, fault: str
) -> None:
    _write_config(tmp_path, f"{line}\n")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "own")}
    async with bench(provider, tmp_path, agent("solo"), environment) as work:
        with pytest.raises(ConfigError, match=fault):
            await work.run("solo")
