"""Runs in a real host: told in order, several at a time, to whoever has subscribed."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.lookup_order import AgentPlaces
from axe_lsp.hosting.protocol import Start, Warned
from axe_lsp.hosting.supervisor.supervisor import Runs
from axe_lsp.runtime.errors import ExitCode, RunCancelledError, RunError
from axe_lsp.runtime.runs import RunRequest, new_run_id
from support.hosts import UNHURRIED, agent, gone, stage
from support.scripted_provider import (
    Answer,
    Hold,
    Says,
    ScriptedProvider,
)
from support.team import BOTH, TEAM, assert_gapless, both_at_work, ends


async def test_a_run_is_told_in_order_and_then_answered(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", BOTH, Says("Both are done."))
    provider.script("m-left", Says("left is done"))
    provider.script("m-right", Says("right is done"))
    async with stage(tmp_path, TEAM) as at:
        run = at.start("lead", "go")

        result = await run.result()

        assert (result.run_id, result.content, result.turns) == (run.id, "Both are done.", 2)
        assert_gapless(at, run)
        begin, *_, last = at.of(run.id)
        assert begin[1]["task"] == "go"
        assert last[1]["status"] == "completed"
        assert sorted(ends(at, run)[:2]) == [("left", "completed"), ("right", "completed")]


async def test_two_roots_at_once_count_for_themselves(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        holds = [Hold(), Hold()]
        provider.script("m-left", Answer(Says("one"), hold=holds[0]))
        provider.script("m-right", Answer(Says("two"), hold=holds[1]))
        one, two = at.start("left"), at.start("right")
        for hold in holds:
            await hold.arrived()
            hold.release()

        results = await asyncio.gather(one.result(), two.result())

        assert [result.content for result in results] == ["one", "two"]
        assert_gapless(at, one)
        assert_gapless(at, two)
        assert len(at.hosts()) == 1


async def test_many_quick_events_keep_their_order(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    text = " ".join(map(str, range(1_000)))
    provider.script("m-left", Says(text))
    async with stage(tmp_path, TEAM) as at:
        run = at.start("left", stream=True)

        result = await run.result()

        deltas = [params["delta"] for method, params in at.of(run.id) if method == "axe/text"]
        assert len(deltas) == 1_000
        assert "".join(deltas) == text == result.content
        assert_gapless(at, run)


async def test_ten_megabytes_of_an_answer_arrive(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("ü" * 5_000_000))
    async with stage(tmp_path, TEAM) as at:
        result = await at.start("left").result()

        assert result.content == "ü" * 5_000_000


async def test_an_agent_that_is_missing_is_a_config_error(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = at.start("nobody")

        with pytest.raises(RunError, match="agent config not found: nobody") as failure:
            await run.result()

        assert (failure.value.kind, failure.value.exit_code) == ("config", ExitCode.CONFIG)
        assert failure.value.run_id == run.id


BUGGY = """
from axe_lsp.hosting.host import host
from axe_lsp.hosting.host import engine_factory
engine_for = engine_factory.EngineFactory.engine_for
async def engine_or_bug(self, start):
    return await engine_for(self, start) if start.request.agent != "right" else 1 / 0
engine_factory.EngineFactory.engine_for = engine_or_bug
host.main()
"""


async def test_a_bug_in_one_run_is_no_matter_of_the_others(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM, BUGGY) as at:
        hold = Hold()
        provider.script("m-left", Answer(Says("well"), hold=hold))
        good = at.start("left")
        await hold.arrived()

        with pytest.raises(RunError, match="internal error: ZeroDivisionError"):
            await at.start("right").result()
        hold.release()

        assert (await good.result()).content == "well"


async def test_a_subscriber_that_fails_does_not_break_the_others(
    tmp_path: Path, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.script("m-left", Says("well"))
    runs = Runs(patience=UNHURRIED)
    heard: list[object] = []

    def fail(_: object) -> None:
        raise ValueError("a bug of a subscriber")

    async with stage(tmp_path, TEAM) as at:
        runs = at.runs
        run = at.start("left")
        runs.subscribe(fail, run.id)
        runs.subscribe(heard.append, run.id)

        assert (await run.result()).content == "well"

        assert heard == [event for event in at.heard if event.params["rootRunId"] == run.id]
        assert "a bug of a subscriber" in caplog.text


async def test_a_subscription_is_for_one_run_and_can_be_ended(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("well"), Says("well"))
    one: list[object] = []
    none: list[object] = []
    async with stage(tmp_path, TEAM) as at:
        run, other = at.start("left"), at.start("left")
        at.runs.subscribe(one.append, run.id)
        unsubscribe = at.runs.subscribe(none.append, run.id)
        unsubscribe()
        await asyncio.gather(run.result(), other.result())

        assert one == [event for event in at.heard if event.params["rootRunId"] == run.id]
        assert none == []


async def test_what_a_person_should_know_reaches_the_subscribers(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says("well"))
    memory = '[memory]\nenabled = true\nmax_entries = 1\npath = "memory.md"\n'
    async with stage(tmp_path, {"left": agent("left") + memory}) as at:
        (Path(at.workplace.workspace) / "memory.md").write_text("## one\n## two\n")
        news: list[object] = []
        run = at.start("left")
        at.runs.subscribe(news.append, run.id)
        await run.result()

        warnings = [each.text for each in news if isinstance(each, Warned)]
        assert len(warnings) == 1
        assert "left" in warnings[0]


async def test_the_open_buffer_runs_and_not_the_file(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-buffer", Says("from the buffer"))
    async with stage(tmp_path, TEAM) as at:
        file = Path(at.workplace.workspace) / "axe" / "agents" / "left.toml"
        buffers = {str(file): 'name = "left"\nmodel = "ollama/m-buffer"\n'}
        workplace = replace(at.workplace, open_buffers=buffers)

        run = at.runs.start(Start(new_run_id(), RunRequest("left"), workplace))

        assert (await run.result()).content == "from the buffer"


async def test_agents_of_the_editors_folders_are_found_in_their_order(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    provider.script("m-first", Says("from the first folder"))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "far.toml").write_text(f'name = "far"\nmodel = "ollama/m-{name}"\n')
    async with stage(tmp_path, TEAM) as at:
        folders = (str(tmp_path / "first"), str(tmp_path / "second"))
        workplace = replace(at.workplace, places=AgentPlaces(extra=folders))

        run = at.runs.start(Start(new_run_id(), RunRequest("far"), workplace))

        assert (await run.result()).content == "from the first folder"


async def test_closing_ends_all_runs_and_the_host(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, TEAM) as at:
        run = await both_at_work(at, provider)

        await at.runs.close()

        with pytest.raises(RunCancelledError):
            await run.result()
        assert [status for _, status in ends(at, run)] == ["killed"] * 3
        ended = [params for _, params in at.of(run.id) if "status" in params]
        assert {each.get("reason") for each in ended} == {"server"}
        await gone(at.hosts()[0])
        with pytest.raises(RunError, match="shutting down"):
            at.start("lead")
