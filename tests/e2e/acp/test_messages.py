"""`axe-lsp acp`: messages, their answers and errors."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64encode
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.acp_client import AcpClient
from support.bodies import messages_of, text_of
from support.raw_client import NEVER, ServerError
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
)
from support.session import Project, agent_file
from support.waiting import wait_until

Json = Any


def test_prompt_during_an_answer_is_a_message_and_both_end_with_the_run(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("first"), hold=hold), Says("second"))
    session = client.new_session("lead")
    first = client.start_prompt(session, "One")
    hold.wait_until_arrived()
    second = client.start_prompt(session, "Two")
    third = client.start_prompt(session, "Three")
    client.request("session/list", {})  # Requests are taken in their order.
    wait_until_queued(client, 2)
    hold.release()
    ends = [client.result(number) for number in (first, second, third)]
    assert ends == [{"stopReason": "end_turn"}] * 3
    assert client.said(session) == "firstsecond"
    assert len(provider.asked("m-lead")) == 2
    *_, said, message = messages_of(provider.asked("m-lead")[1].body)
    assert [text_of(said), text_of(message)] == ["first", "TwoThree"]


def test_cancel_ends_the_answer_and_the_messages_to_it(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold))
    session = client.new_session("lead")
    first = client.start_prompt(session, "One")
    hold.wait_until_arrived()
    second = client.start_prompt(session, "Two")
    wait_until_queued(client, 1)
    client.notify("session/cancel", {"sessionId": session})
    assert [client.result(number) for number in (first, second)] == [
        {"stopReason": "cancelled"}
    ] * 2


def wait_until_queued(client: AcpClient, number: int) -> None:
    """Wait until so many messages wait, as the history shows it to all."""
    path = Path(client.project.environment["XDG_STATE_HOME"], "axe", "history.db")
    query = "SELECT count(*) FROM steps WHERE kind = 'message'"

    def are_queued() -> bool:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute(query).fetchone()[0] >= number)

    wait_until(are_queued)


def test_two_sessions_are_answered_side_by_side(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("first"), hold=hold))
    provider.script("m-writer", Says("second"))
    session, other = client.new_session("lead"), client.new_session("writer")
    number = client.start_prompt(session, "One")
    assert client.prompt(other, "Two") == "end_turn"
    hold.release()
    assert client.result(number) == {"stopReason": "end_turn"}
    assert (client.said(session), client.said(other)) == ("first", "second")


def test_a_message_whose_request_is_cancelled_ends_as_cancelled(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold))
    session = client.new_session("lead")
    number = client.start_prompt(session, "Go")
    hold.wait_until_arrived()
    client.notify("$/cancel_request", {"requestId": number})
    assert client.result(number) == {"stopReason": "cancelled"}


def test_a_message_that_is_cancelled_before_its_turn_ends_as_cancelled(
    client: AcpClient, provider: ScriptedProvider
) -> None:
    session, other = client.new_session("lead"), client.new_session("writer")
    provider.script("m-writer", Says("second"))
    message = {"sessionId": session, "prompt": [{"type": "text", "text": "Go"}]}
    place = {"cwd": str(client.project.root), "mcpServers": []}
    client.send(
        {"jsonrpc": "2.0", "id": 101, "method": "session/new", "params": place},
        {"jsonrpc": "2.0", "id": 102, "method": "session/prompt", "params": message},
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}},
    )
    assert client.result(102) == {"stopReason": "cancelled"}
    assert client.prompt(other, "Go") == "end_turn"
    assert [each.body["model"] for each in provider.requests] == ["m-writer"]


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


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ("max_tokens = 1", "max_tokens"),
        ("max_turns = 1", "max_turn_requests"),
        ("max_tool_calls = 1", "max_turn_requests"),
    ],
)
def test_a_budget_that_is_used_up_ends_an_answer(
    project: Project, provider: ScriptedProvider, budget: str, reason: str
) -> None:
    project.write("lead", agent_file("lead", tools=["list_directory"]) + f"[budget]\n{budget}\n")
    looks = [Call("list_directory", {"path": "."}, each) for each in "12"]
    provider.script("m-lead", Says(calls=looks), Says("Done."))
    with AcpClient.start(project) as client:
        assert client.prompt(client.new_session("lead"), "Go") == reason


def test_a_conversation_that_is_summed_up_says_so(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write(
        "lead", agent_file("lead", tools=["read_file"]) + "[context]\ncompaction = true\n"
    )
    for name in "abc":
        (project.root / name).write_text(f"{name * 70}\n" * 100)
    reads = [Says(calls=[Call("read_file", {"path": name})]) for name in "abc"]
    too_long = Refuses(400, "prompt is too long: 9000 tokens > 8192 maximum")
    provider.script("m-lead", *reads, too_long, Says("SUMMARY"), Says("Done."))
    with AcpClient.start(project, capabilities={"session": {"compaction": {}}}) as client:
        session = client.new_session("lead")
        assert client.prompt(session, "Read") == "end_turn"
        began, ended = client.updates(session, "compaction_update")
        assert began["status"] == "in_progress"
        assert ended["compactionId"] == began["compactionId"]
        assert ended["status"] == "completed"
        assert ended["summary"] == [{"type": "text", "text": "SUMMARY"}]
        assert client.said(session) == "Done."


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
    client.load(session)
    replayed = [each["content"] for each in client.updates(session, "user_message_chunk")]
    assert replayed == [*blocks, blocks[0]]
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
    project.write("typed", agent_file("typed") + TYPED)
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
    project.write("typed", agent_file("typed") + TYPED)
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
    project.write("typed", agent_file("typed") + TYPED)
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
