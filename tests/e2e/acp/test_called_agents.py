"""`axe-lsp acp`: agents that are called, with the unstable part of the protocol and without it."""

from __future__ import annotations

from typing import Any

import pytest

from support.acp_client import AcpClient
from support.raw_client import ServerError
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.session import Project, agent_file

Json = Any

WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})


def test_the_work_of_a_called_agent_is_in_the_call_that_has_started_it(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write it\nnow")]), Says("Done."))
    provider.script("m-writer", Says("I write.", [WRITE]), Says("RESULT"))
    session = client.new_session("lead")
    assert client.prompt(session, "Have it written") == "end_turn"
    delegation, write = client.calls(session)
    assert delegation["title"] == "writer: Write it now"
    assert write["title"] == "writer: write_file notes.txt"
    assert write["_meta"]["axe"] == {
        "agent": "writer",
        "depth": 1,
        "parentToolCallId": delegation["toolCallId"],
    }
    shown = [
        update["content"][0]["content"]["text"]
        for update in client.updates(session, "tool_call_update")
        if update["toolCallId"] == delegation["toolCallId"] and "content" in update
    ]
    assert any("… writer: write_file notes.txt" in text and "I write." in text for text in shown)
    assert shown[-1] == "RESULT"
    assert client.said(session) == "Done."


def test_agents_that_are_called_together_are_a_plan(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    both = [calls_agent("writer", "one", call_id="1"), calls_agent("writer", "two", call_id="2")]
    provider.script("m-lead", Says(calls=both), Says("Done."))
    provider.script("m-writer", Says("a"), Says("b"))
    session = client.new_session("lead")
    assert client.prompt(session, "Both") == "end_turn"
    plans = [update["entries"] for update in client.updates(session, "plan")]
    assert [entry["content"] for entry in plans[0]] == ["writer: one", "writer: two"]
    assert [entry["status"] for entry in plans[0]] == ["pending", "pending"]
    assert [entry["status"] for entry in plans[-1]] == ["completed", "completed"]


SUBAGENTS = {"subagents": {}}


def states(client: AcpClient, session: str) -> list[Json]:
    """Return the states of the agents that the one of a session has called, with their ids."""
    return [
        (update["sessionId"], update["state"]["state"], update["state"].get("stopReason"))
        for update in client.updates(session, "subagent_update")
    ]


def test_a_client_that_knows_sub_agents_gets_a_session_for_each(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write it")]), Says("Done."))
    provider.script("m-writer", Says("I write.", [WRITE]), Says("RESULT"))
    with AcpClient.start(project, capabilities=SUBAGENTS) as client:
        session = client.new_session("lead")
        assert client.prompt(session, "Have it written") == "end_turn"
        child = client.updates(session, "subagent_update")[0]["sessionId"]
        assert states(client, session) == [
            (child, "running", None),
            (child, "requires_action", None),
            (child, "running", None),
            (child, "idle", "end_turn"),
        ]
        announced = client.updates(session, "subagent_update")[0]
        assert (announced["title"], announced["description"]) == ("writer", "Write it")
        assert announced["cwd"] == str(project.root)
        assert client.said(child) == "I write.RESULT"
        assert client.said(session) == "Done."
        (write,) = client.calls(child)
        assert write["title"] == "write_file notes.txt"
        assert [question["sessionId"] for question in client.questions()] == [child]
        (sent,) = client.updates(session, "session_message")
        (got,) = client.updates(child, "session_message")
        assert sent["recipientMessageId"] == got["messageId"]
        assert got["senderMessageId"] == sent["messageId"]
        assert got["content"] == [{"type": "text", "text": "Write it"}]
        with pytest.raises(ServerError, match="can be cancelled only") as refused:
            client.prompt(child, "You")
        assert refused.value.code == -32602
    with AcpClient.start(project, capabilities=SUBAGENTS) as client:
        client.load(session)
        assert states(client, session)[0] == (child, "running", None)
        assert states(client, session)[-1] == (child, "idle", "end_turn")
        assert client.said(child) == "I write.RESULT"


def test_a_called_agent_without_budget_is_idle_for_that_reason(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("writer", agent_file("writer") + "[budget]\nmax_tokens = 1\n")
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write it")]), Says("Done."))
    provider.script("m-writer", Says("RESULT"))
    with AcpClient.start(project, capabilities=SUBAGENTS) as client:
        session = client.new_session("lead")
        assert client.prompt(session, "Have it written") == "end_turn"
        assert states(client, session)[-1][1:] == ("idle", "max_tokens")


def test_a_called_agent_is_cancelled_alone(project: Project, provider: ScriptedProvider) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write it")]), Says("Without it."))
    provider.script("m-writer", Answer(Says("never"), hold=hold))
    with AcpClient.start(project, capabilities=SUBAGENTS) as client:
        session = client.new_session("lead")
        number = client.start_prompt(session, "Have it written")
        hold.wait_until_arrived()
        child = client.wait_for_update(session, "subagent_update")["sessionId"]
        client.notify("session/cancel", {"sessionId": child})
        assert client.result(number) == {"stopReason": "end_turn"}
        assert states(client, session)[-1] == (child, "idle", "cancelled")
        assert client.said(session) == "Without it."


def test_a_called_agent_that_fails_says_why(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write it")]), Says("Without it."))
    provider.script("m-writer", Refuses(400, "no such thing"))
    with AcpClient.start(project, capabilities=SUBAGENTS) as client:
        session = client.new_session("lead")
        assert client.prompt(session, "Have it written") == "end_turn"
        state = client.updates(session, "subagent_update")[-1]["state"]
        assert state["stopReason"] == "error"
        assert "no such thing" in state["error"]["message"]
