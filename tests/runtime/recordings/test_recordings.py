"""Recordings: written from real runs, read from files that people write, replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli

from axe_lsp.runtime.errors import ConfigError, ProviderError, RunTimeoutError
from axe_lsp.runtime.events import TextDelta, ToolEnd
from axe_lsp.runtime.limits.clock import LONG_PATIENCE
from axe_lsp.runtime.messages import Response, ToolCall
from axe_lsp.runtime.providers.provider import Provider
from axe_lsp.runtime.recordings.file import dump_recording, load_recording, save_recording
from axe_lsp.runtime.recordings.recorder import Recorder
from axe_lsp.runtime.recordings.recording import (
    RecordedError,
    RecordedRun,
    RecordedTurn,
    Recording,
    Sent,
)
from axe_lsp.runtime.recordings.replay import Replay
from axe_lsp.runtime.services import always
from support.engines import agent, bench, running
from support.passing_time import passing_time
from support.scripted_provider import (
    Answer,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

TEAM = agent("lead", sub_agents=["scout"], system_prompt="You lead.") | agent("scout")

FULL = Recording(
    (
        RecordedRun(
            "lead",
            "openai/m",
            0,
            'system\nwith """ and \\',
            ("call_agent",),
            (
                RecordedTurn(
                    Response(
                        "text\nof two lines",
                        (ToolCall("1", "call_agent", {"agent": "scout", "n": [1, None]}),),
                        "served",
                        "tool_calls",
                        3,
                        4,
                        cache_read_tokens=2,
                        cache_write_tokens=1,
                    ),
                    (Sent("user", "do\nit"),),
                    12,
                ),
                RecordedTurn(RecordedError("rate_limit", "slow"), (Sent("tool", "", "1", True),)),
            ),
        ),
        RecordedRun("scout", "openai/m", 1, "", (), ()),
    )
)


def replaying(recording: Recording, environment: dict[str, str] | None = None) -> Any:
    """Return a hook that answers from a recording."""
    return lambda _provider: Replay(recording, environment or {"XDG_CONFIG_HOME": "/nowhere"})


async def record(
    provider: ScriptedProvider, tmp_path: Path, agents: dict[str, str], name: str = "lead"
) -> Recording:
    """Return the recording of a run."""
    recorders: list[Recorder] = []

    def hook(real: Provider) -> Provider:
        recorders.append(Recorder(real))
        return recorders[-1]

    async with bench(provider, tmp_path, agents, provider_hook=hook) as work:
        await work.run(name, "the task")
    return recorders[0].recording({"key-openai"})


# -- files


def test_a_recording_survives_its_file(tmp_path: Path) -> None:
    save_recording(tmp_path / "r.toml", FULL)
    assert load_recording(tmp_path / "r.toml") == FULL
    assert [path.name for path in tmp_path.iterdir()] == ["r.toml"], "no temporary file is left"


def test_that_a_recording_is_paced_survives_as_well(tmp_path: Path) -> None:
    save_recording(tmp_path / "r.toml", Recording((), paced=True))
    assert load_recording(tmp_path / "r.toml") == Recording((), paced=True)


def test_a_recording_is_readable() -> None:
    text = dump_recording(FULL)
    assert text.startswith("# A recording of axe-lsp")
    assert 'text = """\ntext\nof two lines"""' in text


def test_carriage_returns_survive(tmp_path: Path) -> None:
    run = RecordedRun("a", system="one\r\ntwo", turns=(RecordedTurn(Response("x\ry\n")),))
    save_recording(tmp_path / "r.toml", Recording((run,)))
    loaded = load_recording(tmp_path / "r.toml").runs[0]
    assert loaded.system == "one\r\ntwo"
    assert loaded.turns[0].answer == Response("x\ry\n", stop_reason="")


