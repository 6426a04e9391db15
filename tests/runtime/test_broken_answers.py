"""The text of a streamed answer that does not come to its end is what a failed run leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.errors import ProviderError, RunCancelledError, RunTimeoutError
from axe_lsp.runtime.events import TextDelta
from axe_lsp.runtime.messages import Message, Request, Response
from support.answers import DIALECTS, Dialect, content_type, stream_chunks
from support.engines import agent, bench, running
from support.passing_time import passing_time
from support.scripted_provider import Answer, Hold, Raw, Says, ScriptedProvider, calls_agent

TEXT = "one two three four five six"


def broken(dialect: Dialect, *, is_cut: bool) -> Raw:
    """Return an answer that ends in the middle, of its own accord or with its connection."""
    chunks = stream_chunks(dialect, Says(TEXT), "m-solo")
    half = b"".join(chunks[: len(chunks) * 2 // 3])
    headers = {"content-type": content_type(dialect, stream=True)}
    if is_cut:
        return Raw(b"".join(chunks), headers=headers, cut=len(half))
    return Raw(half, headers=headers)


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_that_breaks_off_leaves_its_text(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, is_cut: bool
) -> None:
    provider.script("m-solo", broken(dialect, is_cut=is_cut))
    agents = agent("solo", dialect)
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        with pytest.raises(ProviderError, match="server: ") as caught:
            await work.run("solo")
    assert caught.value.partial is not None
    said = caught.value.partial.content
    assert said.startswith("one two")
    assert TEXT.startswith(said)


async def test_a_stream_that_breaks_off_at_what_may_begin_a_key_leaves_that_too(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    text = "Half an answer with a ke"
    assert provider.environment["OPENAI_API_KEY"].startswith("ke")
    event = json.dumps({"choices": [{"delta": {"content": text}}]})
    headers = {"content-type": content_type("openai", stream=True)}
    provider.script("m-solo", Raw(f"data: {event}\n\n".encode(), headers=headers))
    async with bench(provider, tmp_path, agent("solo"), streams=lambda _: True) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert caught.value.partial is not None
    assert caught.value.partial.content == text
    assert "".join(each.delta for each in work.of(TextDelta)) == text


async def test_the_text_of_an_answer_takes_the_place_of_what_was_said_before(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-boss", Says("Let me ask.", [calls_agent("solo", "go")]))
    provider.script("m-solo", broken("openai", is_cut=True))
    provider.script("m-boss", broken("openai", is_cut=False))
    agents = {**agent("boss", sub_agents=["solo"]), **agent("solo")}
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("boss")
    (result,) = (
        m["content"] for m in provider.requests[-1].body["messages"] if m["role"] == "tool"
    )
    assert "\n\none two" in result, "what the child had said"
    assert caught.value.partial is not None
    assert caught.value.partial.content.startswith("one two")


async def test_a_run_that_is_stopped_leaves_what_was_being_said(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold(chunk=4)
    provider.script("m-solo", Answer(Says(TEXT), hold=hold))
    async with (
        bench(provider, tmp_path, agent("solo"), streams=lambda _: True) as work,
        running(work.run("solo")) as run,
    ):
        await hold.arrived()
        text = await work.heard(TextDelta)
        work.engine.cancel(text.run.run_id)
        with pytest.raises(RunCancelledError) as caught:
            await run
    assert caught.value.partial is not None
    assert caught.value.partial.content.startswith("one")


async def test_a_run_whose_time_is_over_leaves_what_was_being_said(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold(chunk=4)
    provider.script("m-solo", Answer(Says(TEXT), hold=hold))
    agents = agent("solo", timeout=50)
    with passing_time() as time:
        async with (
            bench(provider, tmp_path, agents, streams=lambda _: True) as work,
            running(work.run("solo")) as run,
        ):
            await hold.arrived()
            await work.heard(TextDelta)
            await time.goes_by(51)
            with pytest.raises(RunTimeoutError) as caught:
                await run
    assert caught.value.partial is not None
    assert caught.value.partial.content.startswith("one")


def test_a_broken_answer_without_a_text_leaves_what_was_said_before() -> None:
    talk = Conversation(Request("m", (Message("user", "go"),)))
    talk.receive(Response("before", incomplete="paused", original=["b"]))
    talk.break_off("")
    assert talk.last.content == "before"
    talk.break_off(" after")
    assert (talk.last.content, talk.last.incomplete) == ("before after", None)
