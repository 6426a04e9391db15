"""Messages to a run that works: when they are given, on each wire, and what `now` breaks off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.children.isolation import Stoppable
from axe_lsp.runtime.events import MessagesGiven, TextDelta, ToolBegin, TurnEnd
from axe_lsp.runtime.inbox import MAX_QUEUED, MessageEdit, MessageRefusedError, NewMessage
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import RunRequest
from support import wire_rules
from support.answers import DIALECTS
from support.bodies import messages_of, text_of
from support.engines import Bench, agent, bench, running
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

ROOT = "0" * 32


async def run(work: Bench, name: str = "lead") -> RunResult:
    """Run an agent under a known id."""
    return await work.engine.run(RunRequest(name, "go"), ROOT)


def root(work: Bench) -> Stoppable:
    found = work.engine.find(ROOT)
    assert found is not None
    return found


def texts(provider: ScriptedProvider, request: int, model: str = "m-lead") -> list[str]:
    return [text_of(each) for each in messages_of(provider.asked(model)[request].body)]


READS = Says(calls=[Call("read_file", {"path": "note.txt"})], thinking="I read.")


def lead(dialect: str = "openai", **keys: Any) -> Mapping[str, str]:
    return agent("lead", dialect, tools=["read_file"], **keys)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_message_and_answer_follow_results_on_each_wire(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.rules = wire_rules.refusal
    hold = Hold()
    provider.script("m-lead", Answer(READS, hold=hold), Says("end"))
    async with bench(provider, tmp_path, lead(dialect)) as work, running(run(work)) as task:
        await hold.arrived()
        for text in ("Be brief.", "In German."):
            await root(work).accept_message(NewMessage(text))
        hold.release()
        assert (await task).content == "end"
    assert "".join(texts(provider, 1)).endswith("Be brief.In German.")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_message_after_the_last_answer_wakes_the_run_on_each_wire(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.rules = wire_rules.refusal
    hold = Hold()
    provider.script("m-lead", Answer(Says("first"), hold=hold), Says("second"))
    async with bench(provider, tmp_path, lead(dialect)) as work, running(run(work)) as task:
        await hold.arrived()
        await root(work).accept_message(NewMessage("And more?"))
        hold.release()
        assert (await task).content == "second"
    assert texts(provider, 1)[-2:] == ["first", "And more?"]


async def test_server_without_user_after_tool_is_asked_again_with_an_answer_between(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.rules = wire_rules.refusal
    hold = Hold()
    call = Says(calls=[Call("read_file", {"path": "note.txt"}, id="abcdefghi")])
    model = f"m-{wire_rules.MISTRAL}"
    provider.script(model, Answer(call, hold=hold), Says("end"))
    agents = {"lead": lead()["lead"].replace("m-lead", model)}
    async with bench(provider, tmp_path, agents) as work, running(run(work)) as task:
        await hold.arrived()
        await root(work).accept_message(NewMessage("Be brief."))
        hold.release()
        assert (await task).content == "end"
    sent = [each["role"] for each in provider.asked(model)[-1].body["messages"]]
    assert sent[-3:] == ["tool", "assistant", "user"]


async def test_message_of_mode_after_is_given_when_the_run_would_end(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(READS, hold=hold), Says("first"), Says("second"))
    async with bench(provider, tmp_path, lead()) as work, running(run(work)) as task:
        await hold.arrived()
        await root(work).accept_message(NewMessage("Then the tests.", "after"))
        hold.release()
        assert (await task).content == "second"
    assert "Then the tests." not in texts(provider, 1)
    assert texts(provider, 2)[-1] == "Then the tests."


async def test_message_of_mode_now_breaks_off_the_answer_and_counts_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", Answer(Says("too slow"), hold=(hold := Hold())), Says("end"))
    async with bench(provider, tmp_path, lead()) as work, running(run(work)) as task:
        await hold.arrived()
        await root(work).accept_message(NewMessage("Say end.", "now"))
        await hold.hung_up()
        result = await task
        ends = [event.incomplete for event in work.of(TurnEnd)]
    assert (result.content, result.turns, ends) == ("end", 2, ["interrupted", None])
    assert texts(provider, 1) == ["go", "Say end."]


async def test_text_of_an_answer_that_was_broken_off_stays(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold(chunk=3)
    slow = Answer(Says("one two three four five"), hold=hold)
    provider.script("m-lead", slow, Says("end"))
    streams = {"streams": lambda _: True}
    async with bench(provider, tmp_path, lead(), **streams) as work, running(run(work)) as task:
        await hold.arrived()
        await work.heard(TextDelta)
        await root(work).accept_message(NewMessage("Stop.", "now"))
        result = await task
    assert result.content == "end"
    task_text, said, message = texts(provider, 1)
    assert (task_text, message) == ("go", "Stop.")
    assert said
    assert "one two three four five".startswith(said.rstrip())


async def test_message_of_mode_now_ends_a_command(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    waits = Says(calls=[Call("run_command", {"command": "sleep 300"})])
    provider.script("m-lead", waits, Says("end"))
    agents = agent("lead", tools=["run_command"])

    async def allow(_: object) -> str:
        return ""

    async with (
        bench(provider, tmp_path, agents, approve=allow) as work,
        running(run(work)) as task,
    ):
        await work.heard(ToolBegin)
        await root(work).accept_message(NewMessage("Stop.", "now"))
        await task
    result, message = texts(provider, 1)[-2:]
    assert message == "Stop."
    assert result.startswith("Error: this call was broken off by a message.")


async def test_message_of_mode_now_stops_a_called_agent_with_its_last_text(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("child", "work")]), Says("end"))
    half = Says("half done", calls=[Call("nothing", {})])
    provider.script("m-child", half, Answer(Says("late"), hold=hold))
    agents = {**agent("lead", sub_agents=["child"]), **agent("child", tools=["read_file"])}
    async with bench(provider, tmp_path, agents) as work, running(run(work)) as task:
        await hold.arrived()
        await root(work).accept_message(NewMessage("Stop.", "now"))
        await task
    assert texts(provider, 1)[-2:] == ["half done", "Stop."]


async def test_message_that_waits_is_changed_and_removed(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(READS, hold=hold), Says("end"))
    async with bench(provider, tmp_path, lead()) as work, running(run(work)) as task:
        await hold.arrived()
        first, second = [
            await root(work).accept_message(NewMessage(text)) for text in ("French", "Removed")
        ]
        assert await root(work).change_message(MessageEdit(first, "German"))
        assert await root(work).change_message(MessageEdit(second, removes=True))
        assert [each.text for each in await root(work).queued_messages()] == ["German"]
        hold.release()
        await work.heard(MessagesGiven)
        assert not await root(work).change_message(MessageEdit(first, "Late"))
        await task
    assert texts(provider, 1)[-1] == "German"
    assert "Removed" not in texts(provider, 1)


async def test_message_of_a_known_id_is_the_same_message(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(READS, hold=hold), Says("end"))
    async with bench(provider, tmp_path, lead()) as work, running(run(work)) as task:
        await hold.arrived()
        for _ in range(2):
            message = NewMessage("Once.", message_id="mine")
            assert await root(work).accept_message(message) == "mine"
        hold.release()
        await task
    assert texts(provider, 1).count("Once.") == 1


async def test_too_many_and_too_long_messages_are_refused(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("end"), hold=hold))
    async with bench(provider, tmp_path, lead()) as work, running(run(work)):
        await hold.arrived()
        with pytest.raises(MessageRefusedError, match="100,000 characters"):
            await root(work).accept_message(NewMessage("x" * 100_001))
        for _ in range(MAX_QUEUED):
            await root(work).accept_message(NewMessage("x"))
        with pytest.raises(MessageRefusedError) as refused:
            await root(work).accept_message(NewMessage("x"))
        assert refused.value.reason == "full"


async def test_run_that_is_recorded_is_not_interrupted(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("end"), hold=hold))
    options = {"is_recording": True}
    async with bench(provider, tmp_path, lead(), **options) as work, running(run(work)):
        await hold.arrived()
        with pytest.raises(MessageRefusedError) as refused:
            await root(work).accept_message(NewMessage("x", "now"))
        assert refused.value.reason == "recording"


async def test_run_that_has_failed_takes_no_message(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Refuses(400, "no"), hold=hold))
    async with bench(provider, tmp_path, lead()) as work, running(run(work)) as task:
        await hold.arrived()
        former = root(work)
        hold.release()
        with pytest.raises(Exception, match="no"):
            await task
        with pytest.raises(MessageRefusedError) as refused:
            await former.accept_message(NewMessage("x"))
    assert refused.value.reason == "ended"