def test_the_least_that_can_be_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('version = 1\n[[run]]\nagent = "a"\n[[run.turn]]\ntext = "hi"\n')
    (run,) = load_recording(path).runs
    assert (run.agent, run.system, run.tools) == ("a", None, None)
    assert run.turns == (RecordedTurn(Response("hi", stop_reason="end_turn")),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file: version is missing"),
        ("version = 2", "version 2 is unknown; this axe-lsp reads version 1"),
        ("version = 1\nruns = []", 'the file: unknown key "runs"'),
        ("version = 1\n[[run]]", "run 1: agent is missing"),
        ("version = 1\nrun = 3", "the file: run is not an array"),
        ("version = 1\nrun = [3]", "run 1 is not a table"),
        ('version = 1\n[[run]]\nagent = "a"\ndepth = true', "run 1: depth is not an integer"),
        (
            'version = 1\n[[run]]\nagent = "a"\n[[run.turn]]\ntxt = "x"',
            'run 1, turn 1: unknown key "txt"',
        ),
        (
            'version = 1\n[[run]]\nagent = "a"\n[[run.turn]]\ntool_calls = [{id="1", name="t", '
            'arguments="{"}]',
            "run 1, turn 1, tool call 1: arguments is not JSON",
        ),
        (
            'version = 1\n[[run]]\nagent = "a"\n[[run.turn]]\nerror = {category = "odd"}',
            "run 1, turn 1, error: category is not one of rate_limit, overloaded",
        ),
        (
            'version = 1\n[[run]]\nagent = "a"\n[[run.turn]]\ntool_calls = [{id="1", name="t", '
            f"arguments='{'[' * 100_000}'}}]",
            "run 1, turn 1, tool call 1: arguments is nested too deeply",
        ),
        (
            f'version = 1\n[[run]]\nagent = "a"\n[[run.turn]]\ninput_tokens = {"9" * 4_000}',
            "run 1, turn 1: input_tokens is larger than 1,000,000,000,000",
        ),
        (f"version = {'[' * 100_000}", "nested more than the allowed"),
        ("version = ", "Invalid value"),
        (b"version = 1 # \xff", "utf-8"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    path = tmp_path / "r.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        load_recording(path)
    assert str(caught.value).startswith(f"failed to parse recording {path}: ")
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"recording not found: .*gone\.toml"):
        load_recording(tmp_path / "gone.toml")
    with pytest.raises(ConfigError, match="failed to read recording"):
        load_recording(tmp_path)


# -- recording


async def test_a_run_is_recorded_with_all_that_passed(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    call = calls_agent("scout", "look", call_id="c1")
    provider.script("m-lead", Says("Scout!", [call]), Says("Done", usage=(7, 8)))
    provider.script("m-scout", Says("seen"))
    recording = await record(provider, tmp_path, TEAM)
    lead, scout = recording.runs
    assert (lead.agent, lead.model, lead.depth) == ("lead", "openai/m-lead", 0)
    assert (lead.system, lead.tools) == ("You lead.", ("call_agent",))
    assert (scout.agent, scout.depth, scout.tools) == ("scout", 1, ())
    assert [turn.sent for turn in lead.turns] == [
        (Sent("user", "the task"),),
        (Sent("tool", "seen", "c1"),),
    ]
    answer = Response("Done", (), "m-lead", "stop", 7, 8, origin="openai-chat openai/m-lead")
    assert lead.turns[1].answer == answer
    assert scout.turns[0].sent == (Sent("user", "Task: look"),)


async def test_secrets_are_not_recorded(provider: ScriptedProvider, tmp_path: Path) -> None:
    like_a_key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
    call = calls_agent("scout", f"use key-openai and {like_a_key}")
    provider.script("m-lead", Says("I know key-openai", [call]), Says(like_a_key))
    provider.script("m-scout", Refuses(401, f"bad key {like_a_key}"))
    agents = TEAM | agent("lead", sub_agents=["scout"], system_prompt="key-openai")
    text = dump_recording(await record(provider, tmp_path, agents))
    assert "[redacted]" in text
    assert "key-openai" not in text
    assert like_a_key not in text


async def test_failures_are_recorded(provider: ScriptedProvider, tmp_path: Path) -> None:
    hold = Hold()
    calls = [calls_agent("scout", "slow"), calls_agent("scout", "bad")]
    provider.script("m-lead", Says(calls=calls), Says("coped"))
    provider.script("m-scout", Answer(Says("late"), match="slow", hold=hold), Refuses(500, "boom"))
    agents = TEAM | agent("lead", sub_agents=["scout"], sub_agents_config={"timeout": 3})
    recording = await record(provider, tmp_path, agents)
    failures = {run.turns[0].answer for run in recording.runs if run.agent == "scout"}
    assert failures == {
        RecordedError("timeout", "timeout after 3s"),
        RecordedError("server", "boom"),
    }
    await _replays_as_recorded(provider, tmp_path, agents, recording)


async def test_that_nothing_was_heard_of_a_run_is_recorded(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("scout", "slow")]), Says("coped"))
    provider.script("m-scout", Answer(Says("late"), hold=hold))
    with passing_time() as time:
        async with running(record(provider, tmp_path, TEAM)) as recorded:
            await hold.arrived()
            await time.goes_by(LONG_PATIENCE + 2)
            recording = await recorded
    (failure,) = [run.turns[0].answer for run in recording.runs if run.agent == "scout"]
    assert isinstance(failure, RecordedError)
    assert (failure.category, failure.message[:21]) == ("timeout", "no progress for 600s:")
    await _replays_as_recorded(provider, tmp_path, TEAM, recording)


