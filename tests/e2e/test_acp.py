"""`axe-lsp acp`, as a client of the Agent Client Protocol meets it."""

from __future__ import annotations

import json
import os
import signal
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.acp_client import AcpClient, chooses
from support.plain_mcp import plain_server
from support.processes import bearing
from support.raw_client import NEVER, ServerError
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.session import Project

Json = Any

KEY = "sk-ant-0123456789-the-key-of-the-user"
WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})


def agent(name: str, **keys: Json) -> str:
    values = {"name": name, "model": f"anthropic/m-{name}", "description": f"The {name}", **keys}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(
        tmp_path, {**provider.environment, "ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": ""}
    )
    project.write("lead", agent("lead", tools=["write_file"], sub_agents=["writer"]))
    project.write("writer", agent("writer", tools=["write_file", "read_file"]))
    project.write("broken", "name = 3\n")
    return project


@pytest.fixture
def client(project: Project) -> Iterator[AcpClient]:
    with AcpClient.start(project) as client:
        yield client


def test_agents_that_nobody_calls_are_offered_first_and_broken_ones_not_at_all(
    client: AcpClient,
) -> None:
    made = client.request("session/new", {"cwd": str(client.project.root), "mcpServers": []})
    option = next(each for each in made["configOptions"] if each["id"] == "agent")
    assert [each["value"] for each in option["options"]] == ["lead", "writer"]
    assert option["currentValue"] == "lead"
    assert option["options"][0]["description"] == "The lead"
    assert [mode["id"] for mode in made["modes"]["availableModes"]] == ["lead", "writer"]
    models = next(each for each in made["configOptions"] if each["id"] == "model")["options"]
    assert models[0] == {
        "value": "file",
        "name": "as in the file",
        "description": "as in the agent file",
    }
    assert {each["value"].partition("/")[0] for each in models[1:]} == {"anthropic"}


def test_a_session_begins_with_the_agent_that_was_named(project: Project) -> None:
    with AcpClient.start(project, ["--agent", "writer"]) as client:
        made = client.request("session/new", {"cwd": str(project.root), "mcpServers": []})
        assert made["modes"]["currentModeId"] == "writer"


def test_a_folder_without_agents_says_how_to_make_one(client: AcpClient, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ServerError, match=r"no agent can be run in .*empty; `axe-lsp init`"):
        client.request("session/new", {"cwd": str(tmp_path / "empty"), "mcpServers": []})


def test_the_model_and_the_effort_are_those_of_the_session(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    provider.script("claude-haiku-4-5", Says("small"))
    session = client.new_session("writer")
    client.choose(session, "model", "anthropic/claude-haiku-4-5")
    client.choose(session, "effort", "high")
    assert client.prompt(session, "Go") == "end_turn"
    (sent,) = provider.asked("claude-haiku-4-5")
    assert sent.body["thinking"]["type"] == "enabled"
    with pytest.raises(ServerError, match="value 'gpt' is not offered for model"):
        client.choose(session, "model", "gpt")


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
    history = client.project.home / ".local" / "state" / "axe" / "history.db"
    assert b"the-secret-of-the-client" not in history.read_bytes()


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


def test_a_server_that_is_none_is_rejected(client: AcpClient) -> None:
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


def test_one_message_of_a_session_at_a_time_and_two_sessions_side_by_side(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("first"), hold=hold))
    provider.script("m-writer", Says("second"))
    session, other = client.new_session("lead"), client.new_session("writer")
    number = client.start_prompt(session, "One")
    with pytest.raises(ServerError, match="still being answered") as refused:
        client.prompt(session, "Two")
    assert refused.value.code == -32600
    assert client.prompt(other, "Two") == "end_turn"
    hold.release()
    assert client.result(number) == {"stopReason": "end_turn"}
    assert (client.said(session), client.said(other)) == ("first", "second")


def test_a_missing_key_is_an_error_that_names_the_variable(project: Project) -> None:
    with AcpClient.start(project, env={"ANTHROPIC_API_KEY": ""}) as client:
        session = client.new_session("lead")
        with pytest.raises(ServerError, match="set ANTHROPIC_API_KEY") as failed:
            client.prompt(session, "Go")
        assert failed.value.code == -32000
        assert failed.value.data["reason"] == "missingKey"


