"""Recordings of runs with side runs and messages, and their replays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from axe_lsp.runtime.events import AgentEnd, AgentIdle, MessagesGiven
from axe_lsp.runtime.inbox import NewMessage
from axe_lsp.runtime.recordings.file import dump_recording, load_recording
from axe_lsp.runtime.recordings.recorder import Recorder
from axe_lsp.runtime.recordings.recording import Recording
from axe_lsp.runtime.recordings.replay import Replay
from axe_lsp.runtime.runs import RunRequest
from support.engines import agent, bench, running
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider

ROOT = "0" * 32

AGENTS = {
    **agent("lead", sub_agents=["lint", "scan"], sub_agents_config={"background": "always"}),
    **agent("lint"),
    **agent("scan"),
}


def starts(*agents: str) -> Says:
    return Says(calls=[Call("call_agent", {"agent": each, "task": "work"}) for each in agents])


async def recorded(provider: ScriptedProvider, folder: Path) -> Recording:
    """Return a run whose first side run ends last, and that gets a message while it waits."""
    first, second, last = Hold(), Hold(), Hold()
    provider.script("m-lead", starts("lint", "scan"), Answer(Says("waiting"), hold=last))
    provider.script("m-lead", Says("still waiting"), Says("end"))
    provider.script("m-lint", Answer(Says("lint ok"), hold=first))
    provider.script("m-scan", Answer(Says("scan ok"), hold=second))
    recorders: list[Recorder] = []

    def hook(inner: Any) -> Recorder:
        recorders.append(Recorder(inner))
        return recorders[-1]

    async with bench(provider, folder, AGENTS, provider_hook=hook, is_recording=True) as work:
        going = work.engine.run(RunRequest("lead", "go"), ROOT)
        async with running(going) as run:
            await last.arrived()
            root = work.engine.find(ROOT)
            assert root is not None
            second.release()
            await work.heard(AgentEnd, lambda event: event.run.agent == "scan")
            await root.accept_message(NewMessage("Hurry."))
            last.release()
            await work.heard(MessagesGiven)
            await work.heard(AgentIdle)
            first.release()
            assert (await run).content == "end"
    return recorders[0].recording(frozenset())


async def test_replay_gives_what_the_recording_has_given(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    recording = await recorded(provider, tmp_path)
    path = tmp_path / "recording.toml"
    path.write_text(dump_recording(recording))
    (lead,) = [run for run in load_recording(path).runs if run.agent == "lead"]
    given = [(turn.given.side_runs, turn.given.messages) for turn in lead.turns if turn.given]
    assert given == [((), ()), ((), ()), (("scan-2",), ("Hurry.",)), (("lint-1",), ())]
    provider.requests.clear()

    def hook(_: Any) -> Replay:
        return Replay(load_recording(path), {})

    async with bench(provider, tmp_path, AGENTS, provider_hook=hook) as work:
        result = await work.run("lead", "go")
    assert (result.content, provider.requests) == ("end", [])


async def test_answers_come_at_the_end_if_the_recording_does_not_say_when(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    recording = await recorded(provider, tmp_path)
    runs = tuple(
        replace(run, turns=tuple(replace(turn, given=None) for turn in run.turns))
        for run in recording.runs
    )

    def hook(_: Any) -> Replay:
        return Replay(replace(recording, runs=runs), {}, fields=())

    async with bench(provider, tmp_path, AGENTS, provider_hook=hook) as work:
        await work.run("lead", "go")
        texts = [event.text for event in work.of(MessagesGiven)]
    assert texts == [
        '[Side run "lint-1" has ended]\nlint ok\n\n[Side run "scan-2" has ended]\nscan ok'
    ]