async def test_what_was_cancelled_is_not_recorded(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    recorders: list[Recorder] = []

    def hook(real: Provider) -> Provider:
        recorders.append(Recorder(real))
        return recorders[-1]

    provider.script("m-lead", Says(calls=[calls_agent("scout", "x")]))
    provider.script("m-scout", Answer(Says("late"), hold=hold))
    async with (
        bench(provider, tmp_path, TEAM, provider_hook=hook) as work,
        running(work.run("lead")) as run,
    ):
        await hold.arrived()
        run.cancel()
        await hold.hung_up()
    lead, scout = recorders[0].recording(()).runs
    assert (len(lead.turns), len(scout.turns)) == (1, 0)


# -- replaying


async def _replays_as_recorded(
    provider: ScriptedProvider, tmp_path: Path, agents: dict[str, str], recording: Recording
) -> None:
    """Through a file, without a key, and with the same result."""
    save_recording(tmp_path / "r.toml", recording)
    asked = len(provider.requests)
    hook = replaying(load_recording(tmp_path / "r.toml"))
    keyless = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    async with bench(provider, tmp_path, agents, keyless, provider_hook=hook) as work:
        result = await work.run("lead", "the task")
    last = recording.runs[0].turns[-1].answer
    assert isinstance(last, Response)
    assert (result.content, result.model) == (last.content, last.model)
    assert len(provider.requests) == asked, "nobody was asked"


async def test_parallel_children_of_the_same_agent_are_told_apart(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    holds = [Hold(), Hold(), Hold()]
    calls = [calls_agent("scout", f"look {n}", call_id=f"c{n}") for n in range(3)]
    provider.script("m-lead", Says(calls=calls), Says("Done"))
    for n, hold in enumerate(holds):
        provider.script("m-scout", Answer(Says(f"saw {n}"), match=f"look {n}", hold=hold))
    for hold in holds:
        hold.release()
    recording = await record(provider, tmp_path, TEAM)
    lead, *scouts = recording.runs
    shuffled = Recording((lead, *reversed(scouts)))
    hook = replaying(shuffled)
    async with bench(provider, tmp_path, TEAM, provider_hook=hook) as work:
        await work.run("lead", "the task")
    assert [end.content for end in sorted(work.of(ToolEnd), key=lambda end: end.call_id)] == [
        "saw 0",
        "saw 1",
        "saw 2",
    ]


async def test_a_recording_may_be_replayed_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-scout", Says("seen"))
    recording = await record(provider, tmp_path, TEAM, "scout")
    async with bench(provider, tmp_path, TEAM, provider_hook=replaying(recording)) as work:
        for _ in range(2):
            assert (await work.run("scout", "the task")).content == "seen"


@pytest.mark.parametrize(
    ("agents", "task", "message"),
    [
        (
            TEAM,
            "the other task",
            'run 1 (agent "lead"), turn 1, sent 1, content differs at character 5: '
            'recorded "the task", sent "the other task"',
        ),
        (
            TEAM | agent("lead", sub_agents=["scout"], system_prompt="You lead!"),
            "the task",
            'run 1 (agent "lead"), turn 1, system differs at character 9: '
            'recorded "You lead.", sent "You lead!"',
        ),
        (
            TEAM | agent("lead", system_prompt="You lead."),
            "the task",
            'run 1 (agent "lead"), turn 1, tools differs at character 1: '
            'recorded "call_agent", sent ""',
        ),
    ],
)
async def test_a_request_that_is_not_the_recorded_one_is_described(
    provider: ScriptedProvider, tmp_path: Path, agents: dict[str, str], task: str, message: str
) -> None:
    provider.script("m-lead", Says("Scout!", [calls_agent("scout", "look")]), Says("Done"))
    provider.script("m-scout", Says("seen"))
    hook = replaying(await record(provider, tmp_path, TEAM))
    async with bench(provider, tmp_path, agents, provider_hook=hook) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("lead", task)
    expected = f"bad_request: the request is not the recorded one: {message}"
    assert str(caught.value).startswith(expected)


async def test_a_later_request_that_differs_is_described_as_well(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", Says("Scout!", [calls_agent("scout", "look")]), Says("Done"))
    provider.script("m-scout", Says("x" * 100 + "seen" + "y" * 100))
    lead, scout = (await record(provider, tmp_path, TEAM)).runs
    (turn,) = scout.turns
    assert isinstance(turn.answer, Response)
    other = RecordedTurn(Response("x" * 100 + "missed" + "y" * 100))
    changed = Recording((lead, RecordedRun("scout", turns=(other,))))
    async with bench(provider, tmp_path, TEAM, provider_hook=replaying(changed)) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("lead", "the task")
    assert 'run 1 (agent "lead"), turn 2, sent 1, content differs at character 101: ' in str(
        caught.value
    )
    assert f'recorded "…{"x" * 30}seen{"y" * 26}…", sent "…{"x" * 30}missed{"y" * 24}…"' in str(
        caught.value
    )


async def test_a_run_that_fails_because_of_another_names_the_first_difference(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", Says("Scout!", [calls_agent("scout", "look")]), Says("Done"))
    provider.script("m-scout", Says("seen"))
    hook = replaying(await record(provider, tmp_path, TEAM))
    changed = TEAM | agent("scout", system_prompt="You look.")
    async with bench(provider, tmp_path, changed, provider_hook=hook) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("lead", "the task")
    assert 'run 2 (agent "scout"), turn 1, system differs at character 1: ' in str(caught.value)
    assert str(caught.value) in work.of(ToolEnd)[0].content


async def test_a_failure_that_is_not_recorded_is_not_hidden_by_a_request_that_is_not_compared(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    call = ToolCall("1", "call_agent", {"agent": "scout", "task": "x"})
    recording = Recording(
        (
            RecordedRun(
                "lead",
                turns=(
                    RecordedTurn(Response(tool_calls=(call,))),
                    RecordedTurn(Response("All is well.")),
                ),
            ),
            RecordedRun("scout", system="other", turns=(RecordedTurn(Response("seen")),)),
        )
    )
    async with bench(provider, tmp_path, TEAM, provider_hook=replaying(recording)) as work:
        with pytest.raises(ProviderError, match=r'run 2 \(agent "scout"\), turn 1, system differs'):
            await work.run("lead")


async def test_the_nearest_of_several_candidates_is_compared(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    def candidate(task: str) -> RecordedRun:
        return RecordedRun("scout", turns=(RecordedTurn(Response("r"), (Sent("user", task),)),))

    recording = Recording((candidate("abX"), candidate("abcdX"), candidate("X")))
    async with bench(provider, tmp_path, TEAM, provider_hook=replaying(recording)) as work:
        with pytest.raises(ProviderError, match=r"run 2 .* at character 5"):
            await work.run("scout", "abcde")


async def test_runs_and_turns_beyond_the_recording_are_errors(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    call = ToolCall("1", "call_agent", {"agent": "scout", "task": "x"})
    lead = RecordedRun("lead", turns=(RecordedTurn(Response(tool_calls=(call,))),))
    hook = replaying(Recording((lead,)))
    async with bench(provider, tmp_path, TEAM, provider_hook=hook) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("lead")
    assert str(caught.value) == (
        "bad_request: the recording has no answer to this request: "
        'run 1 (agent "lead") has only 1 turns'
    )
    child = work.of(ToolEnd)[0].content
    assert 'no answer to this request: there is no further run of agent "scout"' in child


async def test_keys_are_redacted_before_requests_are_compared(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = agent("solo", system_prompt="The key is key-openai.")
    provider.script("m-solo", Says("ok"))
    recording = await record(provider, tmp_path, agents, "solo")
    environment = {"XDG_CONFIG_HOME": str(tmp_path), **provider.environment}
    hook = replaying(recording, environment)
    async with bench(provider, tmp_path, agents, provider_hook=hook) as work:
        assert (await work.run("solo", "the task")).content == "ok"


@pytest.mark.parametrize("category", ["rate_limit", "timeout"])
async def test_recorded_errors_happen_again(
    provider: ScriptedProvider, tmp_path: Path, category: Any
) -> None:
    failing = RecordedTurn(RecordedError(category, "timeout after 9s"))
    hook = replaying(Recording((RecordedRun("scout", turns=(failing,)),)))
    expected = RunTimeoutError if category == "timeout" else ProviderError
    async with bench(provider, tmp_path, TEAM, provider_hook=hook) as work:
        with pytest.raises(expected, match="timeout after 9s"):
            await work.run("scout")


async def test_replayed_text_comes_word_by_word(provider: ScriptedProvider, tmp_path: Path) -> None:
    text = "Two words,\n  three!"
    run = RecordedRun("scout", turns=(RecordedTurn(Response(text), duration_ms=100_000),))
    hook = replaying(Recording((run,)))
    async with bench(provider, tmp_path, TEAM, provider_hook=hook, streams=always) as work:
        result = await work.run("scout")
    assert [event.delta for event in work.of(TextDelta)] == ["Two ", "words,\n  ", "three!"]
    assert result.content == text
    assert result.duration_ms < 50_000, "it takes no time unless asked to"


async def scouted(
    provider: ScriptedProvider, workspace: Path, seconds: float, paced: bool, pace: float | None
) -> float:
    """Return how many seconds a replay of a turn of so many seconds takes."""
    turn = RecordedTurn(Response("a b c"), duration_ms=round(seconds * 1000))
    recording = Recording((RecordedRun("scout", turns=(turn,)),), paced)

    def hook(_: Provider) -> Provider:
        return Replay(recording, {"XDG_CONFIG_HOME": "/nowhere"}, pace)

    async with bench(provider, workspace, TEAM, provider_hook=hook, streams=always) as work:
        return (await work.run("scout")).duration_ms / 1000


@pytest.mark.parametrize(("paced", "pace"), [(True, None), (False, 1.0), (True, 1.0)])
async def test_a_replay_that_is_to_be_watched_takes_its_time(
    provider: ScriptedProvider, tmp_path: Path, paced: bool, pace: float | None
) -> None:
    assert await scouted(provider, tmp_path, 0.3, paced, pace) >= 0.3


@pytest.mark.parametrize(("paced", "pace"), [(False, None), (True, 0.0)])
async def test_any_other_replay_takes_none(
    provider: ScriptedProvider, tmp_path: Path, paced: bool, pace: float | None
) -> None:
    assert await scouted(provider, tmp_path, 60, paced, pace) < 30


# -- replay/NAME


HELLO = 'version = 1\n[[run]]\nagent = "{agent}"\n[[run.turn]]\ntext = "{text}"\n'


@pytest.mark.parametrize("place", ["work/axe/replays", "axe/replays", "config/axe/replays"])
async def test_a_recording_can_be_an_agents_model(
    provider: ScriptedProvider, tmp_path: Path, place: str
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / "work").mkdir(exist_ok=True)
    (tmp_path / place / "hello.toml").write_text(HELLO.format(agent="bot", text="Hello!"))
    agents = agent("bot", model="replay/hello", workdir="work")
    async with bench(provider, tmp_path, agents, {"OPENAI_API_KEY": ""}) as work:
        assert (await work.run("bot")).content == "Hello!"
    assert provider.requests == []


async def test_a_recording_is_played_after_a_server_has_told_the_size_of_a_context_window(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    folder = tmp_path / "axe" / "replays"
    folder.mkdir(parents=True)
    (folder / "hello.toml").write_text(HELLO.format(agent="bot", text="Hello!"))
    provider.script("m-solo", Refuses(400, "This model's maximum context length is 8192 tokens."))
    agents = agent("bot", model="replay/hello") | agent("solo")
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ProviderError, match="context_overflow"):
            await work.run("solo")
        assert (await work.run("bot")).content == "Hello!"


async def test_a_tree_may_share_a_recording_and_mix_it_with_real_models(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    folder = tmp_path / "axe" / "replays"
    folder.mkdir(parents=True)
    arguments = '{"agent": "scout", "task": "x"}'
    (folder / "team.toml").write_text(
        "version = 1\n"
        '[[run]]\nagent = "lead"\n[[run.turn]]\n'
        f"tool_calls = [{{id = '1', name = 'call_agent', arguments = '{arguments}'}},"
        f" {{id = '2', name = 'call_agent', arguments = '{arguments.replace('scout', 'real')}'}}]\n"
        '[[run.turn]]\nsent = [{role = "tool", call_id = "1", content = "seen"}, '
        '{role = "tool", call_id = "2", content = "really"}]\ntext = "Done"\n'
        '[[run]]\nagent = "scout"\n[[run.turn]]\ntext = "seen"\n'
    )
    provider.script("m-real", Says("really"))
    agents = (
        agent("lead", model="replay/team", sub_agents=["scout", "real"])
        | agent("scout", model="replay/team")
        | agent("real")
    )
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("lead")).content == "Done"
        # Each root run begins the recording anew.
        provider.script("m-real", Says("really"))
        assert (await work.run("lead")).content == "Done"


async def test_a_recording_that_is_not_there_says_where_it_was_looked_for(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = agent("bot", model="replay/none") | agent("far", model="replay/../secret")
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ConfigError) as caught:
            await work.run("bot")
        assert str(caught.value) == (
            f'recording "none" not found (looked for none.toml in {tmp_path}/axe/replays, '
            f"{tmp_path}/config/axe/replays)"
        )
        with pytest.raises(ConfigError, match="must not contain path separators"):
            await work.run("far")


def test_the_documented_examples_are_valid(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "replay-format.md"
    examples = [part.split("```")[0] for part in page.read_text().split("```toml\n")[1:]]
    assert len(examples) >= 2
    for example in examples:
        assert tomli.loads(example)
        (tmp_path / "example.toml").write_text(example)
        assert load_recording(tmp_path / "example.toml").runs