def test_a_provider_that_fails_is_an_error_and_the_session_goes_on(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Refuses(400, "no such thing"), Says("again"))
    session = client.new_session("lead")
    with pytest.raises(ServerError, match="no such thing") as failed:
        client.prompt(session, "Go")
    assert failed.value.code == -32603
    assert client.prompt(session, "Go on") == "end_turn"


def test_an_agent_that_breaks_meanwhile_says_so_with_the_place(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    session = client.new_session("lead")
    client.project.write("lead", 'name = "lead"\nmodel = 3\n')
    with pytest.raises(ServerError, match=r'agent "lead".*lead\.toml:2') as failed:
        client.prompt(session, "Go")
    assert failed.value.code == -32602
    assert provider.requests == []


def test_files_and_selections_of_the_editor_are_in_the_message(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says("read"))
    session = client.new_session("lead")
    inside, outside = client.project.root / "src" / "a b.py", "/elsewhere/b.py"
    blocks = [
        {"type": "text", "text": "Look at"},
        {"type": "resource_link", "name": "a b.py", "uri": inside.as_uri()},
        {"type": "resource", "resource": {"uri": f"file://{outside}", "text": "x = '```'"}},
    ]
    client.request("session/prompt", {"sessionId": session, "prompt": blocks})
    sent = provider.requests[-1].body["messages"][0]["content"]
    text = sent if isinstance(sent, str) else sent[0]["text"]
    assert text == "Look at\n\n[a b.py](src/a b.py)\n\n/elsewhere/b.py\n````\nx = '```'\n````"
    with pytest.raises(ServerError, match="block of type 'audio'"):
        client.request("session/prompt", {"sessionId": session, "prompt": [{"type": "audio"}]})


PNG = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()


def test_pictures_go_with_their_message(client: AcpClient, provider: ScriptedProvider) -> None:
    provider.script("m-lead", Says("I see."), Says("Again."))
    session = client.new_session("lead")
    blocks = [
        {"type": "text", "text": "What is it?"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
    ]
    client.request("session/prompt", {"sessionId": session, "prompt": blocks})
    picture = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert {"type": "image", "source": picture} in provider.requests[0].body["messages"][0][
        "content"
    ]
    client.request("session/prompt", {"sessionId": session, "prompt": [blocks[0]]})
    assert json.dumps(provider.requests[1].body["messages"]).count(PNG) == 1
    for data, told in [("AAAA", "PNG, JPEG, GIF and WebP"), ("?", "not Base64")]:
        wrong = [{"type": "image", "data": data, "mimeType": "image/png"}]
        with pytest.raises(ServerError, match=told) as refused:
            client.request("session/prompt", {"sessionId": session, "prompt": wrong})
        assert refused.value.code == -32602


def test_commands_are_answered_without_a_model(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    session = client.new_session("lead")
    offered = client.wait_for_update(session, "available_commands_update")["availableCommands"]
    assert [each["name"] for each in offered] == ["agents", "graph", "preview", "history"]
    for each in offered:
        assert client.prompt(session, f"/{each['name']}") == "end_turn"
    said = client.said(session)
    assert "- **lead** (chosen): The lead\n- **writer**: The writer" in said
    assert "lead\n  writer" in said
    assert provider.requests == []


def test_a_session_is_told_again_after_its_process_was_killed_and_goes_on(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script(
        "m-lead",
        Says(calls=[calls_agent("writer", "Write")], thinking="Hm."),
        Says("Written."),
        Answer(Says("Half an ans"), hold=hold),
        Says("And on."),
    )
    provider.script("m-writer", Says(calls=[WRITE]), Says("RESULT"))
    with AcpClient.start(project) as client:
        session = client.new_session("lead")
        assert client.prompt(session, "First question\nwith more") == "end_turn"
        before = client.updates(session)
        client.start_prompt(session, "Second question")
        hold.wait_until_arrived()
        client.wait_for_update(session, "session_info_update")
        assert client.process is not None
        os.kill(client.process.pid, signal.SIGKILL)
        client.process.wait()
    hold.release()
    with AcpClient.start(project) as client:
        (listed,) = client.request("session/list", {})["sessions"]
        assert listed["sessionId"] == session
        assert listed["title"] == "First question"
        assert listed["cwd"] == str(project.root)
        assert client.request("session/list", {"cwd": "/elsewhere"}) == {"sessions": []}
        choices = client.load(session)
        assert choices["modes"]["currentModeId"] == "lead"
        assert "First question" in client.said(session, "user_message_chunk")
        assert "Second question" in client.said(session, "user_message_chunk")
        assert client.said(session, "agent_thought_chunk") == "Hm."
        old = {u["toolCallId"] for u in before if u["sessionUpdate"] == "tool_call"}
        assert {call["toolCallId"] for call in client.calls(session)} == old
        assert {call["status"] for call in client.calls(session)} == {"completed"}
        assert client.questions() == []
        assert client.prompt(session, "Go on") == "end_turn"
        assert client.said(session).endswith("And on.")
    sent = json.dumps(provider.asked("m-lead")[-1].body["messages"])
    for text in ("First question", "Written.", "Second question", "Go on"):
        assert text in sent


def test_a_resumed_session_is_not_told_again(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-lead", Says("One."), Says("Two."))
    with AcpClient.start(project) as client:
        session = client.new_session("lead")
        client.prompt(session, "First")
    with AcpClient.start(project) as client:
        client.load(session, "session/resume")
        assert client.said(session, "user_message_chunk") == ""
        assert client.prompt(session, "Second") == "end_turn"
        assert client.said(session) == "Two."
        assert "One." in json.dumps(provider.asked("m-lead")[-1].body["messages"])
        client.request("session/delete", {"sessionId": session})
        assert client.request("session/list", {}) == {"sessions": []}
        with pytest.raises(ServerError) as unknown:
            client.load(session)
        assert unknown.value.code == -32002


def test_a_closed_session_stops_and_can_be_opened_again(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold))
    session = client.new_session("lead")
    number = client.start_prompt(session, "Go")
    hold.wait_until_arrived()
    client.request("session/close", {"sessionId": session})
    assert client.result(number) == {"stopReason": "cancelled"}
    with pytest.raises(ServerError):
        client.prompt(session, "Go")
    client.load(session)
    hold.release()


def test_nothing_is_left_when_the_client_goes_in_the_middle(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold))
    mark = str(project.root)
    with AcpClient.start(project, env={"AXE_TEST_MARK": mark}) as client:
        session = client.new_session("lead")
        client.start_prompt(session, "Go")
        hold.wait_until_arrived()
        client.end_input()
        assert client.exit_code() == 0
        client.wait_until_ended()
        assert KEY not in client.stderr()
    assert bearing(mark) == {}
    hold.release()


def test_two_clients_do_not_answer_in_one_session_at_the_same_time(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Says("One."), Answer(Says("slow"), hold=hold))
    with AcpClient.start(project) as first, AcpClient.start(project) as second:
        session = first.new_session("lead")
        first.prompt(session, "First")
        number = first.start_prompt(session, "Second")
        hold.wait_until_arrived()
        second.load(session)
        with pytest.raises(ServerError, match="still being executed"):
            second.prompt(session, "Third")
        hold.release()
        assert first.result(number) == {"stopReason": "end_turn"}


def test_without_a_history_a_message_is_answered_and_the_next_one_says_what_is_missing(
    project: Project, provider: ScriptedProvider
) -> None:
    """A conversation goes on with what the history has of it."""
    history = project.home / ".local" / "state" / "axe" / "history.db"
    history.mkdir(parents=True)
    provider.script("m-lead", Says("One."))
    with AcpClient.start(project) as client:
        session = client.new_session("lead")
        assert client.prompt(session, "First") == "end_turn"
        assert client.said(session) == "One."
        assert "this session can't be opened again" in client.stderr()
        with pytest.raises(ServerError, match="history of runs"):
            client.prompt(session, "Second")


def test_broken_lines_are_answered_and_the_rest_is_not_lost(client: AcpClient) -> None:
    client.send_raw(b'no JSON\n\n[]\n\xff\n{"jsonrpc":"2.0","method":"x"}\n')
    client.send_raw(
        b'{"jsonrpc":"2.0","id":77,"method":"session/list","params":{"cursor":"9999999999999999999"}}\r\n'
    )
    assert client.answer(77)["error"]["code"] == -32602
    refused = [m["error"]["code"] for m in client.received if "error" in m and m["id"] is None]
    assert refused == [-32700, -32600, -32700]
    with pytest.raises(ServerError, match=r"`Expected `str`|cwd"):
        client.request("session/new", {"cwd": 5})


def test_a_question_of_a_model_is_a_form(project: Project, provider: ScriptedProvider) -> None:
    project.write("asker", agent("asker", tools=["ask_user"]))
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


TYPED = """
[input]
required = ["path", "lines"]
[input.properties.path]
type = "string"
description = "What to read"
[input.properties.lines]
type = "integer"
minimum = 1
[input.properties.more]
type = "array"
"""


def test_a_message_that_is_no_input_is_filled_in(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("typed", agent("typed") + TYPED)
    provider.script("m-typed", Says("one"), Says("two"), Says("three"))
    with AcpClient.start(project, capabilities={"elicitation": {"form": {}}}) as client:
        given = {"path": "a.py", "lines": 3}
        client.answer_with["elicitation/create"] = lambda _: {"action": "accept", "content": given}
        session = client.new_session("typed")
        assert client.prompt(session, "Read a.py") == "end_turn"
        (asked,) = client.notifications("elicitation/create")
        assert asked["requestedSchema"] == {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "What to read"},
                "lines": {"type": "integer", "minimum": 1},
            },
            "required": ["path", "lines"],
        }
        assert "input.path, input.lines are missing" in asked["message"]
        sent = json.dumps(provider.requests[-1].body["messages"][0])
        assert '\\"lines\\":3,\\"path\\":\\"a.py\\"' in sent
        assert client.prompt(session, "Why?") == "end_turn"
        assert client.prompt(client.new_session("typed"), json.dumps(given)) == "end_turn"
        assert len(client.notifications("elicitation/create")) == 1
        given["lines"] = 0
        with pytest.raises(ServerError, match=r"input\.lines") as refused:
            client.prompt(client.new_session("typed"), "Read")
        assert refused.value.code == -32602


def test_without_forms_a_message_that_is_no_input_is_refused(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("typed", agent("typed") + TYPED)
    with AcpClient.start(project) as client:
        session = client.new_session("typed")
        with pytest.raises(
            ServerError, match=r'agent "typed" takes an object.*input\.path'
        ) as refused:
            client.prompt(session, "Read a.py")
        assert refused.value.code == -32602
    assert provider.requests == []


def test_a_form_is_taken_back_when_its_message_is_cancelled(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("typed", agent("typed") + TYPED)
    with AcpClient.start(project, capabilities={"elicitation": {"form": {}}}) as client:
        client.answer_with["elicitation/create"] = lambda _: NEVER
        session = client.new_session("typed")
        number = client.start_prompt(session, "Read")
        client.wait_for("elicitation/create")
        asked = next(m for m in client.received if m.get("method") == "elicitation/create")
        client.notify("session/cancel", {"sessionId": session})
        assert client.wait_for("$/cancel_request") == {"requestId": asked["id"]}
        client.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32800, "message": ""}})
        assert client.result(number) == {"stopReason": "cancelled"}


def test_an_agent_that_reaches_out_asks_for_trust_first(
    project: Project, provider: ScriptedProvider
) -> None:
    (project.root.parent / "outside.md").write_text("OUTSIDE")
    project.write("reacher", agent("reacher", files=["../outside.md"]))
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


SUBAGENTS = {"subagents": {}}


def states(client: AcpClient, session: str) -> list[Json]:
    """The states of the agents that the one of a session has called, with their ids."""
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
