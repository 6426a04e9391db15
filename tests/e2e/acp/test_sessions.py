"""`axe-lsp acp`: sessions, their choices, and their ends."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from support.acp_client import AcpClient
from support.processes import bearing
from support.raw_client import ServerError
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.session import Project

Json = Any

WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})


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
    assert models[0] == {"value": "file", "name": "as in the agent file"}
    assert {each["value"].partition("/")[0] for each in models[1:]} == {"anthropic", "google"}


def test_a_session_begins_with_the_agent_that_was_named(project: Project) -> None:
    with AcpClient.start(project, ["--agent", "writer"]) as client:
        made = client.request("session/new", {"cwd": str(project.root), "mcpServers": []})
        assert made["modes"]["currentModeId"] == "writer"


@pytest.mark.parametrize("asked", [1, 99, "0.1"])
def test_the_version_is_that_of_the_protocol_whatever_is_asked_for(
    client: AcpClient, asked: Json
) -> None:
    answer = client.request("initialize", {"protocolVersion": asked, "clientCapabilities": {}})
    assert answer["protocolVersion"] == 1


def test_a_client_with_a_terminal_for_keys_is_told_how_to_ask_for_one(project: Project) -> None:
    with AcpClient.start(project) as client:
        hello = {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}}
        (method,) = client.request("initialize", hello)["authMethods"]
        assert (method["type"], method["args"]) == ("terminal", ["config", "key"])
        assert client.request("initialize", {"protocolVersion": 1})["authMethods"] == []
        with pytest.raises(ServerError, match="axe-lsp config key"):
            client.request("authenticate", {"methodId": method["id"]})


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
    (project.root / "notes.txt").write_text("old\n")
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
        change = {"path": str(project.root / "notes.txt"), "oldText": "old\n", "newText": "new\n"}
        assert client.calls(session)[-1]["content"] == [{"type": "diff", **change}]
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
    project: Project, provider: ScriptedProvider, key: str
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
        assert key not in client.stderr()
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


@pytest.fixture
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder outside of the project."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "notes.txt").write_text("needle\n")
    return folder


def begin(client: AcpClient, method: str = "session/new", **more: Json) -> Json:
    params = {"cwd": str(client.project.root), "mcpServers": [], **more}
    return client.request(method, params)


def test_the_tools_of_all_agents_may_work_in_additional_directories(
    client: AcpClient, project: Project, provider: ScriptedProvider, library: Path
) -> None:
    notes = str(library / "notes.txt")
    write = Call("write_file", {"path": str(library / "new.txt"), "content": "new"})
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write")]), Says("done"))
    provider.script("m-writer", Says(calls=[Call("read_file", {"path": notes}), write]), Says("ok"))
    made = begin(client, additionalDirectories=[str(library)])
    session = made["sessionId"]
    assert client.prompt(session, "Go") == "end_turn"
    assert (library / "new.txt").read_text() == "new"
    (question,) = client.questions()
    assert question["toolCall"]["title"] == f"writer: write_file {library}/new.txt"
    (diff,) = question["toolCall"]["content"]
    assert diff["path"] == str(library / "new.txt")
    told = json.dumps(provider.asked("m-writer")[-1].body)
    assert "1: needle" in told
    assert "## Further Directories" in told
    (listed,) = client.request("session/list", {})["sessions"]
    assert listed["additionalDirectories"] == [str(library)]


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_additional_directories_are_those_of_the_last_request(
    client: AcpClient, provider: ScriptedProvider, library: Path, method: str
) -> None:
    read = Says(calls=[Call("read_file", {"path": str(library / "notes.txt")})])
    provider.script("m-writer", read, Says("one"), read, Says("two"), read, Says("three"))
    session = begin(client, additionalDirectories=[str(library)])["sessionId"]
    client.choose(session, "agent", "writer")
    told = []
    for more in (None, {}, {"additionalDirectories": [str(library)]}):
        if more is not None:
            begin(client, method, sessionId=session, **more)
        client.prompt(session, "Go")
        told.append(json.dumps(provider.requests[-1].body["messages"][-1]))
    assert "1: needle" in told[0]
    assert "absolute paths are not allowed" in told[1]
    assert "1: needle" in told[2]


@pytest.mark.parametrize("path", ["library", "/nowhere/at/all", "/x\0y", "/x" * 4000])
def test_an_additional_directory_is_a_folder_with_an_absolute_path(
    client: AcpClient, path: str
) -> None:
    with pytest.raises(ServerError) as error:
        begin(client, additionalDirectories=[path])
    assert error.value.code == -32602
    assert "additionalDirectories" in error.value.message
