"""`axe-lsp acp`: what the person at the client is asked, and the MCP servers that they bring."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.acp_client import AcpClient, chooses
from support.plain_mcp import plain_server
from support.raw_client import NEVER, ServerError
from support.scripted_provider import (
    Call,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.secrets import files_with
from support.session import Project, agent_file

Json = Any

WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})


def test_what_is_allowed_for_the_session_is_not_asked_again_and_another_file_is(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    other = Call("write_file", {"path": "other.txt", "content": "x"})
    again = Call("write_file", {"path": "notes.txt", "content": "newer\n"})
    provider.script("m-lead", Says(calls=[WRITE]), Says("one"), Says(calls=[again]), Says("two"))
    provider.script("m-lead", Says(calls=[other]), Says("three"))
    session = client.new_session("lead")
    client.answer_with["session/request_permission"] = chooses("allow_always")
    assert client.prompt(session, "Write") == "end_turn"
    assert client.prompt(session, "Again") == "end_turn"
    assert len(client.questions()) == 1
    assert client.questions()[0]["options"][1]["name"] == "Allow this file in this session"
    assert client.prompt(session, "Another") == "end_turn"
    assert len(client.questions()) == 2
    assert [call["statuses"][-1] for call in client.calls(session)] == ["completed"] * 3
    # Also of a call that nobody was asked about, the change is shown.
    assert client.calls(session)[1]["content"][0]["type"] == "diff"


def test_rules_of_command_line_allow_calls_without_question(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says("done"))
    with AcpClient.start(project, ["--allow", "write_file(notes.*)"]) as client:
        assert client.prompt(client.new_session("lead"), "Write") == "end_turn"
        assert client.questions() == []
    assert (project.root / "notes.txt").read_text() == "new\n"


def test_protected_place_is_asked_about_each_time_without_an_answer_for_the_session(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    write = Call("write_file", {"path": ".envrc", "content": "x"})
    provider.script("m-lead", Says(calls=[write]), Says("one"), Says(calls=[write]), Says("two"))
    session = client.new_session("lead")
    client.answer_with["session/request_permission"] = chooses("allow_once")
    assert client.prompt(session, "Write") == "end_turn"
    assert client.prompt(session, "Again") == "end_turn"
    assert len(client.questions()) == 2
    kinds = [option["kind"] for option in client.questions()[0]["options"]]
    assert kinds == ["allow_once", "reject_once"]


def test_servers_of_the_client_join_those_of_the_root_agent(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    server = plain_server(client.project.root)
    secret = {"name": "API_TOKEN", "value": "the-secret-of-the-client"}
    servers = [
        {**server, "env": [secret, {"name": "X", "value": "${NOT_SET}"}]},
        {"name": "gone", "command": "axe-test-no-such-program", "args": [], "env": []},
        {"name": "odd", "type": "acp"},
    ]
    root = str(client.project.root)
    made = client.request("session/new", {"cwd": root, "mcpServers": servers})
    session = made["sessionId"]
    provider.script("m-lead", Says(calls=[Call("tell", {})]), Says("told"))
    client.answer_with["session/request_permission"] = chooses("allow_once")
    assert client.prompt(session, "Go") == "end_turn"
    titles = [each["toolCall"]["title"] for each in client.questions()]
    assert titles == [
        'agent "lead" wants to start the MCP server "plain"',
        'agent "lead" wants to start the MCP server "gone"',
        "tell",
    ]
    assert "API_TOKEN='***' X='${NOT_SET}' " in str(client.questions()[0])
    (call,) = [each for each in client.calls(session) if each["title"] == "tell"]
    assert call["statuses"][-1] == "completed"
    assert "the-secret-of-the-client" not in str(client.received)
    assert files_with('"name":"tell"', client.project.home), (
        "the history of runs is among the files"
    )
    assert files_with("the-secret-of-the-client", client.project.home) == []


def test_a_run_goes_on_without_a_server_of_the_client_that_was_denied(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    servers = [{**plain_server(client.project.root), "env": []}]
    root = str(client.project.root)
    made = client.request("session/new", {"cwd": root, "mcpServers": servers})
    provider.script("m-lead", Says("done"))
    client.answer_with["session/request_permission"] = chooses("reject_once")
    assert client.prompt(made["sessionId"], "Go") == "end_turn"
    assert '"tell"' not in json.dumps(provider.requests[0].body["tools"])


def test_invalid_mcp_server_is_rejected(client: AcpClient) -> None:
    params = {"cwd": str(client.project.root), "mcpServers": [{"command": "x"}]}
    with pytest.raises(ServerError, match="name"):
        client.request("session/new", params)


def test_what_is_denied_for_the_session_is_not_asked_again(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says(calls=[WRITE]), Says("I give up"))
    session = client.new_session("lead")
    client.answer_with["session/request_permission"] = chooses("reject_always")
    assert client.prompt(session, "Write") == "end_turn"
    assert len(client.questions()) == 1
    assert [call["status"] for call in client.calls(session)] == ["failed", "failed"]
    assert not (client.project.root / "notes.txt").exists()


@pytest.mark.parametrize("answer", [{"outcome": {"outcome": "cancelled"}}, None, {"outcome": 3}, 5])
def test_anything_but_a_chosen_option_is_a_denial(
    client: AcpClient, provider: ScriptedProvider, answer: Json
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says("Then not."))
    session = client.new_session("lead")
    client.answer_with["session/request_permission"] = lambda _: answer
    assert client.prompt(session, "Write") == "end_turn"
    assert not (client.project.root / "notes.txt").exists()


def test_a_cancelled_message_takes_its_question_back_and_ends_its_calls_first(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write")]))
    provider.script("m-writer", Says(calls=[WRITE]))
    client.answer_with["session/request_permission"] = lambda _: NEVER
    session = client.new_session("lead")
    number = client.start_prompt(session, "Go")
    client.wait_for("session/request_permission")
    asked = next(m for m in client.received if m.get("method") == "session/request_permission")
    client.notify("session/cancel", {"sessionId": session})
    assert client.wait_for("$/cancel_request") == {"requestId": asked["id"]}
    cancelled = {"code": -32800, "message": "cancelled"}
    client.send({"jsonrpc": "2.0", "id": asked["id"], "error": cancelled})
    assert client.result(number) == {"stopReason": "cancelled"}
    assert [call["status"] for call in client.calls(session)] == ["failed", "failed"]
    last = client.received[-1]
    assert last["id"] == number, "something came after the answer"


def test_a_question_of_a_model_is_a_form(project: Project, provider: ScriptedProvider) -> None:
    project.write("asker", agent_file("asker", tools=["ask_user"]))
    question = Call("ask_user", {"question": "Which one?", "choices": ["a", "b"]})
    provider.script("m-asker", Says(calls=[question]), Says("Thanks."))
    provider.script("m-asker", Says(calls=[question]), Says("Alone."))
    forms = {"elicitation": {"form": {}}}
    with AcpClient.start(project, capabilities=forms) as client:
        client.answer_with["elicitation/create"] = lambda _: {
            "action": "accept",
            "content": {"answer": "b"},
        }
        session = client.new_session("asker")
        assert client.prompt(session, "Ask") == "end_turn"
        (asked,) = client.notifications("elicitation/create")
        assert asked["mode"] == "form"
        assert "Which one?" in asked["message"]
        assert "b" in json.dumps(provider.requests[-1].body["messages"][-1])
    with AcpClient.start(project) as client:
        session = client.new_session("asker")
        assert client.prompt(session, "Ask") == "end_turn"
        assert client.notifications("elicitation/create") == []
        assert "nobody can be asked" in json.dumps(provider.requests[-1].body["messages"][-1])


def test_an_agent_that_reaches_out_asks_for_trust_first(
    project: Project, provider: ScriptedProvider
) -> None:
    (project.root.parent / "outside.md").write_text("OUTSIDE")
    project.write("reacher", agent_file("reacher", files=["../outside.md"]))
    provider.script("m-reacher", Says("Read."))
    with AcpClient.start(project) as client:
        session = client.new_session("reacher")
        client.answer_with["session/request_permission"] = chooses("reject_once")
        with pytest.raises(ServerError, match="outside"):
            client.prompt(session, "Go")
        assert provider.requests == []
        client.answer_with["session/request_permission"] = chooses("allow_once")
        assert client.prompt(session, "Go") == "end_turn"
        assert [call["status"] for call in client.calls(session)] == ["failed", "completed"]


def test_a_message_whose_question_about_trust_is_cancelled_ends_as_cancelled(
    project: Project, provider: ScriptedProvider
) -> None:
    """Some clients answer their open questions before they send `session/cancel`."""
    (project.root.parent / "outside.md").write_text("OUTSIDE")
    project.write("reacher", agent_file("reacher", files=["../outside.md"]))
    with AcpClient.start(project) as client:
        session = client.new_session("reacher")
        cancelled = {"outcome": {"outcome": "cancelled"}}
        client.answer_with["session/request_permission"] = lambda _: cancelled
        assert client.prompt(session, "Go") == "cancelled"
        client.answer_with["session/request_permission"] = chooses("reject_once")
        with pytest.raises(ServerError, match="outside"):
            client.prompt(session, "Go")
    assert provider.requests == []
