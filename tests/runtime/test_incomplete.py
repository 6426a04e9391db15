"""Answers that are not whole: what is executed, what the caller hears, and how the run ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.runtime.conversation import MAX_PAUSES, Conversation
from axe_lsp.runtime.errors import AgentError, NoTextError, UnfitAnswerError
from axe_lsp.runtime.incomplete import Incomplete
from axe_lsp.runtime.messages import Message, Request, Response, Tool, ToolCall, ToolResult
from support.engines import agent, bench
from support.scripted_provider import Call, Raw, Says, ScriptedProvider

ASK = Message("user", "ask")
FIRST, SECOND = ToolCall("1", "t", {"a": 1}), ToolCall("2", "t", {})


def conversation() -> Conversation:
    return Conversation(Request("m", (ASK,), tools=(Tool("t", "d"),)))


@pytest.mark.parametrize("incomplete", ["length", "context_window"])
def test_the_last_call_of_an_answer_that_was_cut_off_is_not_executed(
    incomplete: Incomplete,
) -> None:
    calls = conversation().receive(Response(tool_calls=(FIRST, SECOND), incomplete=incomplete))
    assert [call.is_broken for call in calls] == [False, True]


def test_calls_that_can_not_be_read_are_executed_unless_the_answer_was_cut_off() -> None:
    broken = ToolCall("1", "t", {}, is_broken=True)
    whole = conversation().receive(Response(tool_calls=(broken, SECOND)))
    cut = conversation().receive(Response(tool_calls=(broken, SECOND, FIRST), incomplete="length"))
    assert [call.is_broken for call in whole] == [False, False]
    assert [call.is_broken for call in cut] == [True, False, True]


def test_two_answers_in_a_row_that_are_cut_off_within_a_call_end_the_run() -> None:
    talk, cut = conversation(), Response(tool_calls=(FIRST,), incomplete="length")
    for answer in (cut, Response(tool_calls=(FIRST,)), cut):
        talk.receive(answer)
        talk.deliver([ToolResult("1", "r")])
    talk.receive(cut)
    with pytest.raises(AgentError, match=r"cut off at the output limit.*params\.max_tokens"):
        talk.deliver([ToolResult("1", "r")])


def test_an_answer_that_is_paused_goes_back_and_is_continued() -> None:
    talk = conversation()
    assert talk.receive(Response("half ", incomplete="paused", original=["as it was"])) == ()
    assert talk.goes_on
    assert talk.request.messages[-1] == Message("assistant", "half ", original=["as it was"])
    assert talk.receive(Response("whole")) == ()
    assert not talk.goes_on
    assert (talk.last.content, talk.last.incomplete) == ("half whole", None)


def test_an_answer_that_is_paused_with_a_token_is_continued_by_it_and_becomes_one() -> None:
    talk = conversation()
    asked = talk.request.messages
    first = Response("half ", (FIRST,), incomplete="paused", continuation="t1", original=["a", "b"])
    assert talk.receive(first) == ()
    assert talk.goes_on
    assert (talk.request.messages, talk.request.continuation) == (asked, "t1")
    talk.receive(Response("more ", incomplete="paused", continuation="t2", original=["c"]))
    assert (talk.request.messages, talk.request.continuation) == (asked, "t2")
    first_call, second_call = talk.receive(Response("whole", (FIRST,), original=["d"]))
    assert first_call.event_id != second_call.event_id
    assert not talk.goes_on
    assert talk.request.continuation == ""
    assert talk.last.content == "half more whole"
    message = talk.request.messages[-1]
    assert (message.content, message.original) == ("half more whole", ["a", "b", "c", "d"])
    assert len(message.tool_calls) == 2


def test_an_answer_is_not_continued_for_ever() -> None:
    talk = conversation()
    for _ in range(MAX_PAUSES):
        talk.receive(Response("x", incomplete="paused"))
        assert talk.goes_on
    talk.receive(Response("x", incomplete="paused"))
    assert not talk.goes_on
    assert (talk.last.content, talk.last.incomplete) == ("x" * (MAX_PAUSES + 1), "paused")


async def test_a_call_that_was_cut_off_is_answered_with_the_reason(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    target = tmp_path / "made.txt"
    call = Call("write_file", {"path": str(target), "content": "half"}, "c1")
    provider.script("m-solo", Says("", [call], stop_reason="max_tokens"), Says("done"))
    agents = agent("solo", "anthropic", tools=["write_file"])
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("solo")
    assert result.content == "done"
    assert not target.exists()
    (told,) = provider.requests[1].body["messages"][-1]["content"]
    assert told["is_error"]
    assert "cut off at the output limit and was not executed" in told["content"]


@pytest.mark.parametrize(
    ("stop_reason", "incomplete", "warning"),
    [
        ("max_tokens", "length", "the answer was cut off at the output limit"),
        ("model_context_window_exceeded", "context_window", "the context window is full"),
        ("refusal", "refusal", "the model refused"),
    ],
)
async def test_an_answer_that_is_not_whole_is_a_result_with_a_warning(
    provider: ScriptedProvider,
    tmp_path: Path,
    stop_reason: str,
    incomplete: Incomplete,
    warning: str,
) -> None:
    provider.script("m-solo", Says("half", stop_reason=stop_reason))
    async with bench(provider, tmp_path, agent("solo", "anthropic")) as work:
        result = await work.run("solo")
    assert (result.content, result.status) == ("half", "completed")
    assert result.incomplete == incomplete
    assert result.refused is (incomplete == "refusal")
    (said,) = work.warnings
    assert said.startswith('agent "solo": ')
    assert warning in said


async def test_an_answer_that_is_not_whole_and_has_no_text_fails_the_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says("", stop_reason="refusal"))
    async with bench(provider, tmp_path, agent("solo", "anthropic")) as work:
        with pytest.raises(NoTextError, match=r"^the model refused$") as caught:
            await work.run("solo")
    assert caught.value.exit_code == 1
    assert caught.value.partial is not None
    assert caught.value.partial.incomplete == "refusal"


@pytest.mark.parametrize(
    ("stop_reason", "told", "is_error"),
    [
        (
            "max_tokens",
            'half\n\n[The answer of "child" is incomplete: the answer was cut off',
            False,
        ),
        ("refusal", 'Error: sub-agent "child" failed - the model refused: half', True),
    ],
)
async def test_a_parent_is_told_that_the_answer_of_a_child_is_not_whole(
    provider: ScriptedProvider, tmp_path: Path, stop_reason: str, told: str, is_error: bool
) -> None:
    call = Call("call_agent", {"agent": "child", "task": "t"}, "c1")
    provider.script("m-parent", Says("", [call]), Says("done"))
    provider.script("m-child", Says("half", stop_reason=stop_reason))
    agents = {
        **agent("parent", "anthropic", sub_agents=["child"]),
        **agent("child", "anthropic"),
    }
    async with bench(provider, tmp_path, agents) as work:
        await work.run("parent")
    (result,) = provider.requests[-1].body["messages"][-1]["content"]
    assert result["content"].startswith(told)
    assert result["is_error"] is is_error


async def test_a_typed_answer_that_was_cut_off_is_not_asked_for_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", Says('{"n": ', stop_reason="max_tokens"))
    output = {"type": "object", "properties": {"n": {"type": "integer"}}}
    async with bench(provider, tmp_path, agent("solo", "anthropic", output=output)) as work:
        with pytest.raises(UnfitAnswerError, match="cut off at the output limit"):
            await work.run("solo")
    assert len(provider.requests) == 1


@pytest.mark.parametrize("dialect", ["anthropic", "openai", "ollama"])
async def test_null_is_no_answer(provider: ScriptedProvider, tmp_path: Path, dialect: str) -> None:
    provider.script("m-solo", Raw(b"null"))
    async with bench(provider, tmp_path, agent("solo", dialect)) as work:
        with pytest.raises(Exception, match="failed to parse response"):
            await work.run("solo")


GARBLED = Says(stop_reason="MALFORMED_FUNCTION_CALL", usage=(10, 5))


@pytest.mark.parametrize("streams", [False, True])
async def test_an_answer_with_a_garbled_call_is_asked_for_once_more(
    provider: ScriptedProvider, tmp_path: Path, streams: bool
) -> None:
    provider.script("m-solo", GARBLED, Says("fine", usage=(20, 7)))
    solo = agent("solo", "google")
    async with bench(provider, tmp_path, solo, streams=lambda _: streams) as work:
        result = await work.run("solo")
    assert (result.content, result.incomplete) == ("fine", None)
    assert (result.input_tokens, result.output_tokens) == (30, 12)
    assert provider.requests[0].body == provider.requests[1].body


async def test_a_call_that_is_garbled_twice_is_told(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-solo", *[Says("I call", stop_reason=GARBLED.stop_reason)] * 3)
    async with bench(provider, tmp_path, agent("solo", "google")) as work:
        assert (await work.run("solo")).incomplete == "malformed_call"
    assert len(provider.requests) == 2
    async with bench(provider, tmp_path, agent("solo", "google"), streams=lambda _: True) as work:
        assert (await work.run("solo")).incomplete == "malformed_call"
    assert len(provider.requests) == 3, "text that was shown can't be taken back"
