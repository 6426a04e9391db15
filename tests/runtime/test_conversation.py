"""What the next step of a conversation is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from axe_lsp.runtime.conversation import MAX_TURNS, Conversation, told_apart
from axe_lsp.runtime.errors import AgentError
from axe_lsp.runtime.messages import Message, Request, Response, Tool, ToolCall, ToolResult

ASK = Message("user", "ask")
CALL = ToolCall("1", "call_agent", {"agent": "a", "task": "t"})
RESULT = ToolResult("1", "r")


def with_tools() -> Conversation:
    return Conversation(Request("m", (ASK,), tools=(Tool("call_agent", "d"),)))


@pytest.mark.req("001-8.1", "001-5.6a", "001-5.1c")
def test_an_answer_without_calls_ends_the_conversation() -> None:
    conversation = with_tools()
    assert conversation.receive(Response("done")) == ()
    assert conversation.request.messages == (ASK,)
    assert conversation.last.content == "done"
    assert conversation.turns == 1


@pytest.mark.req("001-8.1", "001-5.1d", "001-1.9", "004-15")
def test_calls_and_their_results_become_two_messages() -> None:
    conversation = with_tools()
    answer = Response("thinking", tool_calls=(CALL,), stop_reason="max_tokens")
    assert conversation.receive(answer) == (CALL,)
    conversation.deliver([RESULT])
    assert conversation.request.messages == (
        ASK,
        Message("assistant", "thinking", tool_calls=(CALL,)),
        Message("tool", tool_results=(replace(RESULT, name=CALL.name),)),
    )


@pytest.mark.req("001-8.4", "001-5.1a", "001-5.1b", "001-N2")
def test_calls_of_a_model_without_tools_are_not_executed() -> None:
    conversation = Conversation(Request("m", (ASK,)))
    assert conversation.receive(Response("text", tool_calls=(CALL,))) == ()
    assert conversation.last.content == "text"
    assert conversation.tool_calls == 0


@pytest.mark.req("001-8.6")
def test_turns_and_calls_add_up_over_the_turns() -> None:
    conversation = with_tools()
    for _ in range(2):
        conversation.receive(Response(tool_calls=(CALL, CALL)))
        conversation.deliver([RESULT, RESULT])
    conversation.receive(Response("end"))
    assert (conversation.turns, conversation.tool_calls) == (3, 4)


@pytest.mark.req("001-8.7")
def test_pending_are_the_results_that_the_next_request_delivers() -> None:
    conversation = with_tools()
    assert conversation.pending == 0
    conversation.receive(Response(tool_calls=(CALL, CALL)))
    conversation.deliver([RESULT, RESULT])
    assert conversation.pending == 2
    conversation.receive(Response(tool_calls=(CALL,)))
    conversation.deliver([RESULT])
    assert conversation.pending == 1


@pytest.mark.req("001-8.3", "001-5.6c", "001-N6")
def test_the_results_of_turn_50_are_not_sent_any_more() -> None:
    conversation = with_tools()
    for _ in range(MAX_TURNS - 1):
        conversation.receive(Response(tool_calls=(CALL,)))
        conversation.deliver([RESULT])
    conversation.receive(Response(tool_calls=(CALL,)))
    with pytest.raises(AgentError, match=r"^agent exceeded maximum conversation turns \(50\)$"):
        conversation.deliver([RESULT])


@pytest.mark.req("001-8.3")
def test_an_answer_in_turn_50_is_an_answer() -> None:
    conversation = with_tools()
    for _ in range(MAX_TURNS - 1):
        conversation.receive(Response(tool_calls=(CALL,)))
        conversation.deliver([RESULT])
    assert conversation.receive(Response("just in time")) == ()
    assert conversation.turns == MAX_TURNS


@pytest.mark.req("003-21")
def test_each_request_begins_with_the_one_before() -> None:
    conversation = with_tools()
    before = conversation.request
    conversation.receive(Response(tool_calls=(CALL,)))
    conversation.deliver([RESULT])
    after = conversation.request
    assert after.messages[: len(before.messages)] == before.messages
    assert (after.system, after.tools) == (before.system, before.tools)


def test_calls_of_one_answer_that_have_the_same_id_are_told_apart() -> None:
    calls = tuple(ToolCall(each, "t") for each in ("a", "", "a", "", "a-2", "b"))
    answer = told_apart(Response("x", tool_calls=calls, original=["as it was"]))
    assert [call.event_id for call in answer.tool_calls] == ["a", "", "a-2", "-2", "a-2-2", "b"]
    assert [call.id for call in answer.tool_calls] == [call.id for call in calls]


def test_calls_with_ids_of_their_own_keep_them() -> None:
    answer = Response(tool_calls=(ToolCall("a", "t"), ToolCall("b", "t")), original=["as it was"])
    assert told_apart(answer) == answer
